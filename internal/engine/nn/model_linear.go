package nn

import "cmp"

// linear is one linear map of the flattened image without bias, z = x W: the
// squared distance of embeddings is Mahalanobis', (x-y)^T W W^T (x-y). It is the
// model of linear metric learning.
func linear(s *Spec) ([]Layer, error) {
	s.Embedding = cmp.Or(s.Embedding, 128)
	return []Layer{NewFlatten("flatten"), NewLinear("embed", s.Embedding, false)}, nil
}
