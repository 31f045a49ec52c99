package nn

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// LayerNormEps is added to the variances of a head's layer normalization, as
// PyTorch's default.
const LayerNormEps = 1e-5

// LayerNorm normalizes each vector along the last axis (Ba et al. 2016):
// y = (x - mean) / sqrt(var + eps) * weight + bias, with the biased variance; weight
// and bias are left out where it has no parameters.
type LayerNorm struct {
	base
	eps          float64
	affine       bool
	weight, bias *Param
	n            int
	inv          []float32 // 1/sqrt(var+eps) of each vector
	hat          *array.Array
	y, dx        *array.Array
	dy           []float32 // while its parameters' gradient is taken

	zero, sumA, sumB []float64
}

// NewLayerNorm returns a layer for vectors as long as those of the layer before.
func NewLayerNorm(name string, eps float64, affine bool) *LayerNorm {
	return &LayerNorm{base: base{name: name}, eps: eps, affine: affine}
}

// OutShape builds the parameters for rows of shape (..., D).
func (l *LayerNorm) OutShape(in []int) ([]int, error) {
	if len(in) == 0 {
		return nil, fmt.Errorf("%s: needs vectors, got rows of shape %v", l.name, in)
	}
	if d := in[len(in)-1]; l.affine {
		var err error
		if l.weight, err = l.newParam(l.name+".weight", false, d); err != nil {
			return nil, err
		}
		if l.bias, err = l.newParam(l.name+".bias", false, d); err != nil {
			return nil, err
		}
		l.weight.fill(1)
		l.zero, l.sumA, l.sumB = make([]float64, d), make([]float64, d), make([]float64, d)
	}
	return l.built(in, in)
}

// vectors returns how many vectors n rows hold, and their length.
func (l *LayerNorm) vectors(n int) (count, d int) {
	d = l.in[len(l.in)-1]
	return n * size(l.in) / d, d
}

// Forward normalizes.
func (l *LayerNorm) Forward(x *array.Array, _ Mode) *array.Array {
	l.n = l.check(x)
	count, d := l.vectors(l.n)
	if cap(l.inv) < count {
		l.inv = make([]float32, count)
	}
	l.inv = l.inv[:count]
	hat := rowsOf(&l.hat, l.n, l.in)
	kernel.Standardize(count, d, x.Data, l.eps, hat.Data, l.inv)
	if !l.affine {
		return hat
	}
	y := rowsOf(&l.y, l.n, l.out)
	kernel.ScaleShift(count, d, hat.Data, l.weight.Value.Data, l.bias.Value.Data, y.Data)
	return y
}

// Backward removes from dy its mean and its part along the output, and divides by the
// standard deviation.
func (l *LayerNorm) Backward(dy *array.Array, need Need) *array.Array {
	l.checkGrad(dy, l.n)
	count, d := l.vectors(l.n)
	if need&Weights != 0 && l.affine {
		l.dy = dy.Data
		l.shards.gradients(l, l.n, l.weight, l.bias)
		l.dy = nil
	}
	if need&Input == 0 {
		return nil
	}
	dx := l.over(dy, &l.dx, l.n)
	g := dy
	if l.affine {
		kernel.ScaleShift(count, d, dy.Data, l.weight.Value.Data, nil, dx.Data)
		g = dx
	}
	kernel.StandardizeBackward(count, d, l.hat.Data, l.inv, g.Data, dx.Data)
	return dx
}

// gradient implements weighted.
func (l *LayerNorm) gradient(_, lo, hi int, dw, db []float32) {
	row := size(l.in)
	count, d := l.vectors(hi - lo)
	kernel.NormalizeSums(count, d, l.hat.Data[lo*row:], l.dy[lo*row:], nil, l.zero, l.sumA, l.sumB)
	for i := range d {
		db[i] += float32(l.sumA[i])
		dw[i] += float32(l.sumB[i])
	}
}

// adds implements weighted.
func (l *LayerNorm) adds(int) bool { return true }

// Params returns weight and bias, where it has them.
func (l *LayerNorm) Params() []*Param { return present(l.weight, l.bias) }

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
