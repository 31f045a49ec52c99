package batch

import (
	"fmt"

	"tercet/internal/rng"
)

// Transform changes an image at random, in place.
type Transform interface {
	// Out returns height and width of what Apply makes of images (h, w); it is
	// no larger.
	Out(h, w int) (oh, ow int, err error)
	// Apply changes img (h, w, c); the result is its first oh*ow*c numbers.
	// scratch is as long as img. It allocates nothing.
	Apply(img, scratch []float32, h, w, c int, r *rng.Stream)
}

// Augment describes random changes of training images. The zero value, and the
// default everywhere, is none.
type Augment struct {
	Pad  int     // zero pixels added on each side before cropping
	Crop int     // side of the random square crop; 0 keeps height and width
	Flip float64 // probability of mirroring left and right
}

// Transform returns the transform, nil where a changes nothing.
func (a Augment) Transform() (Transform, error) {
	if a.Pad < 0 || a.Crop < 0 || !(a.Flip >= 0 && a.Flip <= 1) {
		return nil, fmt.Errorf("augmentation pad %d, crop %d, flip %v: want pad and crop at least 0, flip 0 to 1", a.Pad, a.Crop, a.Flip)
	}
	var c Chain
	if a.Pad > 0 || a.Crop > 0 {
		c = append(c, RandomCrop{Size: a.Crop, Pad: a.Pad})
	}
	if a.Flip > 0 {
		c = append(c, RandomFlip{P: a.Flip})
	}
	if c == nil {
		return nil, nil
	}
	return c, nil
}

// Chain applies transforms in order.
type Chain []Transform

// Out returns the last transform's shape.
func (t Chain) Out(h, w int) (int, int, error) {
	for _, u := range t {
		var err error
		if h, w, err = u.Out(h, w); err != nil {
			return 0, 0, err
		}
	}
	return h, w, nil
}

// Apply applies all.
func (t Chain) Apply(img, scratch []float32, h, w, c int, r *rng.Stream) {
	for _, u := range t {
		u.Apply(img[:h*w*c], scratch[:h*w*c], h, w, c, r)
		h, w, _ = u.Out(h, w) // checked when the chain was put to use
	}
}

// RandomCrop adds Pad zero pixels on each side and takes a uniformly random
// Size x Size window (height x width of the image where Size is 0).
type RandomCrop struct{ Size, Pad int }

// Out returns the window's shape.
func (t RandomCrop) Out(h, w int) (int, int, error) {
	if t.Size == 0 {
		return h, w, nil
	}
	if t.Size > h || t.Size > w {
		return 0, 0, fmt.Errorf("random crop of %d from images of %dx%d", t.Size, h, w)
	}
	return t.Size, t.Size, nil
}

// Apply crops.
func (t RandomCrop) Apply(img, scratch []float32, h, w, c int, r *rng.Stream) {
	oh, ow := h, w
	if t.Size > 0 {
		oh, ow = t.Size, t.Size
	}
	top := r.IntN(h+2*t.Pad-oh+1) - t.Pad
	left := r.IntN(w+2*t.Pad-ow+1) - t.Pad
	copy(scratch, img)
	for y := range oh {
		row := img[y*ow*c : (y+1)*ow*c]
		sy := top + y
		if sy < 0 || sy >= h {
			clear(row)
			continue
		}
		lo, hi := max(0, -left), min(ow, w-left) // columns inside the image
		if lo >= hi {
			clear(row)
			continue
		}
		clear(row[:lo*c])
		copy(row[lo*c:hi*c], scratch[(sy*w+left+lo)*c:])
		clear(row[hi*c:])
	}
}

// RandomFlip mirrors left and right with probability P.
type RandomFlip struct{ P float64 }

// Out returns the image's shape.
func (t RandomFlip) Out(h, w int) (int, int, error) { return h, w, nil }

// Apply mirrors or does not.
func (t RandomFlip) Apply(img, _ []float32, h, w, c int, r *rng.Stream) {
	if r.Float64() >= t.P {
		return
	}
	for y := range h {
		row := img[y*w*c : (y+1)*w*c]
		for a, b := 0, w-1; a < b; a, b = a+1, b-1 {
			for k := range c {
				row[a*c+k], row[b*c+k] = row[b*c+k], row[a*c+k]
			}
		}
	}
}
