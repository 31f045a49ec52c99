package data

import (
	"bufio"
	"context"
	"fmt"
	"image"
	stddraw "image/draw"
	_ "image/jpeg" // decoder
	_ "image/png"  // decoder
	"slices"
	"strings"

	"golang.org/x/image/draw"

	"tercet/internal/data/file"
	"tercet/internal/engine/array"
	"tercet/internal/fsx"
	"tercet/internal/par"
)

// MaxSide bounds the height and width that files may announce.
const MaxSide = 1 << 14

// maxPixels bounds the height times width of image files: 67 million pixels.
const maxPixels = 1 << 26

// ImageOptions say how images are brought to one shape. Resizing comes first,
// then the center crop, then the change of color.
type ImageOptions struct {
	Size   int    // resize to this side; 0: no
	Fit    string // "stretch" (default): both sides become Size; "short": the shorter does, the aspect stays
	Filter string // "catmullrom" (default) or "bilinear"
	Crop   int    // side of the center crop; 0: none
	Color  string // "rgb" or "grey"; "" or "native": as the source has it (of image files: gray if all are)
}

func (o ImageOptions) check() error {
	if o.Size < 0 || o.Size > MaxSide || o.Crop < 0 || o.Crop > MaxSide {
		return fmt.Errorf("image size %d, crop %d: want 0 to %d", o.Size, o.Crop, MaxSide)
	}
	for _, c := range []struct {
		what, got string
		want      []string
	}{
		{"fit", o.Fit, []string{"stretch", "short"}},
		{"filter", o.Filter, []string{"catmullrom", "bilinear"}},
		{"color", o.Color, []string{"native", "grey", "rgb"}},
	} {
		if c.got != "" && !slices.Contains(c.want, c.got) {
			return fmt.Errorf("image %s %q: want %s", c.what, c.got, strings.Join(c.want, " or "))
		}
	}
	return nil
}

// native reports that the colors are the source's.
func (o ImageOptions) native() bool { return o.Color == "" || o.Color == "native" }

// geometry returns the shape (rh, rw) after resizing an image of (h, w) and the
// shape (oh, ow) after the crop.
func (o ImageOptions) geometry(h, w int) (rh, rw, oh, ow int, err error) {
	rh, rw = h, w
	if o.Size > 0 {
		rh, rw = o.Size, o.Size
		if o.Fit == "short" {
			if h < w {
				rw = (w*o.Size + h/2) / h
			} else {
				rh = (h*o.Size + w/2) / w
			}
		}
	}
	oh, ow = rh, rw
	if o.Crop > 0 {
		oh, ow = o.Crop, o.Crop
	}
	if oh > rh || ow > rw {
		return 0, 0, 0, 0, fmt.Errorf("a center crop of %d does not fit in %dx%d pixels; resize to a larger side", o.Crop, rh, rw)
	}
	if rh*rw > maxPixels {
		return 0, 0, 0, 0, fmt.Errorf("resized to %dx%d pixels; the limit is %d in all", rh, rw, maxPixels)
	}
	return rh, rw, oh, ow, nil
}

func (o ImageOptions) channels() int {
	if o.Color == "grey" {
		return 1
	}
	return 3
}

func (o ImageOptions) kernel() *draw.Kernel {
	if o.Filter == "bilinear" {
		return draw.BiLinear
	}
	return draw.CatmullRom
}

// canvas is one worker's scratch for rendering.
type canvas struct {
	full, scaled, line image.RGBA
	scaler             draw.Scaler
	key                [4]int // shapes that scaler is for
}

// fit makes img an RGBA image of (h, w), reusing its storage; the content is
// undefined.
func fit(img *image.RGBA, h, w int) {
	img.Pix = slices.Grow(img.Pix[:0], 4*h*w)[:4*h*w]
	img.Stride, img.Rect = 4*w, image.Rect(0, 0, w, h)
}

// render brings img to shape and writes it to dst, (oh, ow, 1 or 3).
// Transparency is laid over white.
func (o ImageOptions) render(img image.Image, dst []uint8, s *canvas) error {
	b := img.Bounds()
	rh, rw, oh, ow, err := o.geometry(b.Dy(), b.Dx())
	if err != nil {
		return err
	}
	c := o.channels()
	if len(dst) != oh*ow*c {
		return fmt.Errorf("%w: image of %dx%dx%d into %d bytes", array.ErrShape, oh, ow, c, len(dst))
	}
	at, over := b.Min, !opaque(img)
	if rh != b.Dy() || rw != b.Dx() {
		img = s.scale(img, over, rh, rw, o.kernel())
		at, over = image.Point{}, false
	}
	at = at.Add(image.Pt((rw-ow)/2, (rh-oh)/2))
	fit(&s.line, 1, ow)
	for y := range oh {
		flatten(&s.line, img, at.Add(image.Pt(0, y)), over)
		row := dst[y*ow*c : (y+1)*ow*c]
		for x := range ow {
			p := s.line.Pix[4*x : 4*x+3]
			if c == 3 {
				copy(row[3*x:], p)
				continue
			}
			// ITU-R 601 luma in 16-bit fixed point; the weights sum to 65536, so
			// gray stays as it is.
			row[x] = uint8((19595*uint32(p[0]) + 38470*uint32(p[1]) + 7471*uint32(p[2]) + 1<<15) >> 16)
		}
	}
	return nil
}

func opaque(img image.Image) bool {
	v, ok := img.(interface{ Opaque() bool })
	return ok && v.Opaque()
}

// flatten fills dst with the part of img that begins at a place, laid over white where
// it is to be.
func flatten(dst *image.RGBA, img image.Image, at image.Point, over bool) {
	op := stddraw.Src
	if over {
		stddraw.Draw(dst, dst.Rect, image.White, image.Point{}, stddraw.Src)
		op = stddraw.Over
	}
	stddraw.Draw(dst, dst.Rect, img, at, op)
}

// scale returns img, laid over white where over is set, in the shape (rh, rw), until the
// next call. Gray and opaque images of 8 bits are read where they are: a copy of a large
// one would take up to four times as much, and gives the same numbers.
func (s *canvas) scale(img image.Image, over bool, rh, rw int, k *draw.Kernel) *image.RGBA {
	b := img.Bounds()
	_, gray := img.(*image.Gray)
	if _, rgba := img.(*image.RGBA); !gray && (over || !rgba) {
		img = s.copied(img, over)
	}
	if key := [4]int{rh, rw, b.Dy(), b.Dx()}; s.scaler == nil || s.key != key {
		s.scaler, s.key = k.NewScaler(rw, rh, b.Dx(), b.Dy()), key
	}
	fit(&s.scaled, rh, rw)
	s.scaler.Scale(&s.scaled, s.scaled.Rect, img, img.Bounds(), draw.Src, nil)
	return &s.scaled
}

// copied returns a copy of img, laid over white where over is set, until the next call.
func (s *canvas) copied(img image.Image, over bool) image.Image {
	b := img.Bounds()
	fit(&s.full, b.Dy(), b.Dx())
	flatten(&s.full, img, b.Min, over)
	return &s.full
}

// readHead returns the header of the image file at path, without decoding its
// pixels, after checking what it announces.
func readHead(path string) (image.Config, error) {
	f, _, err := fsx.OpenRegular(path)
	if err != nil {
		return image.Config{}, missing(err, "cannot read image")
	}
	defer f.Close()
	conf, _, err := image.DecodeConfig(f)
	if err != nil {
		return image.Config{}, badCause(err, "%s: unreadable image", path)
	}
	if h, w := conf.Height, conf.Width; h < 1 || w < 1 || h > MaxSide || w > MaxSide || h*w > maxPixels {
		return image.Config{}, bad("%s: image of %dx%d pixels; sides up to %d and %d pixels in all are read", path, h, w, MaxSide, maxPixels)
	}
	return conf, nil
}

// ImageSize returns the width and height of an image file in pixels, by its header.
func ImageSize(path string) (width, height int, err error) {
	head, err := readHead(path)
	return head.Width, head.Height, err
}

// readImage decodes the file at path, whose header readHead found fit.
func readImage(path string) (image.Image, error) {
	f, _, err := fsx.OpenRegular(path)
	if err != nil {
		return nil, missing(err, "cannot read image")
	}
	defer f.Close()
	img, _, err := image.Decode(bufio.NewReaderSize(f, 1<<16))
	if err != nil {
		return nil, badCause(err, "%s: unreadable image", path)
	}
	return img, nil
}

// Convert brings the images of m to the shape that o asks for; it returns m where
// nothing changes.
func Convert(ctx context.Context, m *Memory, o ImageOptions) (*Memory, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.native() {
		if o.Color = "rgb"; m.c == 1 {
			o.Color = "grey"
		}
	}
	_, _, oh, ow, err := o.geometry(m.h, m.w)
	if err != nil {
		return nil, err
	}
	if oh == m.h && ow == m.w && o.channels() == m.c && (o.Size == 0 || o.Size == m.h && o.Size == m.w) {
		return m, nil
	}
	if m.c != 1 && m.c != 3 {
		return nil, fmt.Errorf("images of %d channels cannot be resized or recolored", m.c)
	}
	size := oh * ow * o.channels()
	if err := file.CheckTotal(m.Len(), size); err != nil {
		return nil, err
	}
	out := &Memory{labeled: labeled{labels: m.labels, classes: m.classes}, h: oh, w: ow, c: o.channels(), names: m.names}
	out.pixels = make([]uint8, m.Len()*size)
	var spare par.Free[canvas]
	err = each(ctx, m.Len(), 16, func(i int) error {
		s := spare.Get()
		defer spare.Put(s)
		return o.render(m.image(i), out.pixels[i*size:(i+1)*size], s)
	})
	return out, err
}

// image returns item i as an image; C is 1 or 3.
func (m *Memory) image(i int) image.Image {
	n := m.h * m.w * m.c
	px := m.pixels[i*n : (i+1)*n]
	if m.c == 1 {
		return &image.Gray{Pix: px, Stride: m.w, Rect: image.Rect(0, 0, m.w, m.h)}
	}
	out := image.NewRGBA(image.Rect(0, 0, m.w, m.h))
	for p := range m.h * m.w {
		copy(out.Pix[4*p:], px[3*p:3*p+3])
		out.Pix[4*p+3] = 255
	}
	return out
}
