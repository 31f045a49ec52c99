package search

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/data/fault"
	"tercet/internal/embed/store"
	"tercet/internal/metric"
	"tercet/internal/progress"
	"tercet/internal/record"
)

// Options say what is looked for.
type Options struct {
	K           int
	Exclude     string   // "", "self", "path" or "sequence"
	MaxDistance *float64 // nothing farther is found; nil for no limit
	AnyNetwork  bool     // search also where the networks differ
}

// Result is what the queries found: K items of the gallery each, nearest first, by Euclidean
// distance in float64; items equally far are in the order of the gallery. Index is -1, and
// Distance +Inf, where there are fewer.
type Result struct {
	Queries, Gallery *store.Folder
	K                int
	Index            []int32   // (queries, K)
	Distance         []float64 // (queries, K)
}

// Search looks for the nearest items of g for each of q. It is exact.
//
// Errors wrap fault.ErrUnfit where distances between the two mean nothing.
func Search(ctx context.Context, q, g *store.Folder, o Options, say progress.Say) (*Result, error) {
	if what := q.Doc.Network.Unlike(g.Doc.Network); what != "" && (!o.AnyNetwork || q.D != g.D) {
		return nil, fault.Unfit("the queries and the gallery are not of one network, so that distances between them mean nothing: %s; embed both by one", what)
	}
	k := min(o.K, g.N)
	t, err := metric.Neighbors(ctx, q.X, q.N, q.D, metric.NeighborOptions{
		K: k, Gallery: g.X, Exclude: exclusion(q, g, o.Exclude), Progress: say.Of("search"),
	})
	if err != nil {
		return nil, err
	}
	r := &Result{Queries: q, Gallery: g, K: o.K, Index: make([]int32, q.N*o.K), Distance: make([]float64, q.N*o.K)}
	for i := range r.Index {
		r.Index[i], r.Distance[i] = -1, math.Inf(1)
		if row, rank := i/o.K, i%o.K; rank < k {
			d := t.Distance[row*k+rank]
			if o.MaxDistance == nil || d <= *o.MaxDistance {
				r.Index[i], r.Distance[i] = t.Index[row*k+rank], d
			}
		}
	}
	return r, nil
}

// exclusion says which items do not count for a query: those of its path and box, of its
// path, or of its sequence (and itself).
func exclusion(q, g *store.Folder, kind string) *metric.Exclusion {
	if kind == "" {
		return nil
	}
	e := &metric.Exclusion{}
	ids := map[string]int32{}
	groups := func(f *store.Folder) []int32 {
		out := make([]int32, len(f.Items))
		for i, it := range f.Items {
			id := f.Place(i)
			switch {
			case kind == "self" || kind == "sequence" && it.Sequence == "":
				id = fmt.Sprint(id, " ", it.Box)
			case kind == "sequence":
				id = "sequence " + it.Sequence
			}
			k, ok := ids[id]
			if !ok {
				k = int32(len(ids))
				ids[id] = k
			}
			out[i] = k
		}
		return out
	}
	e.Query, e.Gallery = groups(q), groups(g)
	return e
}

// Each calls f with what was found, query by query, nearest first.
func (r *Result) Each(f func(record.Found) error) error {
	for i, j := range r.Index {
		if j < 0 {
			continue
		}
		q := i / r.K
		to := r.Gallery.Items[j]
		if err := f(record.Found{Query: q, QueryPath: r.Queries.Items[q].Path, Rank: i%r.K + 1, Item: int(j), Path: to.Path, Distance: r.Distance[i], Label: to.Label}); err != nil {
			return err
		}
	}
	return nil
}

// Title says what was searched.
func (r *Result) Title() string {
	return fmt.Sprintf("%s: the nearest images of %s", r.Queries.Dir, r.Gallery.Dir)
}

// Document is what the command prints, with or without what was found.
func (r *Result) Document(all bool) *record.Search {
	d := &record.Search{Schema: record.SearchSchema, Queries: r.Queries.Dir, Gallery: r.Gallery.Dir, K: r.K, QueryCount: r.Queries.N, GalleryCount: r.Gallery.N}
	for _, j := range r.Index {
		if j >= 0 {
			d.Count++
		}
	}
	if all {
		_ = r.Each(func(f record.Found) error { d.Found = append(d.Found, f); return nil }) // which returns no error
	}
	return d
}
