package nn

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// NormEps is the smallest denominator of L2Normalize, as in PyTorch's normalize.
const NormEps = 1e-12

// L2Normalize divides flat rows by max(||x||, NormEps). A zero row stays zero.
type L2Normalize struct {
	base
	norm  []float32
	y, dx *array.Array
	next  [][2]int // rows of the next Forward that keep their length
	raw   [][2]int // those of the last one
}

// NewL2Normalize returns an L2Normalize.
func NewL2Normalize(name string) *L2Normalize { return &L2Normalize{base: base{name: name}} }

// OutShape returns in, which must be flat.
func (l *L2Normalize) OutShape(in []int) ([]int, error) {
	if len(in) != 1 {
		return nil, fmt.Errorf("%s: needs flat rows, got rows of shape %v", l.name, in)
	}
	return l.built(in, in)
}

// Forward normalizes.
func (l *L2Normalize) Forward(x *array.Array, _ Mode) *array.Array {
	n := l.check(x)
	y := rowsOf(&l.y, n, l.out)
	if cap(l.norm) < n {
		l.norm = make([]float32, n)
	}
	l.norm = l.norm[:n]
	kernel.L2Normalize(n, l.in[0], x.Data, y.Data, l.norm, NormEps)
	l.raw, l.next = append(l.raw[:0], l.next...), l.next[:0]
	l.pass(x.Data, y.Data)
	return y
}

// Backward removes the radial part of dy and divides by the norm.
func (l *L2Normalize) Backward(dy *array.Array, need Need) *array.Array {
	n := l.y.Rows()
	l.checkGrad(dy, n)
	if need&Input == 0 {
		return nil
	}
	dx := l.grads.lend(&l.dx, n, l.in)
	kernel.L2NormalizeBackward(n, l.in[0], l.y.Data, l.norm, dy.Data, dx.Data, NormEps)
	l.pass(dy.Data, dx.Data)
	return dx
}

// pass copies the rows that keep their length.
func (l *L2Normalize) pass(from, to []float32) {
	d := l.in[0]
	for _, r := range l.raw {
		lo, hi := min(r[0]*d, len(to)), min(r[1]*d, len(to))
		copy(to[lo:hi], from[lo:hi])
	}
}
