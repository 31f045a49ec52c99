package nn

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// Linear is y = x W + b on rows of D numbers, or on each token of rows (T, D). W is (in, out), the transpose of
// PyTorch's.
type Linear struct {
	base
	ins     int
	outs    int
	hasBias bool
	weight  *Param
	bias    *Param
	relu    bool // y = max(x W + b, 0): see fuse
	x       *array.Array
	y, dx   *array.Array
	dy      []float32 // while its weights' gradient is taken
	frozen  *frozenLinear
}

// frozenLinear holds the weights of a Linear layer in the order in which products read
// them, for x W and for dy W^T. As they lie, rows of W are often a multiple of a page apart,
// which the caches of a processor cannot hold well.
type frozenLinear struct{ forward, backward *kernel.Packed }

// NewLinear returns a layer with the given number of outputs; the number of
// inputs is taken from the layer before it.
func NewLinear(name string, outs int, bias bool) *Linear {
	return &Linear{base: base{name: name}, outs: outs, hasBias: bias}
}

// OutShape builds the parameters for rows of shape (in).
func (l *Linear) OutShape(in []int) ([]int, error) {
	if len(in) != 1 && len(in) != 2 {
		return nil, fmt.Errorf("%s: needs flat rows, got rows of shape %v: put a Flatten before it", l.name, in)
	}
	var err error
	last := len(in) - 1
	l.ins = in[last]
	if l.weight, err = l.newParam(l.name+".weight", true, l.ins, l.outs); err != nil {
		return nil, err
	}
	if l.hasBias {
		if l.bias, err = l.newParam(l.name+".bias", false, l.outs); err != nil {
			return nil, err
		}
	}
	return l.built(in, append(append([]int(nil), in[:last]...), l.outs))
}

// Forward computes x W + b.
func (l *Linear) Forward(x *array.Array, _ Mode) *array.Array {
	n, in := l.check(x), l.ins
	l.x = x
	y := rowsOf(&l.y, n, l.out)
	n *= l.vectors()
	var b []float32
	if l.bias != nil {
		b = l.bias.Value.Data
	}
	if l.frozen != nil {
		l.frozen.forward.GemmBias(n, x.Data, in, b, l.relu, y.Data, l.outs)
		return y
	}
	kernel.GemmBias(false, false, n, l.outs, in, x.Data, in, l.weight.Value.Data, l.outs, b, l.relu, y.Data, l.outs)
	return y
}

// Backward adds x^T dy and the column sums of dy; dx = dy W^T.
func (l *Linear) Backward(dy *array.Array, need Need) *array.Array {
	rows, in := l.x.Rows(), l.ins
	l.checkGrad(dy, rows)
	n := rows * l.vectors()
	if need&Weights != 0 {
		l.dy = dy.Data
		l.shards.gradients(l, rows, l.weight, l.bias)
		l.dy = nil
	}
	if need&Input == 0 {
		return nil
	}
	dx := l.grads.lend(&l.dx, rows, l.in)
	if l.frozen != nil {
		l.frozen.backward.Gemm(n, 1, dy.Data, l.outs, 0, dx.Data, in)
		return dx
	}
	kernel.Gemm(false, true, n, in, l.outs, 1, dy.Data, l.outs, l.weight.Value.Data, l.outs, 0, dx.Data, in)
	return dx
}

// Freeze makes m faster for many small batches, with the same bits: its linear layers keep a
// packed copy of their weights, twice the memory that these take. From here on the weights
// must not change.
func (m *Model) Freeze() {
	walk(m.net, func(l Layer) {
		if d, ok := l.(*Linear); ok {
			w := d.weight.Value.Data
			d.frozen = &frozenLinear{kernel.Pack(false, d.ins, d.outs, w, d.outs), kernel.Pack(true, d.outs, d.ins, w, d.outs)}
		}
	})
}

// gradient implements weighted.
func (l *Linear) gradient(_, lo, hi int, dw, db []float32) {
	in, v := l.ins, l.vectors()
	x, dy := l.x.Data[lo*v*in:], l.dy[lo*v*l.outs:hi*v*l.outs]
	kernel.Gemm(true, false, in, l.outs, (hi-lo)*v, 1, x, in, dy, l.outs, 1, dw, l.outs)
	if db != nil {
		kernel.AddColumnSums((hi-lo)*v, l.outs, dy, db)
	}
}

// adds implements weighted.
func (l *Linear) adds(rows int) bool { return kernel.GemmAddsOnce(rows * l.vectors()) }

// vectors returns how many vectors a row has.
func (l *Linear) vectors() int { return size(l.in) / l.ins }

// Params returns weight and bias.
func (l *Linear) Params() []*Param { return present(l.weight, l.bias) }

// FLOPs counts a multiply-add as two, for one row.
func (l *Linear) FLOPs() int64 { return 2 * int64(size(l.in)) * int64(l.outs) }

// present drops nil.
func present(ps ...*Param) []*Param {
	out := ps[:0]
	for _, p := range ps {
		if p != nil {
			out = append(out, p)
		}
	}
	return out
}
