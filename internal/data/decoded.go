package data

import (
	"context"
	"crypto/sha256"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/fsx"
	"tercet/internal/imaging"
	"tercet/internal/imaging/transform"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// Steps are what happens to an image between its file and a network: those of training,
// random ones too, and those of every other use. Both give images of one shape.
type Steps struct{ Train, Test transform.Pipeline }

// maxFile bounds the bytes of an image file.
const maxFile = 1 << 28

// decoded is a dataset whose images are decoded each time they are read, so that it takes
// no more memory than the names of its files. Read takes the steps of Test; a loader takes
// those of Train, drawn from its seed, epoch, step and row.
type decoded struct {
	labeled
	from    pictures
	steps   Steps
	h, w, c int
	spare   par.Free[eye]
}

// pictures are images of any sizes.
type pictures interface {
	// picture returns image i, valid until e is used again.
	picture(i int, e *eye) (imaging.Image, error)
	// ItemName names image i for messages.
	ItemName(i int) string
	// identity says which image i is, and changes with its content.
	identity(i int) string
}

// eye is what one worker needs to read an image.
type eye struct {
	decoder imaging.Decoder
	whole   imaging.Image
	canvas  transform.Canvas
	stream  rng.Stream
	row     []uint8
}

// newDecoded returns the dataset of pictures under labels, or an error where the steps do
// not give one shape.
func newDecoded(from pictures, labels []int32, classes []string, steps Steps, color string) (*decoded, error) {
	d := &decoded{labeled: labeled{labels: labels, classes: classes}, from: from, steps: steps, c: 3}
	if color == "grey" {
		d.c = 1
	}
	var err error
	if d.h, d.w, err = steps.Shape(); err != nil {
		return nil, err
	}
	return d, checkLabels(labels, len(classes))
}

// Shape returns the height and width of the images that the steps make.
func (s Steps) Shape() (h, w int, err error) {
	if h, w, err = s.Test.Shape(); err != nil {
		return 0, 0, fmt.Errorf("transform.test: %w", err)
	}
	if len(s.Train) == 0 {
		return h, w, nil
	}
	th, tw, err := s.Train.Shape()
	if err != nil {
		return 0, 0, fmt.Errorf("transform.train: %w", err)
	}
	if th != h || tw != w {
		return 0, 0, fmt.Errorf("transform.train gives images of %dx%d and transform.test of %dx%d: a network takes one size", th, tw, h, w)
	}
	return h, w, nil
}

// Shape returns H, W, C.
func (d *decoded) Shape() (h, w, c int) { return d.h, d.w, d.c }

// ItemName returns the file of item i.
func (d *decoded) ItemName(i int) string { return d.from.ItemName(i) }

// Fingerprint returns Digest.
func (d *decoded) Fingerprint(ctx context.Context) (string, error) { return d.print.of(ctx, d) }

// Read writes item i as the steps of Test make it.
func (d *decoded) Read(i int, dst []float32) error {
	e := d.spare.Get()
	defer d.spare.Put(e)
	return d.show(i, dst, e, d.steps.Test, nil)
}

func (d *decoded) redraws() bool { return len(d.steps.Train) > 0 }

func (d *decoded) readAnew(i int, dst []float32, k Draw) error {
	e := d.spare.Get()
	defer d.spare.Put(e)
	e.stream.Reset(k.Seed, "transform", uint64(k.Epoch), uint64(k.Step), uint64(k.Row))
	return d.show(i, dst, e, d.steps.Train, &e.stream)
}

func (d *decoded) show(i int, dst []float32, e *eye, steps transform.Pipeline, r *rng.Stream) error {
	if err := checkRead(d, i, dst); err != nil {
		return err
	}
	img, err := d.from.picture(i, e)
	if err != nil {
		return err
	}
	d.paint(img, dst, e, steps, r)
	return nil
}

// paint writes an image as the steps make it.
func (d *decoded) paint(img imaging.Image, dst []float32, e *eye, steps transform.Pipeline, r *rng.Stream) {
	img = steps.Apply(&e.canvas, img, r)
	if d.c == 1 {
		e.row = slices.Grow(e.row[:0], len(dst))[:len(dst)]
		img.Luma(e.row)
		kernel.Pixels(e.row, dst)
		return
	}
	for y := range d.h {
		kernel.Pixels(img.Row(y), dst[y*3*d.w:])
	}
}

// identity says which item i is, without reading it.
func (d *decoded) identity(i int) ([sha256.Size]byte, bool) {
	return sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%d", d.from.identity(i), imaging.Version, d.steps.Test, d.c)), true
}

// files are images in files.
type files struct {
	root  string
	paths []string          // below root, or absolute
	boxes []image.Rectangle // the part of each that counts, empty for all of it; nil: all of all
	sizes []int64           // in bytes
}

// newFiles looks for the files and for their sizes. The error names those that are not
// there.
func newFiles(ctx context.Context, root string, paths []string, boxes []image.Rectangle) (*files, error) {
	f := &files{root: root, paths: paths, boxes: boxes, sizes: make([]int64, len(paths))}
	return f, eachFile(ctx, len(paths), 256, func(i int) error {
		info, err := os.Stat(f.ItemName(i))
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s: %w", f.ItemName(i), fsx.ErrNotRegular)
		}
		if err != nil {
			return missing(err, "cannot read image")
		}
		f.sizes[i] = info.Size()
		return nil
	})
}

func (f *files) ItemName(i int) string {
	if filepath.IsAbs(f.paths[i]) {
		return f.paths[i]
	}
	return filepath.Join(f.root, f.paths[i])
}

func (f *files) identity(i int) string {
	id := fmt.Sprintf("%s %d", filepath.ToSlash(f.paths[i]), f.sizes[i])
	if f.boxes != nil {
		id += " " + f.boxes[i].String()
	}
	return id
}

func (f *files) picture(i int, e *eye) (imaging.Image, error) {
	path := f.ItemName(i)
	b, err := fsx.ReadFile(path, maxFile)
	if err != nil {
		return imaging.Image{}, missing(err, "cannot read image")
	}
	if err := e.decoder.Decode(&e.whole, b); err != nil {
		return imaging.Image{}, badCause(err, "%s: unreadable image", path)
	}
	return f.cut(i, e.whole)
}

// cut returns the box of image i.
func (f *files) cut(i int, img imaging.Image) (imaging.Image, error) {
	if f.boxes == nil || f.boxes[i].Empty() {
		return img, nil
	}
	b, err := boxIn(f.ItemName(i), f.boxes[i], img.H, img.W)
	if err != nil {
		return img, err
	}
	return img.Crop(b.Min.Y, b.Min.X, b.Dy(), b.Dx()), nil
}

// held are images in memory.
type held struct{ *Memory }

func (m held) identity(i int) string {
	n := m.h * m.w * m.c
	return fmt.Sprintf("%x", sha256.Sum256(m.pixels[i*n:(i+1)*n]))
}

func (m held) picture(i int, e *eye) (imaging.Image, error) {
	n := m.h * m.w * m.c
	px := m.pixels[i*n : (i+1)*n]
	if m.c == 3 {
		return imaging.Image{Pix: px, Stride: 3 * m.w, H: m.h, W: m.w}, nil
	}
	if e.whole.H != m.h || e.whole.W != m.w {
		e.whole = imaging.New(m.h, m.w)
	}
	for p, v := range px {
		e.whole.Pix[3*p], e.whole.Pix[3*p+1], e.whole.Pix[3*p+2] = v, v, v
	}
	return e.whole, nil
}

// transformed puts the steps of o between images in memory and those who read them.
func (o Options) transformed(ds Dataset) (Dataset, error) {
	m, ok := ds.(*Memory)
	switch {
	case ds == nil:
		return nil, nil
	case ok && o.Packed != "":
		return nil, unfit("its images are not in files of their own: remove data.transform.packed")
	case !ok:
		return ds, nil // it reads the steps itself
	case m.c != 1 && m.c != 3:
		return nil, unfit("images of %d channels have no transform", m.c)
	}
	color := o.Color
	if o.image().native() && m.c == 1 {
		color = "grey"
	}
	return newDecoded(held{m}, m.labels, m.classes, *o.Transform, color)
}
