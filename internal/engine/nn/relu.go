package nn

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// ReLU is max(x, 0) on rows of any shape; its derivative at 0 is 0.
type ReLU struct {
	base
	x, y   *array.Array
	dx     *array.Array
	done   bool // the layer before computes max(x, 0): see fuse
	masked bool // a neighbor drops the gradient where y is not positive
}

// NewReLU returns a ReLU.
func NewReLU(name string) *ReLU { return &ReLU{base: base{name: name}} }

// OutShape returns in.
func (l *ReLU) OutShape(in []int) ([]int, error) { return l.built(in, in) }

// Forward computes max(x, 0); NaN stays NaN.
func (l *ReLU) Forward(x *array.Array, mode Mode) *array.Array { return forward(l, x, mode) }

func (l *ReLU) rowwise(Mode) bool { return true }

func (l *ReLU) begin(x *array.Array, _ Mode) *array.Array {
	n := l.check(x)
	if l.x = x; l.done {
		l.y = x
		return x
	}
	return rowsOf(&l.y, n, l.out)
}

func (l *ReLU) forwardRows(lo, hi int) {
	if !l.done {
		kernel.ReLU(rows(l.x, lo, hi), rows(l.y, lo, hi))
	}
}

// Backward passes dy on where the output was positive.
func (l *ReLU) Backward(dy *array.Array, need Need) *array.Array {
	if l.masked {
		return dy
	}
	n := l.y.Rows()
	l.checkGrad(dy, n)
	if need&Input == 0 {
		return nil
	}
	dx := l.over(dy, &l.dx, n)
	l.backwardRows(0, n, dy.Data, dx.Data)
	return dx
}

func (l *ReLU) idle() bool { return l.masked }

func (l *ReLU) backwardRows(lo, hi int, dy, dx []float32) {
	kernel.ReLUBackward(rows(l.y, lo, hi), dy, dx)
}

// GELU is x times the probability that a normal number is below x, on rows of any shape.
type GELU struct {
	base
	x, y, dx *array.Array
}

// NewGELU returns a GELU.
func NewGELU(name string) *GELU { return &GELU{base: base{name: name}} }

// OutShape returns in.
func (l *GELU) OutShape(in []int) ([]int, error) { return l.built(in, in) }

// Forward computes it.
func (l *GELU) Forward(x *array.Array, _ Mode) *array.Array {
	l.x = x
	y := rowsOf(&l.y, l.check(x), l.out)
	kernel.GELU(x.Data, y.Data)
	return y
}

// Backward multiplies dy by the derivative.
func (l *GELU) Backward(dy *array.Array, need Need) *array.Array {
	n := l.x.Rows()
	l.checkGrad(dy, n)
	if need&Input == 0 {
		return nil
	}
	dx := l.grads.lend(&l.dx, n, l.in)
	kernel.GELUBackward(l.x.Data, dy.Data, dx.Data)
	return dx
}
