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
// running ones towards them, with the unbiased variance, as PyTorch.
type BatchNorm2D struct {
	base
	weight, bias      *Param
	runMean, runVar   *Param // buffers
	x                 *array.Array
	conv              *Conv2D      // the layer before, where there is one: see folded
	pool              *MaxPool     // two layers after, behind a ReLU, where there is one: see pooled.go
	add               *array.Array // set by Residual during Forward: added to y
	relu              bool         // y = max(y, 0): see fuse
	mask              bool         // Backward drops dy where y is not positive
	mode              Mode
	mean, inv         []float64 // used in the last Forward; inv = 1/sqrt(var+eps)
	scale, sumA, sumB []float64
	y, dx             *array.Array
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
	l.mean, l.inv, l.scale = make([]float64, c), make([]float64, c), make([]float64, c)
	l.sumA, l.sumB = make([]float64, c), make([]float64, c)
	return l.built(in, in)
}

// perRow returns the number of values per channel in one input row: H*W.
func (l *BatchNorm2D) perRow() int { return size(l.in) / l.in[len(l.in)-1] }

// Forward normalizes. It panics where a batch's statistics would come from one
// value per channel; Model.CheckBatch finds that before.
func (l *BatchNorm2D) Forward(x *array.Array, mode Mode) *array.Array {
	n := l.check(x)
	l.x, l.mode = x, mode
	rows, c := n*l.perRow(), len(l.mean)
	if l.conv != nil && mode == Eval {
		return l.folded(x)
	}
	if mode.running() {
		l.setRunning()
	} else {
		if rows == 1 {
			panic(fmt.Sprintf("nn: %s: batch statistics of one value per channel", l.name))
		}
		kernel.ColumnMoments(rows, c, x.Data, l.mean, l.inv)
		if mode == Train {
			l.track(rows)
		}
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
	kernel.Normalize(rows, c, x.Data, l.mean, l.scale, l.bias.Value.Data, add, l.relu, y.Data)
	return y
}

// setRunning takes the running mean and variance as those of the pass.
func (l *BatchNorm2D) setRunning() {
	for i, m := range l.runMean.Value.Data {
		l.mean[i], l.inv[i] = float64(m), float64(l.runVar.Value.Data[i])
	}
}

// setScale turns the variances in inv into 1/sqrt(var+eps).
func (l *BatchNorm2D) setScale() {
	for i, v := range l.inv {
		l.inv[i] = 1 / math.Sqrt(v+BatchNormEps)
		l.scale[i] = l.inv[i] * float64(l.weight.Value.Data[i])
	}
}

// track updates the running statistics; inv still holds the biased variance.
func (l *BatchNorm2D) track(rows int) {
	unbias := float64(rows) / float64(rows-1)
	mean, vari := l.runMean.Value.Data, l.runVar.Value.Data
	for i := range mean {
		mean[i] = float32(float64((1-BatchNormMomentum)*float64(mean[i])) + float64(BatchNormMomentum*l.mean[i]))
		vari[i] = float32(float64((1-BatchNormMomentum)*float64(vari[i])) + float64(BatchNormMomentum*l.inv[i]*unbias))
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
	if l.conv != nil && l.mode == Eval {
		return l.backwardFolded(dy, need)
	}
	rows, c := n*l.perRow(), len(l.mean)
	// Whether y is positive is computed again from x, which is read anyway.
	again := l.mask && !l.mode.running()
	var mask []float32
	if l.mask {
		mask = l.y.Data
	}
	if again {
		kernel.NormalizeReLUSums(rows, c, l.x.Data, dy.Data, l.mean, l.scale, l.bias.Value.Data, l.sumA, l.sumB)
	} else if need&Weights != 0 || !l.mode.running() {
		kernel.NormalizeSums(rows, c, l.x.Data, dy.Data, mask, l.mean, l.sumA, l.sumB)
	}
	if need&Weights != 0 {
		l.addGrads()
	}
	if need&Input == 0 {
		return nil
	}
	dx := l.over(dy, &l.dx, n)
	if l.mode.running() {
		kernel.NormalizeBackward(rows, c, nil, dy.Data, mask, nil, l.scale, nil, nil, dx.Data)
		return dx
	}
	l.setSlopes(rows)
	if again {
		kernel.NormalizeReLUBackward(rows, c, l.x.Data, dy.Data, l.mean, l.scale, l.bias.Value.Data, l.sumA, l.sumB, dx.Data)
	} else {
		kernel.NormalizeBackward(rows, c, l.x.Data, dy.Data, nil, l.mean, l.scale, l.sumA, l.sumB, dx.Data)
	}
	return dx
}

// addGrads adds the parameters' gradients, which the sums of the pass give.
func (l *BatchNorm2D) addGrads() {
	for i := range l.mean {
		l.weight.Grad.Data[i] += float32(l.sumB[i] * l.inv[i])
		l.bias.Grad.Data[i] += float32(l.sumA[i])
	}
}

// setSlopes turns the sums into what the input gradient subtracts:
// dx = scale * (dy - mean(dy) - xhat * mean(dy * xhat)), xhat = (x-mean)*inv.
func (l *BatchNorm2D) setSlopes(rows int) {
	for i, s := range l.scale {
		l.sumA[i] *= s / float64(rows)
		l.sumB[i] *= s * l.inv[i] * l.inv[i] / float64(rows)
	}
}

// Params returns weight, bias, and the buffers of running mean and variance.
func (l *BatchNorm2D) Params() []*Param { return present(l.weight, l.bias, l.runMean, l.runVar) }

// FLOPs counts two per element.
func (l *BatchNorm2D) FLOPs() int64 { return 2 * int64(size(l.out)) }
