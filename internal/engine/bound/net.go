package bound

import (
	"errors"
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
)

// ErrNone is in errors about networks that have no interval bounds.
var ErrNone = errors.New("no interval bounds")

// Net bounds what a network computes. It serves one goroutine; inside, it uses all
// threads. Weights are those of the model when it was made.
type Net struct {
	steps      []step
	features   int // step that gives what the last linear layer reads, nn.Images for the images
	size       int // numbers of an image
	images     Box
	last       *Last
	Dim        int  // D
	Normalized bool // embeddings are divided by their length
}

// step is a layer at work, with what it reads.
type step struct {
	op   nn.Op
	in   []int
	size int // of one output row
	do   interface {
		apply(in []*Box, out *Box, rows int)
	}
	out Box
}

// Last is the linear layer that ends a network before its embeddings are normalized:
// u = W h + Bias. Weights are (K, D) as h is (K).
type Last struct {
	W, Bias []float32
	Gamma   float64 // relative error of the network's sums
	layer   *product
	out     Box
}

// New returns the bounds of m, or an error wrapping ErrNone that names a layer without.
func New(m *nn.Model) (*Net, error) {
	ops, err := m.Graph()
	var unknown *nn.StepError
	if errors.As(err, &unknown) {
		return nil, fmt.Errorf("%w: layer %s of model %s has none", ErrNone, unknown.Layer, m.Spec().Name)
	}
	if err != nil {
		return nil, err
	}
	s := m.Spec()
	n := &Net{size: s.Height * s.Width * s.Channels, Dim: m.Dim()}
	if k := len(ops) - 1; ops[k].Kind == nn.OpL2 {
		n.Normalized, ops = true, ops[:k]
	}
	params := map[string][]float32{}
	for _, p := range m.Params() {
		params[p.Name] = p.Value.Data
	}
	shape := func(i int) []int {
		if i == nn.Images {
			return []int{s.Height, s.Width, s.Channels}
		}
		return ops[i].Shape
	}
	for _, o := range ops {
		do, err := layer(o, shape(o.In[0]), params)
		if err != nil {
			return nil, fmt.Errorf("%w: layer %s (%s) of model %s: %v", ErrNone, o.Name, o.Kind, s.Name, err)
		}
		n.steps = append(n.steps, step{op: o, in: o.In, size: array.Size(o.Shape), do: do})
	}
	n.features = len(n.steps) - 1
	if end := n.steps[n.features]; end.op.Kind == nn.OpLinear && len(end.op.Shape) == 1 {
		p := end.do.(*product)
		n.last = &Last{W: p.w, Bias: p.bias, Gamma: p.gamma, layer: p}
		n.features, n.steps = end.in[0], n.steps[:n.features]
	}
	return n, nil
}

// layer is the step o on rows of shape in.
func layer(o nn.Op, in []int, params map[string][]float32) (interface {
	apply(in []*Box, out *Box, rows int)
}, error) {
	w, bias := params[o.Name+".weight"], params[o.Name+".bias"]
	switch o.Kind {
	case nn.OpConv:
		return newConv(convOf(o, in), w, bias)
	case nn.OpLinear:
		if len(o.Shape) != 1 {
			return nil, errors.New("it reads several vectors of an image")
		}
		return newLinear(w, bias, o.Inner, o.Shape[0])
	case nn.OpBatchNorm:
		return batchNorm(w, bias, params[o.Name+".running_mean"], params[o.Name+".running_var"]), nil
	case nn.OpMeanStd:
		return meanStd(params[o.Name+".mean"], params[o.Name+".std"], o.BGR), nil
	case nn.OpReLU:
		return relu{}, nil
	case nn.OpMaxPool:
		return &window{h: in[0], w: in[1], c: in[2], kh: o.Kernel[0], kw: o.Kernel[1], sh: o.Stride[0], sw: o.Stride[1],
			ph: o.Pad[0], pw: o.Pad[1], oh: o.Shape[0], ow: o.Shape[1]}, nil
	case nn.OpMaxAll, nn.OpAvgPool:
		return &window{h: in[0], w: in[1], c: in[2], kh: in[0], kw: in[1], sh: 1, sw: 1, oh: 1, ow: 1, mean: o.Kind == nn.OpAvgPool}, nil
	case nn.OpAdd:
		return sum{}, nil
	case nn.OpPad:
		return &frame{h: in[0], w: in[1], c: in[2], top: o.Pad[0], left: o.Pad[1], oh: o.Shape[0], ow: o.Shape[1]}, nil
	case nn.OpFlatten:
		return same{}, nil
	}
	return nil, errors.New("it has none")
}

// convOf is the convolution o of images of shape in.
func convOf(o nn.Op, in []int) kernel.Conv {
	return kernel.Conv{H: in[0], W: in[1], C: in[2], OutC: o.Shape[2], KH: o.Kernel[0], KW: o.Kernel[1],
		StrideH: o.Stride[0], StrideW: o.Stride[1], PadH: o.Pad[0], PadW: o.Pad[1]}
}

func batchNorm(weight, bias, mean, variance []float32) *scaling {
	l := &scaling{}
	for i, v := range variance {
		l.mean = append(l.mean, float64(mean[i]))
		l.scale = append(l.scale, float64(weight[i])/math.Sqrt(float64(v)+nn.BatchNormEps))
		l.shift = append(l.shift, float64(bias[i]))
	}
	return l
}

func meanStd(mean, std []float32, bgr bool) *scaling {
	l := &scaling{reverse: bgr, shift: make([]float64, len(mean))}
	for i := range mean {
		l.mean, l.scale = append(l.mean, float64(mean[i])), append(l.scale, 1/float64(std[i]))
	}
	return l
}

// Batch returns a number of images whose boxes take a bounded amount of memory.
func (n *Net) Batch() int {
	numbers := n.size
	for _, s := range n.steps {
		numbers += s.size
	}
	const most = 8 << 20
	return max(1, min(128, most/(3*numbers)))
}

// Features bounds what the last linear layer reads, h (B, K), or where there is none the
// embeddings before they are normalized. Images x (B, H, W, C) have pixels in [0, 1] and
// move by at most eps[i] in each pixel. The box is valid until the next call.
func (n *Net) Features(x *array.Array, eps []float64) *Box {
	n.images.Ball(x, eps)
	rows := x.Rows()
	for i := range n.steps {
		s := &n.steps[i]
		s.out.sized(rows, s.size)
		in := make([]*Box, len(s.in))
		for k, from := range s.in {
			in[k] = n.box(from)
		}
		s.do.apply(in, &s.out, rows)
	}
	return n.box(n.features)
}

func (n *Net) box(i int) *Box {
	if i == nn.Images {
		return &n.images
	}
	return &n.steps[i].out
}

// Last returns the last linear layer, nil where the network does not end in one.
func (n *Net) Last() *Last { return n.last }

// Embeddings bounds the embeddings before they are normalized, u (B, D), from the box of
// Features. It is valid until the next call.
func (n *Net) Embeddings(h *Box) *Box {
	if n.last == nil {
		return h
	}
	rows := h.C.Rows()
	n.last.out.sized(rows, n.Dim)
	n.last.layer.apply([]*Box{h}, &n.last.out, rows)
	return &n.last.out
}
