package embed

import (
	"context"
	"fmt"
	"slices"

	"tercet/internal/data"
	"tercet/internal/metric"
)

// Retrieve is metric.Retrieve of the embeddings of a set whose items have roles: queries
// are searched for in the gallery, which has not themselves nor their sequence. Queries
// and neighbors of the result are items of the set. Without roles, nil, each item is
// searched for among all others.
func Retrieve(ctx context.Context, v data.Embeddings, roles *data.Roles, o metric.RetrievalOptions) (*metric.Retrieval, error) {
	if roles == nil {
		return metric.Retrieve(ctx, v.X, v.N, v.D, v.Labels, o)
	}
	q, g, e, err := sides(v, roles)
	if err != nil {
		return nil, err
	}
	o.Gallery, o.GalleryLabels, o.Exclude = g.X, g.Labels, e
	ret, err := metric.Retrieve(ctx, q.X, q.N, q.D, q.Labels, o)
	if err != nil {
		return nil, err
	}
	for k, i := range ret.Query {
		ret.Query[k] = int32(roles.Query[i])
	}
	for k, i := range ret.Neighbors {
		if i >= 0 {
			ret.Neighbors[k] = int32(roles.Gallery[i])
		}
	}
	return ret, nil
}

// Verify is metric.Verify of the same embeddings: with roles its pairs are those of a query
// and what it is searched among.
func Verify(ctx context.Context, v data.Embeddings, roles *data.Roles, o metric.VerificationOptions) (*metric.Verification, error) {
	if roles == nil {
		return metric.Verify(ctx, v.X, v.N, v.D, v.Labels, o)
	}
	q, g, e, err := sides(v, roles)
	if err != nil {
		return nil, err
	}
	o.Gallery, o.GalleryLabels, o.Exclude = g.X, g.Labels, e
	return metric.Verify(ctx, q.X, q.N, q.D, q.Labels, o)
}

// QueryLabels are the labels of the queries, in the order in which metrics have them.
func QueryLabels(v data.Embeddings, roles *data.Roles) []int32 {
	if roles == nil {
		return v.Labels
	}
	return pick(v.Labels, roles.Query)
}

// sides are the queries, the gallery, and what each query is not compared with.
func sides(v data.Embeddings, roles *data.Roles) (q, g data.Embeddings, e *metric.Exclusion, err error) {
	if len(roles.Query) == 0 || len(roles.Gallery) == 0 {
		return q, g, nil, fmt.Errorf("%w: %d queries and %d images in the gallery; both are needed", data.ErrUnfit, len(roles.Query), len(roles.Gallery))
	}
	q, g = rowsOf(v, roles.Query), rowsOf(v, roles.Gallery)
	e = &metric.Exclusion{Own: make([]int32, q.N), Query: pick(roles.Sequence, roles.Query), Gallery: pick(roles.Sequence, roles.Gallery)}
	for k, i := range roles.Query {
		at, there := slices.BinarySearch(roles.Gallery, i)
		if e.Own[k] = int32(at); !there {
			e.Own[k] = -1
		}
	}
	return q, g, e, nil
}

// rowsOf are the embeddings of some items.
func rowsOf(v data.Embeddings, items []int) data.Embeddings {
	out := data.Embeddings{X: make([]float32, 0, len(items)*v.D), N: len(items), D: v.D, Labels: pick(v.Labels, items)}
	for _, i := range items {
		out.X = append(out.X, v.X[i*v.D:(i+1)*v.D]...)
	}
	return out
}

func pick(x []int32, items []int) []int32 {
	out := make([]int32, len(items))
	for k, i := range items {
		out[k] = x[i]
	}
	return out
}
