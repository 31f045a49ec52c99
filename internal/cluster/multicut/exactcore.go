package multicut

import (
	"context"
	"math"
	"slices"

	"tercet/internal/rng"
)

// exactCore is a graph that is to be clustered at least cost, as the covering problem
//
//	min sum of |c_e| x_e,  x_e in {0, 1},  where the sum of x over each conflicted
//	cycle is at least 1.
//
// A conflicted cycle has one repulsive edge. x says which edges go against their
// sign: attractive ones that are cut, repulsive ones that are not. Once every
// conflicted cycle has such an edge, the components that the uncut attractive edges
// make are a clustering that costs no more (Demaine, Emanuel, Fiat and Immorlica
// 2006).
type exactCore struct {
	n     int
	edges []Edge
	graph *Graph
	sum   costSum

	start []int32   // (n+1) of the attractive edges' ends
	ends  []coreEnd // of node v: ends[start[v]:start[v+1]]

	base   float64 // sum of the negative costs: what x = 0 would cost
	slip   float64 // by which a proven clustering may miss the optimum; 0 where there is a grain
	lower  float64 // proven, in the units of the objective
	upper  float64 // of labels
	labels []int32

	lp *lp // while it is searched
}

type coreEnd struct {
	to   int32
	edge int32
}

func newCore(n int, edges []Edge) *exactCore {
	c := &exactCore{n: n, edges: edges, start: make([]int32, n+1)}
	for _, e := range edges {
		c.sum.add(e.Cost)
		if e.Cost > 0 {
			c.start[e.I+1]++
			c.start[e.J+1]++
		}
	}
	for v := range n {
		c.start[v+1] += c.start[v]
	}
	c.ends = make([]coreEnd, c.start[n])
	next := slices.Clone(c.start[:n])
	for k, e := range edges {
		if e.Cost > 0 {
			c.ends[next[e.I]] = coreEnd{e.J, int32(k)}
			c.ends[next[e.J]] = coreEnd{e.I, int32(k)}
			next[e.I]++
			next[e.J]++
		}
	}
	c.graph, _ = NewGraph(n, edges) // edges of a graph: nothing to refuse
	c.base = c.sum.negative()
	c.lower = c.sum.raise(c.base - c.sum.margin())
	c.labels = make([]int32, n)
	c.upper = c.graph.Objective(c.labels)
	return c
}

// pack raises the bound of a core that the linear programme may not finish by what a
// packing of cycles gives.
func (c *exactCore) pack(ctx context.Context) {
	m := len(c.edges)
	if m < exactPacked {
		return
	}
	if 16*m > c.n*c.n && c.n <= exactMatrix {
		if packed, err := packTriangles(ctx, c.graph, c.labels); err == nil {
			c.lower = max(c.lower, c.bound(packed))
		}
		return
	}
	if b, err := CycleBound(ctx, c.graph, CycleOptions{Length: 5}); err == nil {
		c.lower = max(c.lower, b.Value)
	}
}

func (c *exactCore) proven() bool { return c.upper-c.lower <= c.slip }

// grain returns the number that all objectives are multiples of, 0 where that is none
// or too little for the programme's accuracy.
func (c *exactCore) grain() float64 {
	if step := c.sum.step(); step > 1e-7*c.sum.size {
		return step
	}
	return 0
}

// cutoff is the programme's value from which on it holds nothing better than labels.
func (c *exactCore) cutoff() float64 {
	if step := c.grain(); step > 0 {
		return c.upper - c.base - step + 1e-6*step
	}
	return c.upper - c.base - c.slip/2
}

// bound turns a value of the programme into a bound on the objective.
func (c *exactCore) bound(value float64) float64 {
	return c.sum.raise(c.base + value - c.sum.margin())
}

// open makes the linear programme. Equal costs, which make the dual simplex method
// stall, are told apart by a little that is far below any tolerance.
func (c *exactCore) open() {
	cost, perturbed := make([]float64, len(c.edges)), make([]float64, len(c.edges))
	little := 1e-11 * c.sum.size / float64(len(c.edges))
	if step := c.grain(); step > 0 {
		little = 1e-3 * step / float64(len(c.edges))
	}
	r := rng.New(0, "multicut/perturbation")
	for k, e := range c.edges {
		cost[k] = math.Abs(e.Cost)
		perturbed[k] = cost[k] + little*r.Uniform(0.5, 1)
	}
	c.lp = newLP(cost, perturbed)
}

// scale is the largest |cost|.
func (c *exactCore) scale() float64 {
	most := 0.0
	for _, e := range c.edges {
		most = max(most, math.Abs(e.Cost))
	}
	return most
}

// improve offers what Kernighan-Lin with joins makes of a clustering; nil starts it
// from greedy contraction.
func (c *exactCore) improve(ctx context.Context, labels []int32) {
	if r, err := KernighanLin(ctx, c.graph, labels, KLOptions{}); err == nil {
		c.offer(r.Labels)
	}
}

// offer takes labels where they cost less than the best known.
func (c *exactCore) offer(labels []int32) {
	if o := c.graph.Objective(labels); o < c.upper {
		c.upper = o
		c.labels = slices.Clone(labels)
	}
}

// components returns the clustering that attractive edges of x below limit make.
func (c *exactCore) components(x []float64, limit float64) []int32 {
	parent := make([]int32, c.n)
	for v := range parent {
		parent[v] = int32(v)
	}
	root := func(v int32) int32 {
		for parent[v] != v {
			parent[v] = parent[parent[v]]
			v = parent[v]
		}
		return v
	}
	for k, e := range c.edges {
		if e.Cost > 0 && x[k] < limit {
			a, b := root(e.I), root(e.J)
			parent[max(a, b)] = min(a, b)
		}
	}
	labels := make([]int32, c.n)
	for v := range int32(c.n) {
		labels[v] = root(v)
	}
	return labels
}
