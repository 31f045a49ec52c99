package nn

import (
	"cmp"

	"tercet/internal/component"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "small", Doc: "two convolutions without pooling, a hidden linear layer of 100, D = 64 (interval bounds)", Defaults: SmallKeys{}, Preset: map[string]any{"embedding": 64}})
}

// SmallKeys are the keys of small: none.
type SmallKeys struct{}

func (SmallKeys) options() []string { return nil }

// layers returns the small network of Gowal et al. (2018, arXiv 1810.12715): conv4x4 16
// with stride 2, ReLU, conv4x4 32, ReLU, FC 100, ReLU, and the embedding. Strides take the
// place of pooling, which widens intervals.
func (SmallKeys) layers(s *Spec) ([]Layer, error) {
	s.Embedding = cmp.Or(s.Embedding, 64)
	return []Layer{
		NewConv2D("conv1", 16, 4, 2, 0, true), NewReLU("relu1"),
		NewConv2D("conv2", 32, 4, 1, 0, true), NewReLU("relu2"),
		NewFlatten("flatten"),
		NewLinear("fc1", 100, true), NewReLU("relu3"),
		NewLinear("fc2", s.Embedding, true),
	}, nil
}
