package nn

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
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

// Tokens makes of a map (H, W, C) its pixels as tokens behind a learned one, and adds a
// learned vector to each: rows of shape (1 + H W, C).
type Tokens struct {
	base
	class, place *Param // cls_token (1, 1, C) and pos_embed (1, 1 + H W, C)
	n            int
	y, dx        *array.Array
	dy           []float32 // while the parameters' gradient is taken
	job          tokenJob
}

// NewTokens returns the layer; its parameters are called cls_token and pos_embed.
func NewTokens(name string) *Tokens { return &Tokens{base: base{name: name}} }

// OutShape builds the parameters for maps of shape in.
func (l *Tokens) OutShape(in []int) ([]int, error) {
	h, w, c, err := l.image(in)
	if err != nil {
		return nil, err
	}
	if l.class, err = l.newParam("cls_token", false, 1, 1, c); err != nil {
		return nil, err
	}
	if l.place, err = l.newParam("pos_embed", false, 1, 1+h*w, c); err != nil {
		return nil, err
	}
	return l.built(in, []int{1 + h*w, c})
}

// Forward copies and adds.
func (l *Tokens) Forward(x *array.Array, _ Mode) *array.Array {
	l.n = l.check(x)
	y := rowsOf(&l.y, l.n, l.out)
	l.job = tokenJob{Tokens: l, from: x.Data, to: y.Data}
	par.Do(l.n, 1, &l.job)
	return y
}

type tokenJob struct {
	*Tokens
	from, to []float32
	back     bool
}

// Run does images [lo, hi).
func (j *tokenJob) Run(lo, hi int) {
	c, small, large := j.out[1], size(j.in), size(j.out)
	for b := lo; b < hi; b++ {
		if j.back {
			copy(j.to[b*small:(b+1)*small], j.from[b*large+c:(b+1)*large])
			continue
		}
		y := j.to[b*large : (b+1)*large]
		copy(y, j.class.Value.Data)
		copy(y[c:], j.from[b*small:(b+1)*small])
		for i, v := range j.place.Value.Data {
			y[i] += v
		}
	}
}

// Backward gives each token its gradient; those of the learned ones are sums over the
// images.
func (l *Tokens) Backward(dy *array.Array, need Need) *array.Array {
	l.checkGrad(dy, l.n)
	if need&Weights != 0 {
		l.dy = dy.Data
		l.shards.gradients(l, l.n, l.place, l.class)
		l.dy = nil
	}
	if need&Input == 0 {
		return nil
	}
	dx := l.grads.lend(&l.dx, l.n, l.in)
	l.job = tokenJob{Tokens: l, from: dy.Data, to: dx.Data, back: true}
	par.Do(l.n, 1, &l.job)
	return dx
}

// gradient implements weighted: of place, then of class.
func (l *Tokens) gradient(_, lo, hi int, place, class []float32) {
	large := size(l.out)
	for i := range place {
		sum := 0.0
		for b := lo; b < hi; b++ {
			sum += float64(l.dy[b*large+i])
		}
		place[i] += float32(sum)
		if i < len(class) {
			class[i] += float32(sum)
		}
	}
}

// adds implements weighted.
func (l *Tokens) adds(int) bool { return true }

// Params returns both parameters.
func (l *Tokens) Params() []*Param { return []*Param{l.class, l.place} }

// FirstToken is the first token of rows (T, C): rows of shape (C).
type FirstToken struct {
	base
	n     int
	y, dx *array.Array
}

// NewFirstToken returns the layer.
func NewFirstToken(name string) *FirstToken { return &FirstToken{base: base{name: name}} }

// OutShape returns the length of a token.
func (l *FirstToken) OutShape(in []int) ([]int, error) {
	if len(in) != 2 {
		return nil, fmt.Errorf("%s: needs tokens, got rows of shape %v", l.name, in)
	}
	return l.built(in, []int{in[1]})
}

// Forward copies the tokens.
func (l *FirstToken) Forward(x *array.Array, _ Mode) *array.Array {
	l.n = l.check(x)
	y := rowsOf(&l.y, l.n, l.out)
	for b := range l.n {
		copy(y.Row(b), x.Data[b*size(l.in):])
	}
	return y
}

// Backward gives them the gradient, and others 0.
func (l *FirstToken) Backward(dy *array.Array, need Need) *array.Array {
	l.checkGrad(dy, l.n)
	if need&Input == 0 {
		return nil
	}
	dx := l.grads.lend(&l.dx, l.n, l.in)
	clear(dx.Data)
	for b := range l.n {
		copy(dx.Data[b*size(l.in):], dy.Data[b*l.out[0]:(b+1)*l.out[0]])
	}
	return dx
}
