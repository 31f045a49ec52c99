package nn

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

const (
	// BatchNormEps is added to variances, as PyTorch's default.
	BatchNormEps = 1e-5
	// BatchNormMomentum is the weight of a batch in the running statistics.
	BatchNormMomentum = 0.1
)

// BatchNorm2D normalizes each channel (the last axis) over all other axes:
// y = (x - mean) / sqrt(var + BatchNormEps) * weight + bias.
//
// In modes Eval and Frozen mean and var are the running ones, and constants to
// the gradient; in Frozen weight and bias have gradients too. In modes Train and
// BatchStats they are the batch's, with the biased variance; Train moves the
// running ones towards them, with the unbiased variance, as PyTorch. Model.Deal says
// whether those are the batch's or each shard's: see statistics.go.
type BatchNorm2D struct {
	base
	weight, bias     *Param
	runMean, runVar  *Param // buffers
	x                *array.Array
	conv             *Conv2D      // the layer before, where there is one: see folded
	pool             *MaxPool     // two layers after, behind a ReLU, where there is one: see pools
	add              *array.Array // set by Residual during Forward: added to y
	relu             bool         // y = max(y, 0): see fuse
	mask             bool         // Backward drops dy where y is not positive
	mode             Mode
	mean, inv, scale []float64 // of each group of the last Forward; inv = 1/sqrt(var+eps)
	sumA, sumB       []float64 // of each shard: of dy, and of dy*(x-mean)
	slopeA, slopeB   []float64 // of each group: see setSlopes
	own              []float64 // what other processes are given
	groups           int       // runs of rows with statistics of their own in the last Forward
	y, dx            *array.Array
}

// NewBatchNorm2D returns a layer for as many channels as the layer before has.
func NewBatchNorm2D(name string) *BatchNorm2D { return &BatchNorm2D{base: base{name: name}} }

// OutShape builds the parameters for rows of shape (H, W, C) or (C).
func (l *BatchNorm2D) OutShape(in []int) ([]int, error) {
	if len(in) != 1 && len(in) != 3 {
		return nil, fmt.Errorf("%s: needs images (height, width, channels) or flat rows, got rows of shape %v", l.name, in)
	}
	c := in[len(in)-1]
	var err error
	for _, p := range []struct {
		to   **Param
		name string
	}{{&l.weight, ".weight"}, {&l.bias, ".bias"}, {&l.runMean, ".running_mean"}, {&l.runVar, ".running_var"}} {
		if *p.to, err = l.newParam(l.name+p.name, false, c); err != nil {
			return nil, err
		}
	}
	l.runMean.Grad, l.runVar.Grad = nil, nil
	l.weight.fill(1)
	l.runVar.fill(1)
	out, err := l.built(in, in)
	if err == nil {
		l.group(1)
	}
	return out, err
}

// perRow returns the number of values per channel in one input row: H*W.
func (l *BatchNorm2D) perRow() int { return size(l.in) / l.in[len(l.in)-1] }

// Forward normalizes. It panics where a batch's statistics would come from one
// value per channel; Model.CheckBatch finds that before.
func (l *BatchNorm2D) Forward(x *array.Array, mode Mode) *array.Array {
	if l.rowwise(mode) {
		return forward(l, x, mode)
	}
	n := l.check(x)
	l.x, l.mode = x, mode
	if mode.running() {
		l.setRunning()
	} else {
		l.measure(x.Data, n)
	}
	l.setScale()
	if l.pools() {
		return l.forwardPooled(x, n)
	}
	y := rowsOf(&l.y, n, l.out)
	var add []float32
	if l.add != nil {
		add = l.add.Data
	}
	for g := range l.groups {
		r := l.run(l.groups, g, n)
		kernel.Normalize(r.rows, r.c, r.of(x.Data), l.mean[r.at:], l.scale[r.at:], l.bias.Value.Data, r.of(add), l.relu, r.of(y.Data))
	}
	return y
}

// setRunning takes the running mean and variance as those of the pass.
func (l *BatchNorm2D) setRunning() {
	l.group(1)
	for i, m := range l.runMean.Value.Data {
		l.mean[i], l.inv[i] = float64(m), float64(l.runVar.Value.Data[i])
	}
}

// setScale turns the variances in inv into 1/sqrt(var+eps).
func (l *BatchNorm2D) setScale() {
	for i, v := range l.inv {
		l.inv[i] = 1 / math.Sqrt(v+BatchNormEps)
		l.scale[i] = l.inv[i] * float64(l.weight.Value.Data[i%l.channels()])
	}
}

// Backward is the gradient in the mode of the last Forward. The parameters must
// not have changed since.
func (l *BatchNorm2D) Backward(dy *array.Array, need Need) *array.Array {
	n := l.x.Rows()
	if l.weight.Grad == nil { // see Model.FreezeBatchNorm
		need &^= Weights
	}
	if l.pools() {
		return l.backwardPooled(dy, need, n)
	}
	l.checkGrad(dy, n)
	if l.rowwise(l.mode) {
		return l.backwardFolded(dy, need)
	}
	// Whether y is positive is computed again from x, which is read anyway.
	again := l.mask && !l.mode.running()
	var mask []float32
	if l.mask {
		mask = l.y.Data
	}
	if need&Weights != 0 || !l.mode.running() {
		for shard := range l.shards.count() {
			r, m := l.run(l.shards.count(), shard, n), l.groupOf(shard)
			if again {
				kernel.NormalizeReLUSums(r.rows, r.c, r.of(l.x.Data), r.of(dy.Data), l.mean[m:], l.scale[m:], l.bias.Value.Data, l.sumA[r.at:], l.sumB[r.at:])
			} else {
				kernel.NormalizeSums(r.rows, r.c, r.of(l.x.Data), r.of(dy.Data), r.of(mask), l.mean[m:], l.sumA[r.at:], l.sumB[r.at:])
			}
		}
	}
	if need&Weights != 0 {
		l.shards.gradients(l, n, l.weight, l.bias)
	}
	if need&Input == 0 {
		return nil
	}
	if !l.mode.running() {
		l.setSlopes(n)
	}
	dx := l.over(dy, &l.dx, n)
	for g := range l.groups {
		r := l.run(l.groups, g, n)
		switch {
		case l.mode.running():
			kernel.NormalizeBackward(r.rows, r.c, nil, r.of(dy.Data), r.of(mask), nil, l.scale, nil, nil, r.of(dx.Data))
		case again:
			kernel.NormalizeReLUBackward(r.rows, r.c, r.of(l.x.Data), r.of(dy.Data), l.mean[r.at:], l.scale[r.at:], l.bias.Value.Data, l.slopeA[r.at:], l.slopeB[r.at:], r.of(dx.Data))
		default:
			kernel.NormalizeBackward(r.rows, r.c, r.of(l.x.Data), r.of(dy.Data), nil, l.mean[r.at:], l.scale[r.at:], l.slopeA[r.at:], l.slopeB[r.at:], r.of(dx.Data))
		}
	}
	return dx
}

// gradient implements weighted, from the sums of the pass.
func (l *BatchNorm2D) gradient(shard, _, _ int, dw, db []float32) {
	at, m := shard*l.channels(), l.groupOf(shard)
	for i := range dw {
		dw[i] += float32(l.sumB[at+i] * l.inv[m+i])
		db[i] += float32(l.sumA[at+i])
	}
}

// adds implements weighted.
func (l *BatchNorm2D) adds(int) bool { return true }

// Params returns weight, bias, and the buffers of running mean and variance.
func (l *BatchNorm2D) Params() []*Param { return present(l.weight, l.bias, l.runMean, l.runVar) }

// FLOPs counts two per element.
func (l *BatchNorm2D) FLOPs() int64 { return 2 * int64(size(l.out)) }
