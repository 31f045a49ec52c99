package nn

import "cmp"

// mlp is the network of DIBS (Fonseca & Guidetti): exactly three weight layers
// d - w - w - w with biases, the last of which is the embedding; ReLU after the
// first two. 784-200-200-200 has the paper's 237,400 parameters. The paper's
// runs use the initialiser xavier-uniform.
func mlp(s *Spec) ([]Layer, error) {
	s.Units = cmp.Or(s.Units, 200)
	s.Embedding = cmp.Or(s.Embedding, s.Units)
	return []Layer{
		NewFlatten("flatten"),
		NewLinear("fc1", s.Units, true), NewReLU("relu1"),
		NewLinear("fc2", s.Units, true), NewReLU("relu2"),
		NewLinear("fc3", s.Embedding, true),
	}, nil
}
