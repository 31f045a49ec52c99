package multicut

import (
	"fmt"
	"math"
	"slices"
)

// Costs is a graph with costs: *Graph, *Dense or *Factored.
type Costs interface {
	// Nodes returns n; nodes are 0..n-1.
	Nodes() int
	// Each calls f once for every edge, i < j, by ascending (i, j).
	Each(f func(i, j int32, cost float64))
	// Objective returns the sum of the costs of the edges between nodes of
	// different labels (n of them).
	Objective(labels []int32) float64
}

var errSum = fmt.Errorf("%w: the costs add up to more than %v: divide them by a common factor, the clustering stays the same", ErrInput, math.MaxFloat64)

// Edge joins two nodes; Cost > 0 says that they belong together.
type Edge struct {
	I, J int32
	Cost float64
}

// Graph is a sparse graph: for each node its neighbors by ascending number.
type Graph struct {
	n          int
	start      []int32   // (n+1)
	to         []int32   // (2m)
	cost       []float64 // (2m)
	duplicates int
	warning    string // for every result on the graph
}

// NewGraph returns the graph of n nodes with these edges. Edges of the same two
// nodes, in either direction, add up. An edge of cost 0 is kept; to all solvers it
// is as good as absent. Errors name the edge by its place: an end outside 0..n-1,
// two equal ends, a cost that is NaN or infinite; or say that the costs add up to
// more than a float64 holds.
func NewGraph(n int, edges []Edge) (*Graph, error) {
	if n < 1 || n > math.MaxInt32 {
		return nil, fmt.Errorf("%w: a graph of %d nodes", ErrInput, n)
	}
	sum := 0.0
	for k, e := range edges {
		switch {
		case e.I < 0 || int(e.I) >= n || e.J < 0 || int(e.J) >= n:
			return nil, fmt.Errorf("%w: edge %d joins %d and %d; nodes are 0 to %d", ErrInput, k, e.I, e.J, n-1)
		case e.I == e.J:
			return nil, fmt.Errorf("%w: edge %d joins node %d with itself: leave it out, it cannot be cut", ErrInput, k, e.I)
		case e.Cost-e.Cost != 0:
			return nil, fmt.Errorf("%w: edge %d (%d, %d) costs %v", ErrInput, k, e.I, e.J, e.Cost)
		}
		sum += math.Abs(e.Cost)
	}
	if math.IsInf(sum, 1) {
		return nil, errSum
	}
	g, err := graphOf(n, merged(n, edges, make([]Edge, len(edges))))
	if err != nil {
		return nil, err
	}
	g.duplicates = len(edges) - g.Edges()
	return g, nil
}

// merged returns the edges by ascending (smaller, larger end), those of the same two
// nodes added up in the order in which they were given. The result is in room, of as many
// edges, which may be the edges themselves.
func merged(n int, edges, room []Edge) []Edge {
	// By the larger end, then by the smaller: both passes keep the order of equals.
	half := make([]Edge, len(edges))
	byEnd(n, half, edges, func(e Edge) Edge { return Edge{min(e.I, e.J), max(e.I, e.J), e.Cost} }, func(e Edge) int32 { return e.J })
	byEnd(n, room, half, func(e Edge) Edge { return e }, func(e Edge) int32 { return e.I })
	kept := room[:0]
	for _, e := range room {
		if m := len(kept) - 1; m >= 0 && kept[m].I == e.I && kept[m].J == e.J {
			kept[m].Cost += e.Cost
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// mostEdges is the number of edges whose ends an int32 counts.
const mostEdges = math.MaxInt32 / 2

// graphOf returns the graph of merged edges. The error is that there are too many.
func graphOf(n int, kept []Edge) (*Graph, error) {
	if len(kept) > mostEdges {
		return nil, fmt.Errorf("%w: %d edges; at most %d are clustered", ErrInput, len(kept), mostEdges)
	}
	g := &Graph{n: n, start: make([]int32, n+1), to: make([]int32, 2*len(kept)), cost: make([]float64, 2*len(kept))}
	for _, e := range kept {
		g.start[e.I+1]++
		g.start[e.J+1]++
	}
	for i := range n {
		g.start[i+1] += g.start[i]
	}
	next := slices.Clone(g.start[:n])
	put := func(i, j int32, c float64) {
		g.to[next[i]], g.cost[next[i]] = j, c
		next[i]++
	}
	// Neighbors below a node come first: edges (i, j) with j the node are sorted
	// by i, and all of them precede the edges that begin at the node.
	for _, e := range kept {
		put(e.J, e.I, e.Cost)
	}
	for _, e := range kept {
		put(e.I, e.J, e.Cost)
	}
	return g, nil
}

// byEnd fills sorted with the edges, each changed by as, sorted by the end of it.
func byEnd(n int, sorted, edges []Edge, as func(Edge) Edge, end func(Edge) int32) {
	next := make([]int, n+1)
	for _, e := range edges {
		next[end(as(e))+1]++
	}
	for i := range n {
		next[i+1] += next[i]
	}
	for _, e := range edges {
		e = as(e)
		at := end(e)
		sorted[next[at]] = e
		next[at]++
	}
}

// Nodes implements Costs.
func (g *Graph) Nodes() int { return g.n }

// Edges returns the number of edges m, duplicates merged.
func (g *Graph) Edges() int { return len(g.to) / 2 }

// complete says whether all pairs have an edge.
func (g *Graph) complete() bool { return g.Edges() == g.n*(g.n-1)/2 }

// matrix returns the costs (n, n), 0 where there is no edge.
func (g *Graph) matrix() []float64 {
	cost := make([]float64, g.n*g.n)
	for i := range int32(g.n) {
		row := cost[int(i)*g.n:]
		to, c := g.Neighbors(i)
		for e, j := range to {
			row[j] = c[e]
		}
	}
	return cost
}

// Duplicates returns how many given edges were added to others of the same nodes.
func (g *Graph) Duplicates() int { return g.duplicates }

// Neighbors returns the neighbors of node i by ascending number and the costs of
// their edges. The slices are the graph's own.
func (g *Graph) Neighbors(i int32) (to []int32, cost []float64) {
	return g.to[g.start[i]:g.start[i+1]], g.cost[g.start[i]:g.start[i+1]]
}

// Each implements Costs.
func (g *Graph) Each(f func(i, j int32, cost float64)) {
	for i := range int32(g.n) {
		to, cost := g.Neighbors(i)
		for e, j := range to {
			if j > i {
				f(i, j, cost[e])
			}
		}
	}
}

// Objective implements Costs.
func (g *Graph) Objective(labels []int32) float64 {
	sum := 0.0
	g.Each(func(i, j int32, cost float64) {
		if labels[i] != labels[j] {
			sum += cost
		}
	})
	return sum
}
