package exact

import (
	"context"
	"math"

	"tercet/internal/cluster/multicut"
	"tercet/internal/lp"
)

const (
	branchRounds = 50   // of cuts at the root
	branchFew    = 3    // of cuts at other nodes
	branchRows   = 2000 // and twice those kept last: more are purged of slack ones
	branchStall  = 4    // rounds of cuts in which the value does not grow
	branchSlice  = 2e8  // work between two looks at the context
	branchWhole  = 1e-6 // a variable this near an integer is one
	branchGrows  = 1e-3 // of the largest cost: a value that grows
)

// branchNode is a part of the core's clusterings: some edges are set.
type branchNode struct {
	bound  float64 // on the objective
	depth  int
	number int64
	parent *branchNode
	edge   int32 // set by this node, or -1
	value  float64
}

// before puts the lowest bound first, of equal ones the deepest.
func (a *branchNode) before(b *branchNode) bool {
	if a.bound != b.bound {
		return a.bound < b.bound
	}
	if a.depth != b.depth {
		return a.depth > b.depth
	}
	return a.number < b.number
}

// branching is a run of branch and cut on a core.
type branching struct {
	*core
	ctx    context.Context
	budget *budget
	open   heap[*branchNode]
	closed float64 // least bound of the nodes that are done
	fixed  []int32 // edges set in the program
	number int64
	kept   int // rows after the last purge
	report func()
}

// run searches until the core is proven or the budget is spent.
func (b *branching) run() {
	b.core.open()
	b.lp.Stop = func() bool { return b.ctx.Err() != nil }
	b.closed = math.Inf(1)
	b.open.less = func(x, y **branchNode) bool { return (*x).before(*y) }
	b.open.push(&branchNode{bound: b.lower, edge: -1})
	for len(b.open.items) > 0 && b.open.items[0].bound < b.upper-float64(b.slip/2) {
		if b.budget.spent(b.ctx, b.lp.Work) {
			break
		}
		node := b.open.pop()
		b.budget.nodes--
		b.explore(node)
		b.settle(nil)
		if rows := b.lp.Rows(); rows > branchRows+2*b.kept {
			b.lp.Purge()
			b.kept = b.lp.Rows()
		}
	}
	b.budget.work -= b.lp.Work
	b.lp = nil
}

// settle sets the core's bound to the least of all nodes, one that is being explored
// among them.
func (b *branching) settle(node *branchNode) {
	least := min(b.closed, b.upper)
	if len(b.open.items) > 0 {
		least = min(least, b.open.items[0].bound)
	}
	if node != nil {
		least = min(least, node.bound)
	}
	if least > b.lower {
		b.lower = least
	}
	b.report()
}

// explore solves a node's relaxation, with more and more of its rows, and closes the
// node or puts two in its place.
func (b *branching) explore(node *branchNode) {
	b.place(node)
	left, stalled := branchFew, 0
	if node.depth == 0 {
		left = branchRounds
	}
	last := math.Inf(-1)
	for {
		status := b.relax()
		value := b.lp.Value()
		if status == lp.Cutoff {
			b.closed = min(b.closed, max(node.bound, b.bound(max(value, b.cutoff()))))
			return
		}
		node.bound = max(node.bound, b.bound(value))
		if node.depth == 0 {
			b.settle(node)
		}
		if status == lp.Limited {
			b.open.push(node)
			return
		}
		if node.bound >= b.upper-float64(b.slip/2) {
			b.closed = min(b.closed, node.bound)
			return
		}
		if status == lp.Stuck {
			break
		}
		if cycles := b.violated(b.lp.X); len(cycles) > 0 {
			b.addCycles(cycles)
			continue
		}
		if b.whole() {
			b.offer(b.components(b.lp.X, 0.5))
			b.closed = min(b.closed, node.bound)
			return
		}
		if node.depth == 0 || left == branchFew {
			b.round()
		}
		if value < last+float64(branchGrows*b.scale()) {
			stalled++
		} else {
			stalled = 0
			last = value
		}
		if left == 0 || stalled == branchStall {
			break
		}
		left--
		cuts := b.cuts()
		if len(cuts) == 0 {
			break
		}
		for _, cut := range cuts {
			b.lp.Add(cut.col, cut.val, cut.rhs)
		}
	}
	b.branch(node)
}

// place sets the node's edges in the program.
func (b *branching) place(node *branchNode) {
	for _, e := range b.fixed {
		b.lp.Bound(e, 0, 1)
	}
	b.fixed = b.fixed[:0]
	for ; node.edge >= 0; node = node.parent {
		b.lp.Bound(node.edge, node.value, node.value)
		b.fixed = append(b.fixed, node.edge)
	}
	b.lp.Place()
}

// relax solves the program as far as the budget goes.
func (b *branching) relax() lp.Status {
	for {
		status := b.lp.Solve(b.cutoff(), min(b.lp.Work+branchSlice, b.budget.work))
		if status != lp.Limited || b.budget.spent(b.ctx, b.lp.Work) {
			return status
		}
	}
}

// whole reports whether the program's solution is integral.
func (b *branching) whole() bool {
	for _, v := range b.lp.X {
		if v > branchWhole && v < 1-branchWhole {
			return false
		}
	}
	return true
}

// branch sets an edge, one whose fraction costs most, both ways.
func (b *branching) branch(node *branchNode) {
	best, edge := 0.0, int32(-1)
	for j, v := range b.lp.X {
		if s := min(v, 1-v) * b.lp.Truth[j]; s > best && b.lp.Lo[j] < b.lp.Hi[j] {
			best, edge = s, int32(j)
		}
	}
	if edge < 0 {
		b.closed = min(b.closed, node.bound)
		return
	}
	for _, v := range []float64{0, 1} {
		b.number++
		b.open.push(&branchNode{bound: node.bound, depth: node.depth + 1, number: b.number, parent: node, edge: edge, value: v})
	}
}

// round makes a clustering of the program's solution: greedy contraction by how far
// each edge is from going against its sign, then Kernighan-Lin with joins.
func (b *branching) round() {
	edges := make([]multicut.Edge, len(b.edges))
	for k, e := range b.edges {
		edges[k] = multicut.Edge{I: e.I, J: e.J, Cost: e.Cost * (1 - 2*b.lp.X[k])}
	}
	guide, err := multicut.NewGraph(b.n, edges)
	if err != nil {
		return
	}
	if r, err := multicut.GAEC(b.ctx, guide); err == nil {
		b.improve(b.ctx, r.Labels)
	}
}
