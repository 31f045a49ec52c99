package nn

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// fuse lets layers do their neighbors' work where that saves a pass over the
// images in memory. It changes no result beyond float32 rounding, and no
// gradient: max(x, 0) is computed where x is made, and where y = max(x, 0) is
// not positive the gradient is dropped by a layer that reads it anyway.
//
// A batch norm with ReLU and MaxPool after it is one pass over its input, and the
// array of its size between is not made: see pools. In mode Eval a batch norm is folded into the convolution before it: see fold.
//
// A ReLU always stays in its place with its name; its own passes then do nothing.
func fuse(layers []Layer) {
	for i := 0; i+1 < len(layers); i++ {
		if conv, ok := layers[i].(*Conv2D); ok {
			if norm, ok := layers[i+1].(*BatchNorm2D); ok {
				conv.norm, norm.conv = norm, conv
			}
		}
		relu, ok := layers[i+1].(*ReLU)
		if !ok {
			continue
		}
		masked := false // some layer drops the gradient for relu
		if i+2 < len(layers) {
			if pool, ok := layers[i+2].(*MaxPool); ok {
				// A window's maximum is positive where its winner is.
				pool.mask, masked = true, true
				if norm, ok := layers[i].(*BatchNorm2D); ok {
					norm.pool, pool.norm = pool, norm
				}
			}
		}
		switch l := layers[i].(type) {
		case *Conv2D:
			l.relu = true
		case *Linear:
			l.relu = true
		case *BatchNorm2D:
			l.relu, l.mask = true, !masked
			masked = true
		case *Residual:
			l.activate(!masked)
			masked = true
		default:
			relu.masked = masked
			continue
		}
		relu.done, relu.masked = true, masked
	}
}

// In mode Eval a batch norm is an affine map of each channel, which the
// convolution before it does by other weights and bias:
// (W*x + b - mean) * scale + shift = (W scale)*x + (b - mean) scale + shift.
// Evaluation and crafting so pass over the images in memory once a layer, not
// twice. The results differ from those of mode Frozen by float32 rounding.

// fold writes the weights (..., OutC) and bias of conv and l in one to w and b.
func (l *BatchNorm2D) fold(conv *Conv2D, w, b []float32) {
	l.setRunning()
	l.setScale()
	clear(l.sumA[:len(b)]) // the kernel subtracts nothing
	kernel.Normalize(len(w)/len(b), len(b), conv.weight.Value.Data, l.sumA, l.scale, nil, nil, false, w)
	for i, m := range l.mean {
		if conv.bias != nil {
			m -= float64(conv.bias.Value.Data[i])
		}
		b[i] = float32(float64(l.bias.Value.Data[i]) - float64(m*l.scale[i]))
	}
}

// rowwise reports whether conv does the work of l.
func (l *BatchNorm2D) rowwise(mode Mode) bool { return l.conv != nil && mode == Eval }

// begin returns x, which conv normalizes.
func (l *BatchNorm2D) begin(x *array.Array, mode Mode) *array.Array {
	l.check(x)
	l.x, l.mode = x, mode
	return x
}

// forwardRows finishes rows that conv has normalized.
func (l *BatchNorm2D) forwardRows(lo, hi int) {
	if l.add == nil {
		return
	}
	y, add := rows(l.x, lo, hi), rows(l.add, lo, hi)
	if l.relu {
		kernel.AddReLU(y, add, y)
	} else {
		kernel.Add(y, add, y)
	}
}

// backwardFolded returns the gradient with respect to the output of conv that
// conv itself has computed.
func (l *BatchNorm2D) backwardFolded(dy *array.Array, need Need) *array.Array {
	l.refuse(need)
	if !l.mask {
		return dy
	}
	n := l.x.Rows()
	dx := l.over(dy, &l.dx, n)
	l.backwardRows(0, n, dy.Data, dx.Data)
	return dx
}

// refuse panics if weight gradients are asked for in mode Eval, unless l has none.
func (l *BatchNorm2D) refuse(need Need) {
	if need&Weights != 0 && l.weight.Grad != nil {
		panic("nn: " + l.name + ": weight gradients in mode Eval: train in mode Frozen")
	}
}

func (l *BatchNorm2D) idle() bool { return !l.mask }

func (l *BatchNorm2D) backwardRows(lo, hi int, dy, dx []float32) {
	kernel.ReLUBackward(rows(l.x, lo, hi), dy, dx)
}

// Batch norm, ReLU and max pooling in a row are one pass over the input of the
// first, which writes the output of the last. The layers between pass on what
// they are given: the input forward, the gradient of the output backward.

// pools reports whether l has done the pooling in the last Forward. In mode Eval
// the convolution before does the work of l instead.
func (l *BatchNorm2D) pools() bool {
	return l != nil && l.pool != nil && !l.rowwise(l.mode)
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
