package cluster

import (
	"context"
	"fmt"
	"slices"
	"tercet/internal/metric"
)

// KChoice is the result of ChooseK.
type KChoice struct {
	K          int // of the largest silhouette, the least of equals
	Best       *KMeansResult
	Ks         []int     // tried, ascending
	Silhouette []float64 // of each
	Inertia    []float64 // of each
}

// ChooseK clusters the n rows of x by k-means with each number of clusters in ks, and
// keeps the one whose mean silhouette is largest (Rousseeuw 1987), the least of equals.
// o says how; its K is not used. Silhouettes are those of Silhouette over sample rows
// (0: all), the same rows for each k; where o.Spherical, of the rows' directions.
//
// Errors: those of KMeans and Silhouette; no k, or one outside 2..n-1; fewer distinct
// rows than two.
func ChooseK(ctx context.Context, x []float32, n, d int, ks []int, o KMeansOptions, sample int) (*KChoice, error) {
	if err := metric.CheckMatrix(ErrInput, "rows", x, n, d); err != nil {
		return nil, err
	}
	if len(ks) == 0 {
		return nil, fmt.Errorf("%w: no numbers of clusters to choose from", ErrInput)
	}
	ks = slices.Clone(ks)
	slices.Sort(ks)
	ks = slices.Compact(ks)
	if ks[0] < 2 || ks[len(ks)-1] >= n {
		return nil, fmt.Errorf("%w: numbers of clusters %d to %d of %d rows: the silhouette is defined for 2 to %d", ErrInput, ks[0], ks[len(ks)-1], n, n-1)
	}
	measured := x
	if o.Spherical {
		f, err := unitFrame(x, n, d)
		if err != nil {
			return nil, err
		}
		measured = f.all(x, n).x
	}
	c := &KChoice{Ks: ks}
	for i, k := range ks {
		o.K = k
		r, err := KMeans(ctx, x, n, d, o)
		if err != nil {
			return nil, fmt.Errorf("choosing k, at %d: %w", k, err)
		}
		s, err := Silhouette(ctx, measured, n, d, r.Labels, sample, o.Seed)
		if err != nil {
			return nil, fmt.Errorf("choosing k, at %d: %w", k, err)
		}
		c.Silhouette, c.Inertia = append(c.Silhouette, s), append(c.Inertia, r.Inertia)
		if i == 0 || s > c.Silhouette[slices.Index(ks, c.K)] {
			c.K, c.Best = k, r
		}
	}
	return c, nil
}
