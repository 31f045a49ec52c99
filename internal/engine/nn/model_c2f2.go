package nn

import (
	"cmp"

	"tercet/internal/component"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "c2f2", Doc: "two convolutions, two linear layers, D = 512", Defaults: C2F2Keys{}, Preset: map[string]any{"embedding": 512}})
}

// C2F2Keys are the keys of c2f2: none.
type C2F2Keys struct{}

func (C2F2Keys) options() []string { return nil }

// layers returns robrank's rc2f2: conv5x5 1-32 pad 2, ReLU, pool2, conv5x5 32-64 pad 2,
// ReLU, pool2, FC 3136-1024, ReLU, FC 1024-512. The FC input follows the image
// size: 3136 on 28x28.
func (C2F2Keys) layers(s *Spec) ([]Layer, error) {
	s.Embedding = cmp.Or(s.Embedding, 512)
	return []Layer{
		NewConv2D("conv1", 32, 5, 1, 2, true), NewReLU("relu1"), NewMaxPool("pool1", 2, 2, 0),
		NewConv2D("conv2", 64, 5, 1, 2, true), NewReLU("relu2"), NewMaxPool("pool2", 2, 2, 0),
		NewFlatten("flatten"),
		NewLinear("fc1", 1024, true), NewReLU("relu3"),
		NewLinear("fc2", s.Embedding, true),
	}, nil
}
