package nn

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// Conv2D is a convolution (cross-correlation) of images (H, W, C) with square
// kernels and zero padding. Weights are (KH, KW, C, OutC).
type Conv2D struct {
	base
	outC, k, stride, pad int
	hasBias              bool
	relu                 bool // y = max(convolution + bias, 0): see fuse
	plan                 kernel.ConvPlan
	weight, bias         *Param
	norm                 *BatchNorm2D // the layer after, where there is one: see fold
	foldedW, foldedB     []float32    // weights and bias with norm's in mode Eval
	w, b                 []float32    // those of the last Forward
	clip                 bool         // y = max(y, 0) in the last Forward
	x                    *array.Array
	y, dx                *array.Array
	dy                   []float32 // while its weights' gradient is taken
}

// NewConv2D returns a layer with outC output channels and k x k kernels.
func NewConv2D(name string, outC, k, stride, pad int, bias bool) *Conv2D {
	return &Conv2D{base: base{name: name}, outC: outC, k: k, stride: stride, pad: pad, hasBias: bias}
}

// OutShape builds the parameters for images of shape in.
func (l *Conv2D) OutShape(in []int) ([]int, error) {
	h, w, c, err := l.image(in)
	if err != nil {
		return nil, err
	}
	if err := checkWindow(l.name, "kernel", h, w, l.k, l.k, l.stride, l.stride, l.pad, l.pad); err != nil {
		return nil, err
	}
	l.plan = kernel.Conv{H: h, W: w, C: c, OutC: l.outC, KH: l.k, KW: l.k,
		StrideH: l.stride, StrideW: l.stride, PadH: l.pad, PadW: l.pad}.Plan()
	if l.weight, err = l.newParam(l.name+".weight", true, l.k, l.k, c, l.outC); err != nil {
		return nil, err
	}
	if l.hasBias {
		if l.bias, err = l.newParam(l.name+".bias", false, l.outC); err != nil {
			return nil, err
		}
	}
	oh, ow := l.plan.Out()
	return l.built(in, []int{oh, ow, l.outC})
}

// checkWindow returns an error naming the layer and the shapes unless a kh x kw
// window fits into a padded h x w image.
func checkWindow(name, what string, h, w, kh, kw, sh, sw, ph, pw int) error {
	if kh < 1 || kw < 1 || sh < 1 || sw < 1 || ph < 0 || pw < 0 {
		return fmt.Errorf("%s: %s %dx%d, stride %dx%d, padding %dx%d: %s and stride must be at least 1, padding at least 0", name, what, kh, kw, sh, sw, ph, pw, what)
	}
	if h+2*ph < kh || w+2*pw < kw {
		return fmt.Errorf("%s: %s %dx%d does not fit into a %dx%d image with padding %dx%d: the image is too small for this model", name, what, kh, kw, h, w, ph, pw)
	}
	return nil
}

// Forward convolves.
func (l *Conv2D) Forward(x *array.Array, mode Mode) *array.Array { return forward(l, x, mode) }

func (l *Conv2D) rowwise(Mode) bool { return true }

func (l *Conv2D) begin(x *array.Array, mode Mode) *array.Array {
	n := l.check(x)
	l.x, l.w, l.b, l.clip = x, l.weight.Value.Data, nil, l.relu
	if l.bias != nil {
		l.b = l.bias.Value.Data
	}
	if l.norm != nil && mode == Eval {
		if l.foldedW == nil {
			l.foldedW, l.foldedB = make([]float32, len(l.w)), make([]float32, l.outC)
		}
		l.norm.fold(l, l.foldedW, l.foldedB)
		l.w, l.b, l.clip = l.foldedW, l.foldedB, l.norm.relu && l.norm.add == nil
	}
	return rowsOf(&l.y, n, l.out)
}

func (l *Conv2D) forwardRows(lo, hi int) {
	l.plan.Forward(hi-lo, rows(l.x, lo, hi), l.w, l.b, l.clip, rows(l.y, lo, hi))
}

// Backward adds the weight gradients and returns the input gradient.
func (l *Conv2D) Backward(dy *array.Array, need Need) *array.Array {
	n := l.x.Rows()
	l.checkGrad(dy, n)
	if need&Weights != 0 {
		l.backwardWeights(dy.Data)
	}
	if need&Input == 0 {
		return nil
	}
	dx := l.grads.lend(&l.dx, n, l.in)
	l.backwardRows(0, n, dy.Data, dx.Data)
	return dx
}

func (l *Conv2D) idle() bool { return false }

func (l *Conv2D) backwardRows(lo, hi int, dy, dx []float32) {
	l.plan.BackwardInput(hi-lo, dy, l.w, dx)
}

func (l *Conv2D) backwardWeights(dy []float32) {
	l.dy = dy
	l.shards.gradients(l, l.x.Rows(), l.weight, l.bias)
	l.dy = nil
}

// gradient implements weighted.
func (l *Conv2D) gradient(_, lo, hi int, dw, db []float32) {
	in, out := size(l.in), size(l.out)
	l.plan.BackwardWeights(hi-lo, l.x.Data[lo*in:hi*in], l.dy[lo*out:hi*out], dw, db)
}

// adds implements weighted: the kernel may add row by row.
func (l *Conv2D) adds(int) bool { return false }

// Params returns weight and bias.
func (l *Conv2D) Params() []*Param { return present(l.weight, l.bias) }

// Winograd names the layers of the network whose outputs Winograd convolutions compute.
func (m *Model) Winograd() []string {
	var out []string
	walk(m.net, func(l Layer) {
		if c, ok := l.(*Conv2D); ok && c.plan.Fwd != kernel.Direct {
			out = append(out, c.name)
		}
	})
	return out
}

// FLOPs counts a multiply-add as two, for one image; padding counts.
func (l *Conv2D) FLOPs() int64 {
	return 2 * int64(size(l.out)) * int64(l.k*l.k) * int64(l.plan.C)
}

// ComputeDirectly makes m take the direct kernels for all convolutions, as with
// TERCET_WINOGRAD=off: other last bits of the same embeddings.
func (m *Model) ComputeDirectly() {
	walk(m.net, func(l Layer) {
		if c, ok := l.(*Conv2D); ok {
			c.plan = kernel.ConvPlan{Conv: c.plan.Conv}
		}
	})
}
