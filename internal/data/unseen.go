package data

import (
	"fmt"
	"image"
	"slices"

	"tercet/internal/data/table"
	"tercet/internal/engine/kernel"
	"tercet/internal/imaging"
	"tercet/internal/par"
)

// Unseen are image files that a network is applied to. Each is decoded when it is read, and
// brought to the network's shape as the images were that it was trained on.
type Unseen struct {
	table   *table.Table
	o       ImageOptions
	decoded *decoded // with a transform, in place of o
	eyes    par.Free[eye]
	h, w, c int
	spare   par.Free[unseenScratch]
}

// unseenScratch is what one worker needs to read an image.
type unseenScratch struct {
	canvas canvas
	raw    []uint8
}

// NewUnseen returns the images of t, for a network on images of (h, w, c) that was trained
// on data opened by o. Where o does not resize, images are stretched to a square h x w, or
// must have that size.
//
// Errors: data that are no images wrap ErrUnfit.
func NewUnseen(t *table.Table, o Options, h, w, c int) (*Unseen, error) {
	switch {
	case o.Source != nil && o.Source.Traits().Vectors:
		return nil, unfit("the network takes vectors of %d numbers (data %s), and no images", h*w*c, o.Name)
	case c != 1 && c != 3:
		return nil, unfit("the network takes images of %d channels; image files have 1 or 3", c)
	}
	u := &Unseen{table: t, o: o.image(), h: h, w: w, c: c}
	u.o.Color = "rgb"
	if c == 1 {
		u.o.Color = "grey"
	}
	if o.Transform != nil {
		steps, err := o.unpacked()
		if err != nil {
			return nil, err
		}
		return u, u.transform(steps)
	}
	if u.o.Size == 0 && u.o.Crop == 0 && h == w {
		u.o.Size, u.o.Fit = h, "stretch"
	}
	return u, u.o.check()
}

// transform makes u read images by the steps of a config.
func (u *Unseen) transform(steps Steps) error {
	from := &files{boxes: make([]image.Rectangle, len(u.table.Items))}
	for i := range u.table.Items {
		from.paths = append(from.paths, u.table.File(i))
		from.boxes[i] = u.table.Items[i].Box
	}
	var err error
	if u.decoded, err = newDecoded(from, nil, nil, steps, u.o.Color); err != nil {
		return err
	}
	if h, w, _ := u.decoded.Shape(); h != u.h || w != u.w {
		return unfit("the transform gives images of %d x %d, and the network takes %d x %d", h, w, u.h, u.w)
	}
	return nil
}

// Len is the number of images.
func (u *Unseen) Len() int { return len(u.table.Items) }

// Read writes image i to dst, h*w*c long, and returns its size in its file. It is safe for
// concurrent use.
func (u *Unseen) Read(i int, dst []float32) (width, height int, err error) {
	if u.decoded != nil {
		e := u.eyes.Get()
		defer u.eyes.Put(e)
		img, err := u.decoded.from.picture(i, e)
		if err != nil {
			return 0, 0, err
		}
		u.decoded.paint(img, dst, e, u.decoded.steps.Test, nil)
		return e.whole.W, e.whole.H, nil
	}
	path := u.table.File(i)
	if _, err := readHead(path); err != nil {
		return 0, 0, err
	}
	img, err := readImage(path)
	if err != nil {
		return 0, 0, err
	}
	width, height = img.Bounds().Dx(), img.Bounds().Dy()
	box, err := boxIn(path, u.table.Items[i].Box, height, width)
	if err != nil {
		return 0, 0, err
	}
	if img, err = cropTo(img, box); err != nil {
		return 0, 0, err
	}
	b := img.Bounds()
	_, _, h, w, err := u.o.geometry(b.Dy(), b.Dx())
	switch {
	case err != nil:
		return 0, 0, bad("%v", err)
	case h != u.h || w != u.w:
		return 0, 0, bad("%d x %d pixels after resizing, and the network takes %d x %d", w, h, u.w, u.h)
	}
	s := u.spare.Get()
	defer u.spare.Put(s)
	s.raw = slices.Grow(s.raw[:0], len(dst))[:len(dst)]
	if err := u.o.render(img, s.raw, &s.canvas); err != nil {
		return 0, 0, err
	}
	kernel.Pixels(s.raw, dst)
	return width, height, nil
}

// Transform says in one line how images are brought to the network's shape.
func (u *Unseen) Transform() string {
	if u.decoded != nil {
		return u.decoded.steps.Test.String() + ", color " + u.o.Color
	}
	out := "as they are"
	if u.o.Size > 0 {
		fit, filter := u.o.Fit, u.o.Filter
		if fit == "" {
			fit = "stretch"
		}
		if filter == "" {
			filter = "catmullrom"
		}
		out = fmt.Sprintf("size %d, fit %s, filter %s", u.o.Size, fit, filter)
	}
	if u.o.Crop > 0 {
		out += fmt.Sprintf(", center crop %d", u.o.Crop)
	}
	return out + ", color " + u.o.Color
}

// Decoder names what decodes the files.
func (u *Unseen) Decoder() string {
	if u.decoded != nil {
		return imaging.Version
	}
	return "Go image/jpeg and image/png"
}

// IsImage reports whether the name of a file has the ending of an image format that is
// read.
func IsImage(name string) bool { return isImage(name) && !hidden(name) }
