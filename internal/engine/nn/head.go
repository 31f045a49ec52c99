package nn

import (
	"cmp"
	"fmt"
)

// headLayers returns what turns the last map, of that many channels, into the
// embedding, as s.Pool and s.Head say (empty: avg and linear), and fills in
// s.Embedding: 512 where a linear layer makes it, else the number of features.
func headLayers(s *Spec, features int) ([]Layer, error) {
	pool, head := cmp.Or(s.Pool, "avg"), cmp.Or(s.Head, "linear")
	if err := choose("pool", &pool, "", "avg", "max", "avg+max"); err != nil {
		return nil, err
	}
	if err := choose("head", &head, "", "linear", "layernorm", "layernorm-linear", "none"); err != nil {
		return nil, err
	}
	layers := []Layer{NewGlobalPool(pool)}
	if head == "layernorm" || head == "layernorm-linear" {
		layers = append(layers, NewLayerNorm("layernorm", LayerNormEps, false))
	}
	if head == "linear" || head == "layernorm-linear" {
		s.Embedding = cmp.Or(s.Embedding, 512)
		return append(layers, NewLinear("fc", s.Embedding, true)), nil
	}
	if s.Embedding != 0 && s.Embedding != features {
		return nil, fmt.Errorf("head %s gives the %d features as they are, not an embedding of %d: set embedding to 0 or %d, or head to linear", head, features, s.Embedding, features)
	}
	s.Embedding = features
	return layers, nil
}
