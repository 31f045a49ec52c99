package nn

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// Batch norm, ReLU and max pooling in a row are one pass over the input of the
// first, which writes the output of the last. The layers between pass on what
// they are given: the input forward, the gradient of the output backward.

// pools reports whether l has done the pooling in the last Forward. In mode Eval
// the convolution before does the work of l instead.
func (l *BatchNorm2D) pools() bool {
	return l != nil && l.pool != nil && !(l.conv != nil && l.mode == Eval)
}

// forwardPooled computes the output of l.pool and returns x.
func (l *BatchNorm2D) forwardPooled(x *array.Array, n int) *array.Array {
	p := l.pool
	y := p.prepare(n)
	won := rowsOf(&p.won, n, p.out)
	p.pool.NormalizeMaxForward(n, x.Data, l.mean, l.scale, l.bias.Value.Data, l.relu, y.Data, p.arg, won.Data)
	return x
}

// backwardPooled is Backward for the gradient dy of the output of l.pool.
func (l *BatchNorm2D) backwardPooled(dy *array.Array, need Need, n int) *array.Array {
	p, c := l.pool, len(l.mean)
	oh, ow := p.pool.Out()
	kernel.NormalizeSums(n*oh*ow, c, p.won.Data, dy.Data, p.y.Data, l.mean, l.sumA, l.sumB)
	if need&Weights != 0 {
		l.addGrads()
	}
	if need&Input == 0 {
		return nil
	}
	if l.mode.running() {
		clear(l.sumA)
		clear(l.sumB)
	} else {
		l.setSlopes(n * l.perRow())
	}
	dx := l.grads.lend(&l.dx, n, l.in)
	p.pool.NormalizeMaxBackward(n, l.x.Data, dy.Data, p.y.Data, p.arg, l.mean, l.scale, l.sumA, l.sumB, dx.Data)
	return dx
}
