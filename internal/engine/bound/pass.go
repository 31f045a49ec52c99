package bound

import (
	"errors"
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/pages"
	"tercet/internal/par"
)

// Pass computes intervals as Net does, for training: they follow the weights, they have
// gradients, and nothing is added for what float32 loses. It serves one goroutine.
type Pass struct {
	stages []stage
	in     int    // numbers of an image
	Head   Linear // the last linear layer, which is not part of the pass
	images *array.Array
	grads  [2]*array.Array // of the backward pass
}

// Linear is the linear layer that ends a network: u = W h + Bias, its weights (K, D).
type Linear struct{ W, Bias *nn.Param }

// stage is a layer on the ends of n intervals: rows [0, n) of x and y are lower ends, rows
// [n, 2n) upper ones.
type stage struct {
	out int // numbers of an output row
	y   *array.Array
	do  interface {
		forward(n int, x, y []float32)
		// backward takes the gradient of y, which it may overwrite, adds those of its
		// weights and writes that of x unless dx is nil.
		backward(n int, x, y, dy, dx []float32)
	}
}

// NewPass returns the intervals of m, or an error wrapping ErrNone that names a layer
// without. It follows chains of convolutions, linear layers, ReLU and max pooling that end
// in a linear layer.
func NewPass(m *nn.Model) (*Pass, error) {
	none := func(format string, args ...any) error {
		return fmt.Errorf("%w to train with: %s of model %s", ErrNone, fmt.Sprintf(format, args...), m.Spec().Name)
	}
	ops, err := m.Graph()
	var unknown *nn.StepError
	if errors.As(err, &unknown) {
		return nil, none("layer %s", unknown.Layer)
	}
	if err != nil {
		return nil, err
	}
	if k := len(ops) - 1; ops[k].Kind == nn.OpL2 {
		ops = ops[:k]
	}
	params := map[string]*nn.Param{}
	for _, p := range m.Params() {
		params[p.Name] = p
	}
	s := m.Spec()
	shape := []int{s.Height, s.Width, s.Channels}
	p := &Pass{in: array.Size(shape)}
	for i, o := range ops {
		w, bias := params[o.Name+".weight"], params[o.Name+".bias"]
		if i == len(ops)-1 {
			if o.Kind != nn.OpLinear || len(o.Shape) != 1 {
				return nil, none("the end of the network is %s (%s) and not a linear layer,", o.Name, o.Kind)
			}
			p.Head = Linear{w, bias}
			break
		}
		st := stage{out: array.Size(o.Shape)}
		switch o.Kind {
		case nn.OpConv:
			plan := convOf(o, shape).Plan()
			st.do = newAffine(w, bias, array.Size(shape), st.out, &convolution{plan})
		case nn.OpLinear:
			st.do = newAffine(w, bias, o.Inner, st.out, &multiplication{o.Inner, st.out})
		case nn.OpReLU:
			st.do = positive{}
		case nn.OpMaxPool:
			st.do = &maximum{pool: kernel.Pool{H: shape[0], W: shape[1], C: shape[2], KH: o.Kernel[0], KW: o.Kernel[1],
				StrideH: o.Stride[0], StrideW: o.Stride[1], PadH: o.Pad[0], PadW: o.Pad[1]}}
		case nn.OpFlatten:
			shape = o.Shape
			continue
		default:
			return nil, none("layer %s (%s)", o.Name, o.Kind)
		}
		p.stages, shape = append(p.stages, st), o.Shape
	}
	return p, nil
}

// Forward returns the ends of what the head reads, (2B, K): lower ones first. Images x
// (B, H, W, C), pixels in [0, 1], move by at most eps in each pixel. It is valid until the
// next call.
func (p *Pass) Forward(x *array.Array, eps float64) *array.Array {
	n := x.Rows()
	p.images = rows(p.images, 2*n, p.in)
	lo, hi := p.images.Data[:n*p.in], p.images.Data[n*p.in:]
	par.For(len(lo), chunk, func(from, to int) {
		for i := from; i < to; i++ {
			v := float64(x.Data[i])
			lo[i], hi[i] = float32(max(0, v-eps)), float32(min(1, v+eps))
		}
	})
	at := p.images
	for i := range p.stages {
		s := &p.stages[i]
		s.y = rows(s.y, 2*n, s.out)
		s.do.forward(n, at.Data, s.y.Data)
		at = s.y
	}
	return at
}

// Backward takes the gradient of the ends that the last Forward returned, which it may
// overwrite, and adds those of the weights.
func (p *Pass) Backward(dh *array.Array) {
	n, dy := dh.Rows()/2, dh.Data
	for i := len(p.stages) - 1; i >= 0; i-- {
		s := &p.stages[i]
		x, dx := p.images, []float32(nil)
		if i > 0 {
			x = p.stages[i-1].y
			to := &p.grads[i%2]
			*to = rows(*to, 2*n, p.stages[i-1].out)
			dx = (*to).Data
		}
		s.do.backward(n, x.Data, s.y.Data, dy, dx)
		dy = dx
	}
}

// rows returns a with that many rows and columns; its content is undefined.
func rows(a *array.Array, n, cols int) *array.Array {
	if a == nil || cap(a.Data) < n*cols {
		return array.New(n, cols)
	}
	a.Data, a.Shape = a.Data[:n*cols], append(a.Shape[:0], n, cols)
	return a
}

// positive is max(x, 0).
type positive struct{}

func (positive) forward(_ int, x, y []float32) { kernel.ReLU(x, y) }

func (positive) backward(_ int, _, y, dy, dx []float32) {
	if dx != nil {
		kernel.ReLUBackward(y, dy, dx)
	}
}

// maximum is max pooling.
type maximum struct {
	pool kernel.Pool
	arg  []int32
}

func (l *maximum) forward(n int, x, y []float32) {
	if cap(l.arg) < len(y) {
		l.arg = make([]int32, len(y))
	}
	l.arg = l.arg[:len(y)]
	l.pool.MaxForward(2*n, x, y, l.arg)
}

func (l *maximum) backward(n int, _, _, dy, dx []float32) {
	if dx != nil {
		l.pool.MaxBackward(2*n, dy, nil, l.arg, dx)
	}
}

// linearMap multiplies rows by weights, as a layer does.
type linearMap interface {
	forward(n int, x, w, bias, y []float32)
	input(n int, dy, w, dx []float32)
	weights(n int, x, dy, dw, db []float32)
}

// affine is W x + bias: the middle of an interval goes through W, and half its width
// through the magnitudes of W.
type affine struct {
	w, bias *nn.Param
	times   linearMap
	in, out int
	abs, dw []float32 // (W) magnitudes, and their gradient
	x       []float32 // (2B, in) middles, then halves of widths
	dy      []float32 // (2B, out) gradients of the same of the output
}

func newAffine(w, bias *nn.Param, in, out int, times linearMap) *affine {
	return &affine{w: w, bias: bias, in: in, out: out, times: times, abs: pages.Make[float32](len(w.Value.Data)), dw: pages.Make[float32](len(w.Value.Data))}
}

func (l *affine) forward(n int, x, y []float32) {
	if cap(l.x) < len(x) {
		l.x = pages.Make[float32](len(x))
	}
	l.x = l.x[:len(x)]
	half := n * l.in
	par.For(half, chunk, func(from, to int) {
		for i := from; i < to; i++ {
			lo, hi := x[i], x[half+i]
			l.x[i], l.x[half+i] = (lo+hi)/2, (hi-lo)/2
		}
	})
	for i, v := range l.w.Value.Data {
		l.abs[i] = float32(math.Abs(float64(v)))
	}
	var bias []float32
	if l.bias != nil {
		bias = l.bias.Value.Data
	}
	cut := n * l.out
	l.times.forward(n, l.x[:half], l.w.Value.Data, bias, y[:cut])
	l.times.forward(n, l.x[half:], l.abs, nil, y[cut:])
	par.For(cut, chunk, func(from, to int) {
		for i := from; i < to; i++ {
			c, r := y[i], y[cut+i]
			y[i], y[cut+i] = c-r, c+r
		}
	})
}

func (l *affine) backward(n int, _, _, dy, dx []float32) {
	half, cut := n*l.in, n*l.out
	if cap(l.dy) < len(dy) {
		l.dy = pages.Make[float32](len(dy))
	}
	d := l.dy[:len(dy)]
	par.For(cut, chunk, func(from, to int) {
		for i := from; i < to; i++ {
			lo, hi := dy[i], dy[cut+i]
			d[i], d[cut+i] = lo+hi, hi-lo
		}
	})
	var db []float32
	if l.bias != nil {
		db = l.bias.Grad.Data
	}
	l.times.weights(n, l.x[:half], d[:cut], l.w.Grad.Data, db)
	clear(l.dw)
	l.times.weights(n, l.x[half:], d[cut:], l.dw, nil)
	for i, v := range l.w.Value.Data {
		switch {
		case v > 0:
			l.w.Grad.Data[i] += l.dw[i]
		case v < 0:
			l.w.Grad.Data[i] -= l.dw[i]
		}
	}
	if dx == nil {
		return
	}
	l.times.input(n, d[:cut], l.w.Value.Data, dx[:half])
	l.times.input(n, d[cut:], l.abs, dx[half:])
	par.For(half, chunk, func(from, to int) {
		for i := from; i < to; i++ {
			c, r := dx[i], dx[half+i]
			dx[i], dx[half+i] = (c-r)/2, (c+r)/2
		}
	})
}

// multiplication is that of rows by a matrix (ins, outs).
type multiplication struct{ ins, outs int }

func (m *multiplication) forward(n int, x, w, bias, y []float32) {
	kernel.GemmBias(false, false, n, m.outs, m.ins, x, m.ins, w, m.outs, bias, false, y, m.outs)
}

func (m *multiplication) input(n int, dy, w, dx []float32) {
	kernel.Gemm(false, true, n, m.ins, m.outs, 1, dy, m.outs, w, m.outs, 0, dx, m.ins)
}

func (m *multiplication) weights(n int, x, dy, dw, db []float32) {
	kernel.Gemm(true, false, m.ins, m.outs, n, 1, x, m.ins, dy, m.outs, 1, dw, m.outs)
	if db != nil {
		kernel.AddColumnSums(n, m.outs, dy, db)
	}
}

// convolution is that of images.
type convolution struct{ plan kernel.ConvPlan }

func (c *convolution) forward(n int, x, w, bias, y []float32) {
	c.plan.Forward(n, x, w, bias, false, y)
}

func (c *convolution) input(n int, dy, w, dx []float32) { c.plan.BackwardInput(n, dy, w, dx) }

func (c *convolution) weights(n int, x, dy, dw, db []float32) {
	c.plan.BackwardWeights(n, x, dy, dw, db)
}
