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
	in, out := size(l.in), size(p.out)
	for g := range l.groups {
		r := l.run(l.groups, g, n)
		lo, hi := r.lo/in, r.hi/in
		p.pool.NormalizeMaxForward(hi-lo, r.of(x.Data), l.mean[r.at:], l.scale[r.at:], l.bias.Value.Data, l.relu, y.Data[lo*out:hi*out], p.arg[lo*out:hi*out], won.Data[lo*out:hi*out])
	}
	return x
}

// backwardPooled is Backward for the gradient dy of the output of l.pool.
func (l *BatchNorm2D) backwardPooled(dy *array.Array, need Need, n int) *array.Array {
	p := l.pool
	oh, ow := p.pool.Out()
	in, out := size(l.in), size(p.out)
	for shard := range l.shards.count() {
		r, m := l.run(l.shards.count(), shard, n), l.groupOf(shard)
		lo, hi := r.lo/in, r.hi/in
		kernel.NormalizeSums((hi-lo)*oh*ow, r.c, p.won.Data[lo*out:], dy.Data[lo*out:], p.y.Data[lo*out:], l.mean[m:], l.sumA[r.at:], l.sumB[r.at:])
	}
	if need&Weights != 0 {
		l.shards.gradients(l, n, l.weight, l.bias)
	}
	if need&Input == 0 {
		return nil
	}
	if l.mode.running() {
		clear(l.slopeA)
		clear(l.slopeB)
	} else {
		l.setSlopes(n)
	}
	dx := l.grads.lend(&l.dx, n, l.in)
	for g := range l.groups {
		r := l.run(l.groups, g, n)
		lo, hi := r.lo/in, r.hi/in
		p.pool.NormalizeMaxBackward(hi-lo, r.of(l.x.Data), dy.Data[lo*out:hi*out], p.y.Data[lo*out:hi*out], p.arg[lo*out:hi*out], l.mean[r.at:], l.scale[r.at:], l.slopeA[r.at:], l.slopeB[r.at:], r.of(dx.Data))
	}
	return dx
}
