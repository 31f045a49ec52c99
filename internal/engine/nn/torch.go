package nn

// TorchTensor says how a parameter or buffer of a model stands in the state dict of the
// same network in PyTorch: under the same name, with its axes in another order. tensors.Reorder and tensors.Restore change
// between the two.
type TorchTensor struct {
	Name  string
	Here  []int // shape in the model
	Shape []int // in PyTorch
	View  []int // Here with each axis that the order separates
	Axes  []int // axis i of PyTorch is Axes[i] of View; none: all are in the same order
}

// TorchTensors lists all parameters and buffers of the model, in the order of Params.
//
//   - weights of a convolution are (KH, KW, C, O) here and (O, C, KH, KW) there
//   - those of a linear layer are (in, out) here and (out, in) there; where a map is
//     flattened before it, in is in the order H, W, C here and C, H, W there
//   - all others are the same
//
// PyTorch has a further tensor for each batch norm, num_batches_tracked.
func (m *Model) TorchTensors() []TorchTensor {
	var out []TorchTensor
	var flat []int // shape of the map that the next linear layer reads
	walk(m.net, func(l Layer) {
		switch l := l.(type) {
		case *Flatten:
			flat = l.in
		case *Conv2D:
			out = append(out, tensorsOf(l, nil, 3, 2, 0, 1)...)
		case *Linear, *Projection:
			if view := flat; len(view) == 3 {
				out = append(out, tensorsOf(l, view, 3, 2, 0, 1)...)
			} else {
				out = append(out, tensorsOf(l, nil, 1, 0)...)
			}
			flat = nil
		default:
			out = append(out, tensorsOf(l, nil)...)
		}
	})
	return out
}

// tensorsOf are the tensors of l. Those of as many axes as axes has change their order,
// once the first of them is seen as one of shape first, where that is not nil.
func tensorsOf(l Layer, first []int, axes ...int) []TorchTensor {
	var out []TorchTensor
	for _, p := range l.Params() {
		t := TorchTensor{Name: p.Name, Here: p.Value.Shape, Shape: p.Value.Shape, View: p.Value.Shape}
		if first != nil && len(t.Here) == 2 {
			t.View = append(append([]int(nil), first...), t.Here[1])
		}
		if len(axes) > 0 && len(t.View) == len(axes) {
			t.Axes, t.Shape = axes, nil
			for _, a := range axes {
				t.Shape = append(t.Shape, t.View[a])
			}
			if first != nil {
				t.Shape = []int{t.Here[1], t.Here[0]}
			}
		}
		out = append(out, t)
	}
	return out
}
