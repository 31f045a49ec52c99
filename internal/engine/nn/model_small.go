package nn

import (
	"cmp"

	"tercet/internal/component"
)

// The networks of two convolutions and two or three linear layers, which have no options.
func init() {
	Family.Register(component.Component[Keys]{Name: "lenet", Doc: "two convolutions, two linear layers, D = 128", Defaults: LeNetKeys{}, Preset: map[string]any{"embedding": 128}})
	Family.Register(component.Component[Keys]{Name: "c2f2", Doc: "two convolutions, two linear layers, D = 512", Defaults: C2F2Keys{}, Preset: map[string]any{"embedding": 512}})
	Family.Register(component.Component[Keys]{Name: "small", Doc: "two convolutions without pooling, a hidden linear layer of 100, D = 64 (interval bounds)", Defaults: SmallKeys{}, Preset: map[string]any{"embedding": 64}})
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
