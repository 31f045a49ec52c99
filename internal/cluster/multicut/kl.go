package multicut

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// KLOptions sets KernighanLin. Zero values mean the defaults in brackets.
type KLOptions struct {
	Outer    int     // rounds over all pairs of clusters until nothing changes, at most [100]
	Epsilon  float64 // a change counts where it lowers the objective by more [1e-11 of the largest sum of |cost| at a node]
	Restarts int     // times that two clusters are mixed at random and all is improved again, what is better being kept [0]
	Seed     uint64  // of the restarts
	// Progress, where set, is called after each round with the least objective so far.
	Progress func(round int, objective float64)
}

// KernighanLin improves a clustering by Kernighan-Lin with joins (Keuper et al.
// 2015, algorithm 2). start gives n labels, any numbers; nil stands for GAEC's
// clusters.
//
// For two clusters with an edge between them, or one and an empty one, it moves
// node after node to the other side, the node of best gain first whether it lowers
// the objective or not, each once; of this chain it keeps the beginning that
// lowers the objective most, or joins the two where that is better. Rounds over all
// such pairs end when a whole round has changed nothing: no move of one node to
// another cluster or to its own, no join and no such chain then lowers the
// objective. A pair is looked at again exactly when one of its clusters has changed.
// The objective is never above that of start. Clusters that are not connected by
// edges (of a cost other than 0) come apart, which costs nothing. Restarts leave such
// a local optimum: some tens lower the objective of hard graphs by a few percent.
//
// A round takes O(n^2) on complete graphs where clusters are of like size; beyond
// the graph memory is O(n) there and O(n+m) on sparse graphs.
//
// Errors: labels that are not n, a complete graph too large for memory, a canceled
// ctx. Rounds that did not suffice are a warning.
func KernighanLin(ctx context.Context, c Costs, start []int32, o KLOptions) (*Result, error) {
	const solver = "kernighan-lin"
	if start != nil && len(start) != c.Nodes() {
		return nil, fmt.Errorf("%s: %w: %d labels for %d nodes", solver, ErrInput, len(start), c.Nodes())
	}
	if o.Outer < 0 || o.Restarts < 0 || !(o.Epsilon >= 0) || math.IsInf(o.Epsilon, 1) {
		return nil, fmt.Errorf("%s: %w: %d rounds, %d restarts, epsilon %v: all must be non-negative and finite", solver, ErrInput, o.Outer, o.Restarts, o.Epsilon)
	}
	if o.Outer == 0 {
		o.Outer = 100
	}
	if start == nil {
		first, err := GAEC(ctx, c)
		if err != nil {
			return nil, err
		}
		start = first.Labels
	}
	var g klGraph
	p := newKLClusters(start)
	switch c := c.(type) {
	case *Graph:
		if n := c.n; c.complete() && int64(n)*int64(n)*8 <= maxTriangle {
			g = newKLDense(n, c.matrix(), p)
		} else {
			g = newKLSparse(c, p)
		}
	default:
		d, err := asDense(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", solver, err)
		}
		g = newKLDense(d.N, d.Cost, p)
	}
	k := &klSearch{g: g, p: p, o: o}
	singletons := make([]int32, len(start))
	for i := range singletons {
		singletons[i] = int32(i)
	}
	k.total = c.Objective(singletons)
	converged, err := k.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", solver, err)
	}
	res := NewResult(solver, c, p.label)
	if unchanged := NewResult(solver, c, slices.Clone(start)); unchanged.Objective < res.Objective { // by rounding
		res = unchanged
	}
	res.Rounds = k.round
	if !converged {
		res.Warnings = append(res.Warnings, fmt.Sprintf("Kernighan-Lin was still improving after %d rounds", k.round))
	}
	return res, nil
}

// asDense returns the matrix of a complete graph.
func asDense(c Costs) (*Dense, error) {
	n := c.Nodes()
	switch c := c.(type) {
	case *Dense:
		return c, nil
	case interface {
		Dense(limit int64) (*Dense, error)
	}:
		return c.Dense(maxTriangle)
	}
	if int64(n)*int64(n)*4 > maxTriangle {
		return nil, errTooLarge(n)
	}
	d := &Dense{n, make([]float32, n*n)}
	c.Each(func(i, j int32, cost float64) {
		d.Cost[int(i)*n+int(j)], d.Cost[int(j)*n+int(i)] = float32(cost), float32(cost)
	})
	return d, nil
}
