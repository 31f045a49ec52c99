package nn

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// Projection is y = x W + b on rows of D numbers with a W (in, out) and b that are
// set, not trained: buffers, as running statistics are.
type Projection struct {
	base
	outs         int
	weight, bias *Param
	n            int // rows of the last Forward
	y, dx        *array.Array
}

// NewProjection returns a layer with the given number of outputs.
func NewProjection(name string, outs int) *Projection {
	return &Projection{base: base{name: name}, outs: outs}
}

// OutShape builds the buffers for rows of shape (in).
func (l *Projection) OutShape(in []int) ([]int, error) {
	if len(in) != 1 {
		return nil, fmt.Errorf("%s: needs flat rows, got rows of shape %v: put a Flatten before it", l.name, in)
	}
	if err := l.most.take(l.name+".weight", in[0], l.outs); err != nil {
		return nil, err
	}
	if err := l.most.take(l.name+".bias", l.outs); err != nil {
		return nil, err
	}
	l.weight = &Param{Name: l.name + ".weight", Value: array.New(in[0], l.outs)}
	l.bias = &Param{Name: l.name + ".bias", Value: array.New(l.outs)}
	return l.built(in, []int{l.outs})
}

// Forward computes x W + b.
func (l *Projection) Forward(x *array.Array, _ Mode) *array.Array {
	l.n = l.check(x)
	y := rowsOf(&l.y, l.n, l.out)
	in := l.in[0]
	kernel.GemmBias(false, false, l.n, l.outs, in, x.Data, in, l.weight.Value.Data, l.outs, l.bias.Value.Data, false, y.Data, l.outs)
	return y
}

// Backward returns dx = dy W^T where need has Input.
func (l *Projection) Backward(dy *array.Array, need Need) *array.Array {
	l.checkGrad(dy, l.n)
	if need&Input == 0 {
		return nil
	}
	in := l.in[0]
	dx := l.grads.lend(&l.dx, l.n, l.in)
	kernel.Gemm(false, true, l.n, in, l.outs, 1, dy.Data, l.outs, l.weight.Value.Data, l.outs, 0, dx.Data, in)
	return dx
}

// Params returns the two buffers.
func (l *Projection) Params() []*Param { return []*Param{l.weight, l.bias} }

// FLOPs counts a multiply-add as two, for one row.
func (l *Projection) FLOPs() int64 { return 2 * int64(l.in[0]) * int64(l.outs) }
