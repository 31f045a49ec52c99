package theory

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/cluster/multicut"
	"tercet/internal/cluster/multicut/exact"
	"tercet/internal/data/batch"
	"tercet/internal/noise"
	"tercet/internal/record"
)

// FloorLimits bound the search of a graph's best partition; 0 is a default, see
// multicut.ExactOptions.
type FloorLimits struct{ Nodes, Work int64 }

// Floor finds the least errors that a partition of the items makes on labeled pairs:
// a pair is in error where it is similar and cut, or different and not cut. This is
// the minimum cost multicut of the graph whose edges cost #similar - #different, for
// all pairs of the two nodes. With D different pairs in all,
//
//	errors = objective + D,
//
// since each cut different pair takes 1 off D; of a node pair that carries both
// labels the rarer ones are an error in any case, cut or not.
//
// Where a limit ends the search, Lower is below Errors and Proven false. Where ctx is
// done, its error comes with what is known. Errors: no pairs; a pair of an item with
// itself; a negative limit.
func Floor(ctx context.Context, pairs []batch.Pair, limits FloorLimits) (record.GraphFloor, error) {
	if len(pairs) == 0 {
		return record.GraphFloor{}, fmt.Errorf("%w: there are no pairs", ErrInput)
	}
	node := map[int32]int32{}
	number := func(item int32) int32 {
		n, known := node[item]
		if !known {
			n = int32(len(node))
			node[item] = n
		}
		return n
	}
	edges := make([]multicut.Edge, len(pairs))
	different := 0
	for k, p := range pairs {
		if p.I == p.J {
			return record.GraphFloor{}, fmt.Errorf("%w: pair %d is item %d with itself", ErrInput, k, p.I)
		}
		cost := 1.0
		if !p.Similar {
			cost = -1
			different++
		}
		edges[k] = multicut.Edge{I: number(p.I), J: number(p.J), Cost: cost}
	}
	g, err := multicut.NewGraph(len(node), edges)
	if err != nil {
		return record.GraphFloor{}, err
	}
	r, bound, err := exact.Solve(ctx, g, exact.Options{Nodes: limits.Nodes, Work: limits.Work})
	if r == nil {
		return record.GraphFloor{}, err
	}
	f := record.GraphFloor{
		Duplicates: noise.FloorDuplicates(pairs),
		Errors:     different + int(math.Round(r.Objective)),
		Lower:      different + int(math.Ceil(bound.Value-1e-6)),
		Clusters:   len(r.Sizes),
	}
	// Every duplicate costs its error in any partition.
	f.Lower = max(f.Lower, f.Duplicates)
	f.Proven = f.Lower >= f.Errors
	return f, err
}
