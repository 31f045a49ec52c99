package exact

import (
	"cmp"
	"slices"

	"tercet/internal/cluster/multicut"
)

// piece is a graph that has been made smaller without loss: what is left falls
// into blocks, which share single nodes and can be clustered one by one (Lange,
// Karrenbauer and Andres 2018 for the rules on signs).
type piece struct {
	n        int
	adj      [][]arc // by ascending node; of nodes that are left
	gone     []bool  // joined with another node or taken out
	steps    []step
	constant float64 // objective = constant + the blocks' objectives
	blocks   []block

	queue  []int32
	queued []bool
}

type arc struct {
	to   int32
	cost float64
}

// step is undone from the last to the first. A joined node has the label of u.
// A node that was taken out had at most two neighbors, u by a and w by b (-1 for
// none), and takes the best label there is.
type step struct {
	v, u, w int32
	a, b    float64
	joined  bool
}

// block is a part of a piece: one that has been made smaller in turn, or a core
// that cannot be.
type block struct {
	nodes []int32 // in the piece
	piece *piece
	core  *core
}

// newPiece makes the graph of n nodes and these edges smaller until no rule applies.
// Cores that are left are passed to keep.
func newPiece(n int, edges []multicut.Edge, keep func(*core)) *piece {
	p := &piece{n: n, adj: make([][]arc, n), gone: make([]bool, n), queued: make([]bool, n)}
	for _, e := range edges {
		if e.Cost != 0 {
			p.adj[e.I] = append(p.adj[e.I], arc{e.J, e.Cost})
			p.adj[e.J] = append(p.adj[e.J], arc{e.I, e.Cost})
		}
	}
	for v := range p.adj {
		slices.SortFunc(p.adj[v], func(a, b arc) int { return cmp.Compare(a.to, b.to) })
		p.push(int32(v))
	}
	for {
		p.drain()
		if !p.part() {
			break
		}
	}
	for _, nodes := range p.split() {
		p.blocks = append(p.blocks, p.block(nodes, n, keep))
	}
	p.adj, p.queue, p.queued = nil, nil, nil
	return p
}

// block makes the subgraph of these nodes a block.
func (p *piece) block(nodes []int32, n int, keep func(*core)) block {
	slices.Sort(nodes)
	local := make(map[int32]int32, len(nodes))
	for i, v := range nodes {
		local[v] = int32(i)
	}
	var edges []multicut.Edge
	for i, v := range nodes {
		for _, a := range p.adj[v] {
			if j, ok := local[a.to]; ok && a.to > v {
				edges = append(edges, multicut.Edge{I: int32(i), J: j, Cost: a.cost})
			}
		}
	}
	if len(nodes) == n {
		core := newCore(n, edges)
		keep(core)
		return block{nodes: nodes, core: core}
	}
	return block{nodes: nodes, piece: newPiece(len(nodes), edges, keep)}
}

func (p *piece) push(v int32) {
	if !p.queued[v] && !p.gone[v] {
		p.queued[v] = true
		p.queue = append(p.queue, v)
	}
}

// drain applies the rules of single nodes until none applies.
func (p *piece) drain() {
	for len(p.queue) > 0 {
		v := p.queue[0]
		p.queue = p.queue[1:]
		p.queued[v] = false
		if p.gone[v] {
			continue
		}
		if len(p.adj[v]) <= 2 {
			p.takeOut(v)
			continue
		}
		// An edge that outweighs all others of its node together is not worth cutting:
		// the node might as well move to its other end.
		all, best := 0.0, 0
		for i, a := range p.adj[v] {
			if a.cost > p.adj[v][best].cost {
				best = i
			}
			all += max(a.cost, -a.cost)
		}
		if top := p.adj[v][best]; top.cost > 0 && 2*top.cost >= all {
			p.join(v, top.to)
		}
	}
}

// takeOut removes a node of at most two neighbors. What it costs depends on one
// thing, whether these two are together, and becomes the cost of an edge between them.
func (p *piece) takeOut(v int32) {
	s := step{v: v, u: -1, w: -1}
	if arcs := p.adj[v]; len(arcs) > 0 {
		s.u, s.a = arcs[0].to, arcs[0].cost
		if len(arcs) > 1 {
			s.w, s.b = arcs[1].to, arcs[1].cost
		}
	}
	p.adj[v], p.gone[v] = nil, true
	p.steps = append(p.steps, s)
	if s.u < 0 {
		return
	}
	p.cut(s.u, v)
	p.push(s.u)
	together := min(0, s.a+s.b)
	p.constant += together
	if s.w < 0 {
		return
	}
	p.cut(s.w, v)
	p.push(s.w)
	p.link(s.u, s.w, min(s.a, s.b, s.a+s.b)-together)
}

// join makes v one node with u.
func (p *piece) join(v, u int32) {
	arcs := p.adj[v]
	p.adj[v], p.gone[v] = nil, true
	p.steps = append(p.steps, step{v: v, u: u, joined: true})
	for _, a := range arcs {
		p.cut(a.to, v)
		if a.to != u {
			p.link(u, a.to, a.cost)
			p.push(a.to)
		}
	}
	p.push(u)
}

// link adds cost to the edge uw, which ends where it comes to 0.
func (p *piece) link(u, w int32, cost float64) {
	for range 2 {
		at, ok := slices.BinarySearchFunc(p.adj[u], w, arcTo)
		switch {
		case !ok && cost != 0:
			p.adj[u] = slices.Insert(p.adj[u], at, arc{w, cost})
		case ok && p.adj[u][at].cost+cost == 0:
			p.adj[u] = slices.Delete(p.adj[u], at, at+1)
		case ok:
			p.adj[u][at].cost += cost
		}
		u, w = w, u
	}
}

// cut takes the arc to w from u.
func (p *piece) cut(u, w int32) {
	if at, ok := slices.BinarySearchFunc(p.adj[u], w, arcTo); ok {
		p.adj[u] = slices.Delete(p.adj[u], at, at+1)
	}
}

func arcTo(a arc, to int32) int { return cmp.Compare(a.to, to) }

// part cuts all repulsive edges between nodes that no attractive path connects, and
// reports whether there were any.
func (p *piece) part() bool {
	component := make([]int32, p.n)
	for v := range component {
		component[v] = -1
	}
	var stack []int32
	for v := range int32(p.n) {
		if component[v] >= 0 {
			continue
		}
		component[v] = v
		stack = append(stack[:0], v)
		for len(stack) > 0 {
			u := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, a := range p.adj[u] {
				if a.cost > 0 && component[a.to] < 0 {
					component[a.to] = v
					stack = append(stack, a.to)
				}
			}
		}
	}
	found := false
	for v := range int32(p.n) {
		kept := p.adj[v][:0]
		for _, a := range p.adj[v] {
			if component[a.to] == component[v] {
				kept = append(kept, a)
				continue
			}
			found = true
			p.push(v)
			if v < a.to {
				p.constant += a.cost
			}
		}
		p.adj[v] = kept
	}
	return found
}

// labels returns the clustering of the piece that its blocks' clusterings make.
func (p *piece) labels() []int32 {
	clusters := newSets(p.n)
	for _, b := range p.blocks {
		var own []int32
		if b.core != nil {
			own = b.core.labels
		} else {
			own = b.piece.labels()
		}
		first := map[int32]int32{}
		for i, l := range own {
			if v, ok := first[l]; ok {
				clusters[clusters.root(b.nodes[i])] = clusters.root(v)
			} else {
				first[l] = b.nodes[i]
			}
		}
	}
	labels := clusters.roots()
	// A node that was taken out and stays alone keeps its own number, which no other
	// cluster has: all that is united has the number of a node that was left.
	for _, s := range slices.Backward(p.steps) {
		labels[s.v] = s.label(labels)
	}
	return labels
}

// label returns the best label of a node whose neighbors have theirs.
func (s step) label(labels []int32) int32 {
	if s.joined {
		return labels[s.u]
	}
	if s.u < 0 {
		return s.v
	}
	withU, withW := 0.0, s.a
	if s.w >= 0 && labels[s.w] != labels[s.u] {
		withU = s.b
	}
	if s.w >= 0 && labels[s.w] == labels[s.u] {
		withW = 0
	}
	switch {
	case withU <= withW && withU <= s.a+s.b:
		return labels[s.u]
	case s.w >= 0 && withW <= s.a+s.b:
		return labels[s.w]
	}
	return s.v
}
