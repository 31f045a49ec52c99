package multicut

import (
	"context"
	"fmt"
)

// GAEC clusters by greedy additive edge contraction (Keuper et al. 2015,
// "Efficient decomposition of image and mesh graphs by lifted multicuts"): every
// node begins as a cluster; the two clusters with the largest positive cost between
// them are joined, parallel edges add up, until no cost is positive.
//
// An edge of cost 0 is not contracted: it is worth as much as an absent one. Equal
// costs go to the pair whose first edge (i, j), i < j, comes first by (i, j).
//
// A *Graph of m edges takes O(m log^2 n) time at most and O(m) memory; complete
// graphs take O(n^2) to O(n^3) time, in practice near the former, and 4 n^2 bytes
// beyond their own.
//
// Errors: a complete graph too large for memory, a canceled ctx.
func GAEC(ctx context.Context, c Costs) (*Result, error) {
	return contract(ctx, c, "gaec", sumRule)
}

// rule is what the greedy solvers differ in.
type rule int

const (
	sumRule      rule = iota // GAEC: costs between clusters add up, the largest is next
	balancedRule             // costs add up, the largest for the number of nodes is next
	fixationRule             // costs add up, the largest in magnitude is next; where it is negative, the two are never joined
	mutexRule                // of parallel costs the largest in magnitude holds
)

// contract joins clusters by the rule on the graph that fits c.
func contract(ctx context.Context, c Costs, solver string, r rule) (*Result, error) {
	var labels []int32
	var err error
	switch g, sparse := c.(*Graph); {
	case sparse && r == mutexRule:
		labels, err = mutexSparse(ctx, g)
	case sparse && !(g.complete() && triangleBytes(g.n) <= maxTriangle):
		labels, err = contractSparse(ctx, g, r)
	default:
		labels, err = contractDense(ctx, c, r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", solver, err)
	}
	return NewResult(solver, c, labels), nil
}

// mergedLabels turns root, where each node names a node of its cluster that is not
// above it (itself where it is the first), into labels in place.
func mergedLabels(root []int32) []int32 {
	for i, r := range root {
		root[i] = root[r]
	}
	return root
}
