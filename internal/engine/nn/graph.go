package nn

import "fmt"

// OpKind names a step of a network.
type OpKind string

// The steps of networks.
const (
	OpConv      OpKind = "conv"
	OpBatchNorm OpKind = "batchnorm"
	OpReLU      OpKind = "relu"
	OpMaxPool   OpKind = "maxpool"
	OpAvgPool   OpKind = "avgpool" // the mean of each channel
	OpAdd       OpKind = "add"     // of two inputs
	OpPad       OpKind = "pad"     // with zeros
	OpFlatten   OpKind = "flatten"
	OpLinear    OpKind = "linear"
	OpL2        OpKind = "l2"
	OpMaxAll    OpKind = "maxall"    // the maximum of each channel
	OpLayerNorm OpKind = "layernorm" // without parameters
	OpMeanStd   OpKind = "mean_std"  // (x - Name.mean) / Name.std of each channel
)

// Op is one step of a network, as other programs know it: what is fused here is a step
// of its own there.
type Op struct {
	Kind   OpKind
	Name   string // of the layer; its tensors are Name.weight, Name.bias and so on
	In     []int  // steps that it reads; Images for the images
	Shape  []int  // of one output row
	Kernel [2]int // of conv and maxpool: height and width
	Stride [2]int
	Pad    [4]int // top, left, bottom, right
	Inner  int    // of conv and linear: channels or numbers that come in
	Bias   bool
	BGR    bool    // mean_std reverses the channels first
	Eps    float64 // of layernorm
}

// Images stands for the input of a network among the inputs of a step.
const Images = -1

// Graph lists the steps of the network in an order in which each can be computed; the
// last gives the embeddings. A *StepError names a layer that has no such step.
func (m *Model) Graph() ([]Op, error) {
	g := &graph{}
	_, err := g.add(m.net, Images)
	return g.ops, err
}

// StepError says that a layer has no step of Graph.
type StepError struct{ Layer string }

func (e *StepError) Error() string {
	return fmt.Sprintf("layer %s is none that other programs are known to have", e.Layer)
}

// graph is a list of steps that is being made.
type graph struct{ ops []Op }

// step appends o and returns its place.
func (g *graph) step(o Op) int {
	g.ops = append(g.ops, o)
	return len(g.ops) - 1
}

// add appends the steps of l on the output of step in and returns the last one.
func (g *graph) add(l Layer, in int) (int, error) {
	switch l := l.(type) {
	case *Sequential:
		var err error
		for _, inner := range l.layers {
			if in, err = g.add(inner, in); err != nil {
				return 0, err
			}
		}
		return in, nil
	case *Residual:
		body, err := g.add(l.body, in)
		if err != nil {
			return 0, err
		}
		short := in
		if l.shortcut != nil {
			if short, err = g.add(l.shortcut, in); err != nil {
				return 0, err
			}
		}
		return g.step(Op{Kind: OpAdd, Name: l.name, In: []int{body, short}, Shape: l.out}), nil
	case *GlobalMaxPool:
		most := g.step(Op{Kind: OpMaxAll, Name: l.name, In: []int{in}, Shape: l.out})
		if !l.mean {
			return most, nil
		}
		mean := g.step(Op{Kind: OpAvgPool, Name: l.name, In: []int{in}, Shape: l.out})
		return g.step(Op{Kind: OpAdd, Name: l.name, In: []int{most, mean}, Shape: l.out}), nil
	}
	o, ok := opOf(l)
	if !ok {
		return 0, &StepError{nameOf(l)}
	}
	o.In = []int{in}
	return g.step(o), nil
}

// opOf is the step of a layer that is not made of others, without its inputs.
func opOf(l Layer) (Op, bool) {
	switch l := l.(type) {
	case *Conv2D:
		return Op{Kind: OpConv, Name: l.name, Shape: l.out, Inner: l.in[2], Bias: l.hasBias,
			Kernel: [2]int{l.k, l.k}, Stride: [2]int{l.stride, l.stride}, Pad: [4]int{l.pad, l.pad, l.pad, l.pad}}, true
	case *BatchNorm2D:
		return Op{Kind: OpBatchNorm, Name: l.name, Shape: l.out}, true
	case *ReLU:
		return Op{Kind: OpReLU, Name: l.name, Shape: l.out}, true
	case *MaxPool:
		p := l.pool
		return Op{Kind: OpMaxPool, Name: l.name, Shape: l.out, Kernel: [2]int{p.KH, p.KW}, Stride: [2]int{p.StrideH, p.StrideW},
			Pad: [4]int{p.PadH, p.PadW, p.PadH, p.PadW}}, true
	case *AvgPool:
		return Op{Kind: OpAvgPool, Name: l.name, Shape: l.out}, true
	case *Pad2D:
		return Op{Kind: OpPad, Name: l.name, Shape: l.out,
			Pad: [4]int{l.top, l.left, l.height - l.in[0] - l.top, l.width - l.in[1] - l.left}}, true
	case *Flatten:
		return Op{Kind: OpFlatten, Name: l.name, Shape: l.out}, true
	case *Linear:
		return Op{Kind: OpLinear, Name: l.name, Shape: l.out, Inner: l.in[0], Bias: l.hasBias}, true
	case *Projection:
		return Op{Kind: OpLinear, Name: l.name, Shape: l.out, Inner: l.in[0], Bias: true}, true
	case *LayerNorm:
		return Op{Kind: OpLayerNorm, Name: l.name, Shape: l.out, Eps: l.eps}, !l.affine
	case *MeanStdLayer:
		return Op{Kind: OpMeanStd, Name: l.name, Shape: l.out, BGR: l.of.BGR}, true
	case *L2Normalize:
		return Op{Kind: OpL2, Name: l.name, Shape: l.out}, true
	}
	return Op{}, false
}

// nameOf is the name of a layer that has one.
func nameOf(l Layer) string {
	if n, ok := l.(interface{ Name() string }); ok {
		return n.Name()
	}
	return "without a name"
}
