package multicut

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// ExactOptions says how far Exact may go. The limits do not depend on the machine.
type ExactOptions struct {
	Nodes int64 // of branch and bound in all [100,000]
	Work  int64 // multiplications of the linear programmes, about [3e10: ten seconds to a minute]
	// Progress, where set, is called now and then with what is proven: the optimum is
	// not below lower, and a clustering of objective upper is known; nodes of branch and
	// bound were looked at.
	Progress func(lower, upper float64, nodes int64)
}

const (
	exactEdges   = 1 << 25 // of a graph
	exactLPEdges = 200_000 // of a core that is more than bounded
	exactPacked  = 1000    // of a core that is bounded first
	exactMatrix  = 8192    // nodes of a core that is bounded as a complete graph
)

// exactBudget is what is left of the limits.
type exactBudget struct{ nodes, work int64 }

// spent tells whether to stop; used is work that is not yet taken off.
func (b *exactBudget) spent(ctx context.Context, used int64) bool {
	return b.nodes <= 0 || used >= b.work || ctx.Err() != nil
}

// Exact finds a clustering of least objective and proves it.
//
// Rules that lose nothing make the graph smaller and part it (see newPiece). What is
// left is solved by branch and cut on conflicted cycles (Kappes et al. 2011; Lange,
// Karrenbauer and Andres 2018) with Chvatal-Gomory cuts; greedy contraction and
// Kernighan-Lin with joins find the clusterings. Graphs of a few thousand nodes with a
// few edges each take a second, complete graphs of some hundred nodes too where the
// clusters stand apart; where costs are noise alone, 20 nodes do and 30 are too many.
//
// Result.Proven says whether the proof was finished: no clustering costs less. Unless
// all costs are multiples of one number, +1 and -1 say, this is meant up to 1e-9 of the
// sum of |cost|. A
// limit ends the search without an error: the best clustering and bound so far are
// returned, with a warning. So they are where ctx is done, with its error. An edge of
// cost 0 counts as absent.
//
// Errors: more than 33 million edges; a negative limit.
func Exact(ctx context.Context, c Costs, o ExactOptions) (*Result, Bound, error) {
	const solver = "exact"
	n := c.Nodes()
	count := n * (n - 1) / 2
	if g, ok := c.(*Graph); ok {
		count = g.Edges()
	}
	switch {
	case count > exactEdges:
		return nil, Bound{}, fmt.Errorf("%s: %w: %d edges; at most %d can be held: use another solver", solver, ErrInput, count, exactEdges)
	case o.Nodes < 0 || o.Work < 0:
		return nil, Bound{}, fmt.Errorf("%s: %w: limits of %d nodes and %d multiplications: neither can be negative", solver, ErrInput, o.Nodes, o.Work)
	}
	limit := cmp.Or(o.Nodes, 100_000)
	budget := &exactBudget{limit, cmp.Or(o.Work, 30_000_000_000)}

	edges := make([]Edge, 0, count)
	var sum costSum
	c.Each(func(i, j int32, cost float64) {
		sum.add(cost)
		edges = append(edges, Edge{i, j, cost})
	})
	var cores []*exactCore
	piece := newPiece(n, edges, func(c *exactCore) { cores = append(cores, c) })
	edges = nil
	constant := piece.total()
	report := func() {
		if o.Progress == nil {
			return
		}
		lower, upper := constant, constant
		for _, core := range cores {
			lower += core.lower
			upper += core.upper
		}
		o.Progress(lower, upper, limit-budget.nodes)
	}
	// Small ones first: what is proven early stays proven.
	slices.SortStableFunc(cores, func(a, b *exactCore) int { return cmp.Compare(len(a.edges), len(b.edges)) })
	for _, core := range cores {
		if core.grain() == 0 {
			core.slip = 1e-9 * sum.size / float64(len(cores))
		}
		core.improve(ctx, nil)
		core.pack(ctx)
	}
	report()
	for _, core := range cores {
		core.solve(ctx, budget, report)
	}

	r := newResult(solver, c, piece.labels())
	r.Proven = true
	lower := constant
	for _, core := range cores {
		lower += core.lower
		r.Proven = r.Proven && core.proven()
	}
	bound := Bound{Value: min(sum.raise(lower-sum.margin()), r.Objective), Method: "branch and bound", Margin: sum.margin()}
	if !r.Proven {
		bound.Method = "unfinished branch and bound"
		r.Warnings = append(r.Warnings, fmt.Sprintf("not proven: the search stopped at a gap of %.3g %%", 100*Gap(r.Objective, bound.Value)))
	}
	return r, bound, ctx.Err()
}

// solve proves the core, as far as the budget goes.
func (c *exactCore) solve(ctx context.Context, budget *exactBudget, report func()) {
	if c.proven() || budget.spent(ctx, 0) {
		return
	}
	if len(c.edges) > exactLPEdges {
		return
	}
	b := &branching{exactCore: c, ctx: ctx, budget: budget, report: report}
	b.run()
}

// total returns the part of the objective that no choice is left about.
func (p *exactPiece) total() float64 {
	t := p.constant
	for _, b := range p.blocks {
		if b.piece != nil {
			t += b.piece.total()
		}
	}
	return t
}
