package nn

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// Attention is multi-head self-attention (Vaswani et al. 2017) of rows (T, 3 D), which
// hold queries, keys and values of each token, to rows (T, D). The linear layers before
// and after it are separate.
type Attention struct {
	base
	heads     int
	of        kernel.Attention
	scores    []int // shape of those of an image
	x, p      *array.Array
	y, dx, dp *array.Array
}

// NewAttention returns attention of that many heads.
func NewAttention(name string, heads int) *Attention {
	return &Attention{base: base{name: name}, heads: heads}
}

// OutShape checks that the heads divide the vectors.
func (l *Attention) OutShape(in []int) ([]int, error) {
	if len(in) != 2 || in[1]%(3*l.heads) != 0 {
		return nil, fmt.Errorf("%s: needs tokens of queries, keys and values of %d heads, got rows of shape %v", l.name, l.heads, in)
	}
	l.of = kernel.Attention{Tokens: in[0], Heads: l.heads, Dim: in[1] / 3 / l.heads}
	l.scores = []int{l.heads, in[0], in[0]}
	if _, err := sizeOf(l.name+": scores", l.scores...); err != nil {
		return nil, err
	}
	return l.built(in, []int{in[0], in[1] / 3})
}

// Forward attends.
func (l *Attention) Forward(x *array.Array, _ Mode) *array.Array {
	n := l.check(x)
	l.x = x
	rowsOf(&l.p, n, l.scores)
	y := rowsOf(&l.y, n, l.out)
	l.of.Forward(n, x.Data, l.p.Data, y.Data)
	return y
}

// Backward returns the gradient of queries, keys and values.
func (l *Attention) Backward(dy *array.Array, need Need) *array.Array {
	n := l.x.Rows()
	l.checkGrad(dy, n)
	if need&Input == 0 {
		return nil
	}
	dx := l.grads.lend(&l.dx, n, l.in)
	dp := l.grads.lend(&l.dp, n, l.scores)
	l.of.Backward(n, l.x.Data, l.p.Data, dy.Data, dp.Data, dx.Data)
	l.grads.put(dp)
	return dx
}

// FLOPs counts the two products of each head.
func (l *Attention) FLOPs() int64 { return 4 * int64(l.in[0]) * int64(l.in[0]) * int64(l.out[1]) }
