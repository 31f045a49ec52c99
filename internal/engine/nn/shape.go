package nn

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// Flatten makes rows flat, in (H, W, C) order. It shares storage with its input.
type Flatten struct {
	base
	y, dx *array.Array
}

// NewFlatten returns a Flatten.
func NewFlatten(name string) *Flatten { return &Flatten{base: base{name: name}} }

// OutShape returns the product of in.
func (l *Flatten) OutShape(in []int) ([]int, error) {
	n, err := sizeOf(l.name+": input", in...)
	if err != nil {
		return nil, err
	}
	return l.built(in, []int{n})
}

// Forward returns x with flat rows.
func (l *Flatten) Forward(x *array.Array, _ Mode) *array.Array {
	return view(&l.y, x.Data, l.check(x), l.out)
}

// Backward returns dy in the input's shape.
func (l *Flatten) Backward(dy *array.Array, need Need) *array.Array {
	n := l.y.Rows()
	l.checkGrad(dy, n)
	if need&Input == 0 {
		return nil
	}
	return view(&l.dx, dy.Data, n, l.in)
}

// Pad2D surrounds images with zeros. A size that grows by an odd number gets the
// extra row or column at the bottom or right.
type Pad2D struct {
	base
	height, width int // of the output
	top, left     int
	x, y, dx      *array.Array
	copying       padCopy
}

// NewPad2D returns padding to the given output size.
func NewPad2D(name string, height, width int) *Pad2D {
	return &Pad2D{base: base{name: name}, height: height, width: width}
}

// OutShape checks that the image is not larger than the output.
func (l *Pad2D) OutShape(in []int) ([]int, error) {
	h, w, c, err := l.image(in)
	if err != nil {
		return nil, err
	}
	if h > l.height || w > l.width {
		return nil, fmt.Errorf("%s: a %dx%d image cannot be padded to %dx%d", l.name, h, w, l.height, l.width)
	}
	l.top, l.left = (l.height-h)/2, (l.width-w)/2
	return l.built(in, []int{l.height, l.width, c})
}

// Forward copies images into their frames. Frames are zeroed when made and are
// never written to afterwards, so only the images are copied.
func (l *Pad2D) Forward(x *array.Array, mode Mode) *array.Array { return forward(l, x, mode) }

func (l *Pad2D) rowwise(Mode) bool { return true }

func (l *Pad2D) begin(x *array.Array, _ Mode) *array.Array {
	l.x = x
	return rowsOf(&l.y, l.check(x), l.out)
}

func (l *Pad2D) forwardRows(lo, hi int) {
	l.copying = padCopy{Pad2D: l, small: rows(l.x, lo, hi), large: rows(l.y, lo, hi)}
	par.Do(hi-lo, 8, &l.copying)
}

// Backward cuts the frames off.
func (l *Pad2D) Backward(dy *array.Array, need Need) *array.Array {
	n := l.y.Rows()
	l.checkGrad(dy, n)
	if need&Input == 0 {
		return nil
	}
	dx := l.grads.lend(&l.dx, n, l.in)
	l.backwardRows(0, n, dy.Data, dx.Data)
	return dx
}

func (l *Pad2D) idle() bool { return false }

func (l *Pad2D) backwardRows(lo, hi int, dy, dx []float32) {
	l.copying = padCopy{Pad2D: l, small: dx, large: dy, cut: true}
	par.Do(hi-lo, 8, &l.copying)
}

type padCopy struct {
	*Pad2D
	small, large []float32
	cut          bool
}

// Run copies images [lo, hi).
func (j *padCopy) Run(lo, hi int) {
	h, line, c := j.in[0], j.in[1]*j.in[2], j.in[2]
	for b := lo; b < hi; b++ {
		for r := range h {
			s := j.small[(b*h+r)*line:][:line]
			l := j.large[((b*j.height+j.top+r)*j.width+j.left)*c:][:line]
			if j.cut {
				copy(s, l)
			} else {
				copy(l, s)
			}
		}
	}
}
