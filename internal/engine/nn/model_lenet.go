package nn

import (
	"cmp"

	"tercet/internal/component"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "lenet", Doc: "two convolutions, two linear layers, D = 128", Defaults: LeNetKeys{}, Preset: map[string]any{"embedding": 128}})
}

// LeNetKeys are the keys of lenet: none.
type LeNetKeys struct{}

func (LeNetKeys) options() []string { return nil }

// layers returns robrank's rlenet: conv5x5 1-20, pool2, conv5x5 20-50, pool2 (no ReLU
// after the convolutions), FC 800-500, ReLU, FC 500-128. The FC input follows
// the image size.
func (LeNetKeys) layers(s *Spec) ([]Layer, error) {
	s.Embedding = cmp.Or(s.Embedding, 128)
	return []Layer{
		NewConv2D("conv1", 20, 5, 1, 0, true), NewMaxPool("pool1", 2, 2, 0),
		NewConv2D("conv2", 50, 5, 1, 0, true), NewMaxPool("pool2", 2, 2, 0),
		NewFlatten("flatten"),
		NewLinear("fc1", 500, true), NewReLU("relu"),
		NewLinear("fc2", s.Embedding, true),
	}, nil
}
