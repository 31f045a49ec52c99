package nn

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// GlobalMaxPool is the maximum over all pixels, or that plus the mean over them: rows
// of shape (C). Of equal values the first wins, and gets the gradient.
type GlobalMaxPool struct {
	base
	pool  kernel.Pool
	mean  bool
	n     int
	arg   []int32
	means *array.Array
	y, dx *array.Array
	rest  *array.Array // gradient of the means
}

// NewGlobalPool returns the pooling of that name: avg, max, or avg+max, their sum.
func NewGlobalPool(name string) Layer {
	if name == "avg" {
		return NewGlobalAvgPool("avgpool")
	}
	return &GlobalMaxPool{base: base{name: "pool"}, pool: kernel.Pool{StrideH: 1, StrideW: 1}, mean: name == "avg+max"}
}

// OutShape returns the channels of images of shape in.
func (l *GlobalMaxPool) OutShape(in []int) ([]int, error) {
	h, w, c, err := l.image(in)
	if err != nil {
		return nil, err
	}
	l.pool.KH, l.pool.KW = h, w
	if _, err := l.buildPool(&l.pool, in); err != nil {
		return nil, err
	}
	return l.built(in, []int{c})
}

// Forward pools.
func (l *GlobalMaxPool) Forward(x *array.Array, _ Mode) *array.Array {
	l.n = l.check(x)
	y := rowsOf(&l.y, l.n, l.out)
	if cap(l.arg) < len(y.Data) {
		l.arg = make([]int32, len(y.Data))
	}
	l.arg = l.arg[:len(y.Data)]
	l.pool.MaxForward(l.n, x.Data, y.Data, l.arg)
	if l.mean {
		means := rowsOf(&l.means, l.n, l.out)
		l.pool.AvgForward(l.n, x.Data, means.Data)
		kernel.Add(y.Data, means.Data, y.Data)
	}
	return y
}

// Backward gives each dy to its winner, and spreads it evenly where the mean counts.
func (l *GlobalMaxPool) Backward(dy *array.Array, need Need) *array.Array {
	l.checkGrad(dy, l.n)
	if need&Input == 0 {
		return nil
	}
	dx := l.grads.lend(&l.dx, l.n, l.in)
	l.pool.MaxBackward(l.n, dy.Data, nil, l.arg, dx.Data)
	if l.mean {
		rest := l.grads.lend(&l.rest, l.n, l.in)
		l.pool.AvgBackward(l.n, dy.Data, rest.Data)
		kernel.Add(dx.Data, rest.Data, dx.Data)
		l.grads.put(rest)
	}
	return dx
}

// Params returns none.
func (l *GlobalMaxPool) Params() []*Param { return nil }
