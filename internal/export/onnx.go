package export

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/engine/nn"
	"tercet/internal/lists"
	"tercet/internal/protobuf"
	"tercet/internal/safetensors"
)

// Versions of ONNX that are written.
const (
	onnxIR    = 8
	onnxOpset = 13
)

// Types of ONNX's tensors and attributes.
const (
	onnxFloat, onnxInt64                        = 1, 7
	attributeFloat, attributeInt, attributeInts = 1, 2, 7
)

// ONNX writes m as an ONNX model with one input, images (N, C, H, W) in [0, 1], and one
// output, embeddings (N, D). An error names a layer that ONNX is not known to have.
func ONNX(w io.Writer, m *nn.Model, a About) error {
	ops, err := m.Graph()
	if err != nil {
		return err
	}
	g := &onnxGraph{weights: map[string]bool{}}
	for _, t := range StateDict(m) {
		if !t.Integers {
			g.weight(t)
		}
	}
	for _, p := range m.Params() { // of channels, before height and width
		if strings.HasPrefix(p.Name, meanStd) {
			g.weight(safetensors.Tensor{Name: p.Name, Shape: []int{len(p.Value.Data), 1, 1}, Data: p.Value.Data})
		}
	}
	names := map[int]string{nn.Images: "images"}
	for i, o := range ops {
		in := lists.Map(o.In, func(k int) string { return names[k] })
		if names[i] = "x" + strconv.Itoa(i); i == len(ops)-1 {
			names[i] = "embeddings"
		}
		if err := g.step(o, in, names[i]); err != nil {
			return err
		}
	}
	s := m.Spec()
	g.Text(2, s.Name)
	g.Bytes(11, tensorInfo("images", s.Channels, s.Height, s.Width))
	g.Bytes(12, tensorInfo("embeddings", m.Dim()))
	var model, opset protobuf.Message
	opset.Int(2, onnxOpset)
	model.Int(1, onnxIR)
	model.Text(2, "tercet")
	model.Text(3, a.Version)
	model.Text(6, fmt.Sprintf("%s of %s, checkpoint %s (step %d)", s.Name, a.Run, a.Checkpoint, a.Step))
	model.Bytes(8, opset)
	model.Begin(7, len(g.Message))
	for _, part := range []protobuf.Message{model, g.Message} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// onnxGraph is a GraphProto that is being written.
type onnxGraph struct {
	protobuf.Message
	weights map[string]bool
	nodes   int
}

// weight adds an initializer.
func (g *onnxGraph) weight(t safetensors.Tensor) {
	var p protobuf.Message
	p.Ints(1, t.Shape)
	kind := onnxFloat
	if t.Integers {
		kind = onnxInt64
	}
	p.Int(2, int64(kind))
	p.Text(8, t.Name)
	var raw bytes.Buffer
	_ = safetensors.WriteNumbers(&raw, t) // a buffer takes all
	p.Bytes(9, raw.Bytes())
	g.Bytes(5, p)
	g.weights[t.Name] = true
}

// attribute is one of a node: an int, a list of ints or a float.
type attribute struct {
	name  string
	value any
}

// node adds one of a single output, which it returns.
func (g *onnxGraph) node(kind string, in []string, out string, attributes ...attribute) string {
	g.nodeOf(kind, in, []string{out}, attributes...)
	return out
}

// nodeOf adds a node.
func (g *onnxGraph) nodeOf(kind string, in, out []string, attributes ...attribute) {
	var n protobuf.Message
	for i, names := range [][]string{in, out} {
		for _, name := range names {
			n.Text(i+1, name)
		}
	}
	n.Text(3, fmt.Sprintf("%s_%d", kind, g.nodes))
	n.Text(4, kind)
	for _, a := range attributes {
		var p protobuf.Message
		p.Text(1, a.name)
		switch v := a.value.(type) {
		case int:
			p.Int(3, int64(v))
			p.Int(20, attributeInt)
		case []int:
			p.Ints(8, v)
			p.Int(20, attributeInts)
		case float64:
			p.Float(2, float32(v))
			p.Int(20, attributeFloat)
		}
		n.Bytes(5, p)
	}
	g.nodes++
	g.Bytes(1, n)
}

// constant adds numbers as an initializer and returns its name.
func (g *onnxGraph) constant(name string, integers bool, shape []int, data ...float32) string {
	if !g.weights[name] {
		g.weight(safetensors.Tensor{Name: name, Shape: shape, Data: data, Integers: integers})
	}
	return name
}

// tensors are the names of o's weights after x.
func (g *onnxGraph) tensors(o nn.Op, x string, names ...string) []string {
	in := []string{x}
	for _, n := range names {
		if full := o.Name + "." + n; g.weights[full] {
			in = append(in, full)
		}
	}
	return in
}

// step adds the nodes of one step.
func (g *onnxGraph) step(o nn.Op, in []string, out string) error {
	kernel, strides, pads := o.Kernel[:], o.Stride[:], o.Pad[:]
	x := in[0]
	switch o.Kind {
	case nn.OpConv:
		g.node("Conv", g.tensors(o, x, "weight", "bias"), out, attribute{"kernel_shape", kernel}, attribute{"strides", strides}, attribute{"pads", pads})
	case nn.OpBatchNorm:
		g.node("BatchNormalization", g.tensors(o, x, "weight", "bias", "running_mean", "running_var"), out, attribute{"epsilon", float64(nn.BatchNormEps)})
	case nn.OpReLU:
		g.node("Relu", in, out)
	case nn.OpMaxPool:
		g.node("MaxPool", in, out, attribute{"kernel_shape", kernel}, attribute{"strides", strides}, attribute{"pads", pads})
	case nn.OpAvgPool:
		g.node("Flatten", []string{g.node("GlobalAveragePool", in, out+"_map")}, out, attribute{"axis", 1})
	case nn.OpAdd:
		g.node("Add", in, out)
	case nn.OpPad:
		p := g.constant(o.Name+".pads", true, []int{8}, 0, 0, float32(pads[0]), float32(pads[1]), 0, 0, float32(pads[2]), float32(pads[3]))
		g.node("Pad", []string{x, p}, out)
	case nn.OpFlatten:
		g.node("Flatten", in, out, attribute{"axis", 1})
	case nn.OpLinear:
		g.node("Gemm", g.tensors(o, x, "weight", "bias"), out, attribute{"transB", 1})
	case nn.OpMaxAll:
		g.node("Flatten", []string{g.node("GlobalMaxPool", in, out+"_map")}, out, attribute{"axis", 1})
	case nn.OpLayerNorm:
		g.layerNorm(o, x, out)
	case nn.OpMeanStd:
		g.meanStd(o, x, out)
	case nn.OpL2:
		g.normalize(x, out)
	default:
		return fmt.Errorf("step %s of layer %s is not written as ONNX", o.Kind, o.Name)
	}
	return nil
}

// normalize divides rows by their lengths. The nodes are those that PyTorch writes for
// F.normalize: OpenCV knows them as one layer, and no others.
func (g *onnxGraph) normalize(x, out string) {
	length := g.node("ReduceL2", []string{x}, out+"_length", attribute{"axes", []int{1}}, attribute{"keepdims", 1})
	least, most := g.constant("least", false, []int{}, nn.NormEps), g.constant("most", false, []int{}, math.MaxFloat32)
	clipped := g.node("Clip", []string{length, least, most}, out+"_clipped")
	shape := g.node("Shape", []string{x}, out+"_shape")
	g.node("Div", []string{x, g.node("Expand", []string{clipped, shape}, out+"_expanded")}, out)
}

// layerNorm takes off the mean of each row and divides by its standard deviation.
func (g *onnxGraph) layerNorm(o nn.Op, x, out string) {
	axes, keep := attribute{"axes", []int{1}}, attribute{"keepdims", 1}
	shape := g.node("Shape", []string{x}, out+"_shape")
	mean := g.node("Expand", []string{g.node("ReduceMean", []string{x}, out+"_mean", axes, keep), shape}, out+"_means")
	centered := g.node("Sub", []string{x, mean}, out+"_centered")
	squares := g.node("Mul", []string{centered, centered}, out+"_squares")
	variance := g.node("ReduceMean", []string{squares}, out+"_variance", axes, keep)
	eps := g.constant(o.Name+".eps", false, []int{1}, float32(o.Eps))
	spread := g.node("Sqrt", []string{g.node("Add", []string{variance, eps}, out+"_above")}, out+"_spread")
	g.node("Div", []string{centered, g.node("Expand", []string{spread, shape}, out+"_spreads")}, out)
}

// meanStd normalizes the channels of pixels, after it has reversed them for a network
// that reads blue first.
func (g *onnxGraph) meanStd(o nn.Op, x, out string) {
	if o.BGR {
		var parts []string
		for i := range o.Shape[2] {
			parts = append(parts, out+"_channel"+strconv.Itoa(i))
		}
		g.nodeOf("Split", []string{x}, parts, attribute{"axis", 1})
		slices.Reverse(parts)
		x = g.node("Concat", parts, out+"_reversed", attribute{"axis", 1})
	}
	centered := g.node("Sub", []string{x, o.Name + ".mean"}, out+"_centered")
	g.node("Div", []string{centered, o.Name + ".std"}, out)
}

// tensorInfo is the ValueInfoProto of a float tensor whose first axis, the batch, has any
// length.
func tensorInfo(name string, shape ...int) protobuf.Message {
	var batch, dims, tensor, kind, info protobuf.Message
	batch.Text(2, "N")
	dims.Bytes(1, batch)
	for _, n := range shape {
		var d protobuf.Message
		d.Int(1, int64(n))
		dims.Bytes(1, d)
	}
	tensor.Int(1, onnxFloat)
	tensor.Bytes(2, dims)
	kind.Bytes(1, tensor)
	info.Text(1, name)
	info.Bytes(2, kind)
	return info
}
