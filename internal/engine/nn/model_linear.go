package nn

import (
	"cmp"

	"tercet/internal/component"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "linear", Doc: "one linear map of the pixels", Defaults: LinearKeys{}, Preset: map[string]any{"embedding": 64}})
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
