package density

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/cluster"
	"tercet/internal/metric"
	"tercet/internal/progress"
	"tercet/internal/text"
)

// Options sets HDBSCAN. Zero values mean the defaults in brackets.
type Options struct {
	MinClusterSize int     // rows that a cluster has at least, 2 or more [5]
	MinSamples     int     // rows, itself counted, within a row's core distance, 1 to n [MinClusterSize, at most n]
	Selection      string  // "eom", excess of mass, or "leaf" [eom]
	Epsilon        float64 // clusters that split off below this distance are not split [0: off]
	Progress       progress.Count
}

// Result is the result of HDBSCAN.
type Result struct {
	Labels        []int32   // n numbers by decreasing size, equal sizes by their first row; -1 is noise
	Probabilities []float64 // of each row: how long it stays in its cluster, as a share of the longest; 0 for noise
	Sizes         []int
	Noise         int // rows without a cluster
	Warnings      []string
}

// HDBSCAN finds clusters of any number and density among the n rows of x, d numbers
// each, and leaves rows in thin places out as noise (Campello, Moulavi and Sander 2013).
//
// A row's core distance is that to its MinSamples-th nearest row, itself counted; two
// rows are connected at the largest of their distance and core distances. As that
// level falls, components split: a part with fewer than MinClusterSize rows falls out,
// two or more larger parts are new clusters. Edges of one length go at the same time,
// as in the paper: the tree, and so the result, does not depend on an order of equal
// edges. Of the tree's clusters "eom" takes those, none within another, with the
// largest sum of stabilities, "leaf" the smallest; with Epsilon, one that split off
// below it gives way to the first above it that did not (Malzer and Baum 2020). The
// whole is never a cluster.
//
// Equal rows stay together at all levels: where the longest stay would be infinite,
// probabilities are shares of the longest finite one, and 1 where it is infinite.
//
// Distances are float64. The result has the same bits for any number of threads. It
// takes O(n^2 d) time and O(n (d + MinSamples)) memory.
//
// Errors: sizes that do not fit, NaN or infinity (by row and column), options out of
// their range, a canceled ctx. Only noise is a warning.
func HDBSCAN(ctx context.Context, x []float32, n, d int, o Options) (*Result, error) {
	if err := metric.CheckMatrix(cluster.ErrInput, "rows", x, n, d); err != nil {
		return nil, err
	}
	if err := o.fill(n); err != nil {
		return nil, err
	}
	core, err := coreDistances(ctx, x, n, d, o.MinSamples)
	if err != nil {
		return nil, err
	}
	edges, err := spanningTree(ctx, x, n, d, core, o.Progress)
	if err != nil {
		return nil, err
	}
	t := condense(newLevels(edges, n), o.MinClusterSize)
	chosen := t.leaves()
	if o.Selection == "eom" {
		chosen = t.excessOfMass()
	}
	if o.Epsilon > 0 {
		chosen = t.above(chosen, o.Epsilon)
	}
	r := t.result(chosen)
	if len(r.Sizes) == 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("all is noise: %s do not split into clusters of %d or more", text.Count(n, "row"), o.MinClusterSize))
	}
	return r, nil
}

func (o *Options) fill(n int) error {
	if o.MinClusterSize == 0 {
		o.MinClusterSize = 5
	}
	if o.MinSamples == 0 {
		o.MinSamples = min(max(1, o.MinClusterSize), n)
	}
	if o.Selection == "" {
		o.Selection = "eom"
	}
	switch {
	case o.MinClusterSize < 2:
		return fmt.Errorf("clusters of at least %d rows: the least is 2", o.MinClusterSize)
	case o.MinSamples < 1 || o.MinSamples > n:
		return fmt.Errorf("%w: core distances to the row number %d of %d rows: choose 1 to %d", cluster.ErrInput, o.MinSamples, n, n)
	case o.Selection != "eom" && o.Selection != "leaf":
		return fmt.Errorf("selection %q: choose eom or leaf", o.Selection)
	case !(o.Epsilon >= 0) || math.IsInf(o.Epsilon, 1):
		return fmt.Errorf("epsilon %v: choose a distance, or 0 for none", o.Epsilon)
	}
	return nil
}

// coreDistances returns the squared distance of each row to its samples-th nearest,
// itself counted.
func coreDistances(ctx context.Context, x []float32, n, d, samples int) ([]float64, error) {
	core := make([]float64, n)
	if samples == 1 {
		return core, nil
	}
	k := samples - 1
	near, err := metric.Neighbors(ctx, x, n, d, metric.NeighborOptions{K: k})
	if err != nil {
		return nil, fmt.Errorf("core distances: %w", err)
	}
	for i := range core {
		last := int(near.Index[(i+1)*k-1])
		core[i] = squared(x, d, i, last)
	}
	return core, nil
}
