package exact

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tercet/internal/cluster/multicut"
)

// Options says how far Exact may go. The limits do not depend on the machine.
type Options struct {
	Nodes int64 // of branch and bound in all [100,000]
	Work  int64 // multiplications of the linear programs, about [3e10: ten seconds to a minute]
	// Progress, where set, is called now and then with what is proven: the optimum is
	// not below lower, and a clustering of objective upper is known; nodes of branch and
	// bound were looked at.
	Progress func(lower, upper float64, nodes int64)
}

const (
	edges   = 1 << 25 // of a graph
	lpEdges = 200_000 // of a core that is more than bounded
	packed  = 1000    // of a core that is bounded first
	matrix  = 8192    // nodes of a core that is bounded as a complete graph
)

// budget is what is left of the limits.
type budget struct{ nodes, work int64 }

// spent reports whether to stop; used is work that is not yet taken off.
func (b *budget) spent(ctx context.Context, used int64) bool {
	return b.nodes <= 0 || used >= b.work || ctx.Err() != nil
}

// Solve finds a clustering of least objective and proves it.
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
func Solve(ctx context.Context, c multicut.Costs, o Options) (*multicut.Result, multicut.Bound, error) {
	const solver = "exact"
	n := c.Nodes()
	count := int64(n) * int64(n-1) / 2
	if g, ok := c.(*multicut.Graph); ok {
		count = int64(g.Edges())
	}
	switch {
	case count > edges:
		return nil, multicut.Bound{}, fmt.Errorf("%s: %w: %d edges; at most %d can be held: use another solver", solver, multicut.ErrInput, count, edges)
	case o.Nodes < 0 || o.Work < 0:
		return nil, multicut.Bound{}, fmt.Errorf("%s: %w: limits of %d nodes and %d multiplications: both must be non-negative", solver, multicut.ErrInput, o.Nodes, o.Work)
	}
	limit := cmp.Or(o.Nodes, 100_000)
	budget := &budget{limit, cmp.Or(o.Work, 30_000_000_000)}

	edges := make([]multicut.Edge, 0, count)
	var sum multicut.CostSum
	c.Each(func(i, j int32, cost float64) {
		sum.Add(cost)
		edges = append(edges, multicut.Edge{I: i, J: j, Cost: cost})
	})
	var cores []*core
	piece := newPiece(n, edges, func(c *core) { cores = append(cores, c) })
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
	slices.SortStableFunc(cores, func(a, b *core) int { return cmp.Compare(len(a.edges), len(b.edges)) })
	for _, core := range cores {
		if core.grain() == 0 {
			core.slip = 1e-9 * sum.Size / float64(len(cores))
		}
		core.improve(ctx, nil)
		core.pack(ctx)
	}
	report()
	for _, core := range cores {
		core.solve(ctx, budget, report)
	}

	r := multicut.NewResult(solver, c, piece.labels())
	r.Proven = true
	lower := constant
	for _, core := range cores {
		lower += core.lower
		r.Proven = r.Proven && core.proven()
	}
	bound := multicut.Bound{Value: min(sum.Raise(lower-sum.Margin()), r.Objective), Method: "branch and bound", Margin: sum.Margin()}
	if !r.Proven {
		bound.Method = "unfinished branch and bound"
		r.Warnings = append(r.Warnings, fmt.Sprintf("not proven: the search stopped at a gap of %.3g %%", 100*multicut.Gap(r.Objective, bound.Value)))
	}
	return r, bound, ctx.Err()
}

// solve proves the core, as far as the budget goes.
func (c *core) solve(ctx context.Context, budget *budget, report func()) {
	if c.proven() || budget.spent(ctx, 0) {
		return
	}
	if len(c.edges) > lpEdges {
		return
	}
	b := &branching{core: c, ctx: ctx, budget: budget, report: report}
	b.run()
}

// total returns the part of the objective that no choice is left about.
func (p *piece) total() float64 {
	t := p.constant
	for _, b := range p.blocks {
		if b.piece != nil {
			t += b.piece.total()
		}
	}
	return t
}
