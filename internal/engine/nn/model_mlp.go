package nn

import (
	"cmp"

	"tercet/internal/component"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "mlp", Doc: "three linear layers (DIBS)", Defaults: MLPKeys{Width: 200}})
	Family.Register(component.Component[Keys]{Name: "linear", Doc: "one linear map of the pixels", Defaults: LinearKeys{}, Preset: map[string]any{"embedding": 64}})
}

// MLPKeys are the keys of mlp. An embedding of 0 is the width.
type MLPKeys struct {
	Width int `yaml:"width" check:">=1,<=65536" doc:"units of a hidden layer"`
	// FinalReLU reads "3 hidden layers with ReLU" of the paper literally.
	FinalReLU bool `yaml:"final_relu" doc:"ReLU after the last layer too; a cosine of such embeddings is never negative"`
}

func (MLPKeys) options() []string { return []string{"units", "final_relu"} }

// Set implements Setter.
func (k MLPKeys) Set(s *Spec) { s.Units, s.FinalReLU = k.Width, k.FinalReLU }

// layers returns the network of DIBS (Fonseca & Guidetti): exactly three weight layers
// d - w - w - w with biases, the last of which is the embedding; ReLU after the
// first two, and after the third with FinalReLU. 784-200-200-200 has the paper's 237,400 parameters. The paper's
// runs use the initializer xavier-uniform.
func (MLPKeys) layers(s *Spec) ([]Layer, error) {
	s.Units = cmp.Or(s.Units, 200)
	s.Embedding = cmp.Or(s.Embedding, s.Units)
	layers := []Layer{
		NewFlatten("flatten"),
		NewLinear("fc1", s.Units, true), NewReLU("relu1"),
		NewLinear("fc2", s.Units, true), NewReLU("relu2"),
		NewLinear("fc3", s.Embedding, true),
	}
	if s.FinalReLU {
		layers = append(layers, NewReLU("relu3"))
	}
	return layers, nil
}

// LinearKeys are the keys of linear: none.
type LinearKeys struct{}

func (LinearKeys) options() []string { return nil }

// layers returns one linear map of the flattened image without bias, z = x W: the
// squared distance of embeddings is Mahalanobis', (x-y)^T W W^T (x-y). It is the
// model of linear metric learning.
func (LinearKeys) layers(s *Spec) ([]Layer, error) {
	s.Embedding = cmp.Or(s.Embedding, 128)
	return []Layer{NewFlatten("flatten"), NewLinear("embed", s.Embedding, false)}, nil
}
