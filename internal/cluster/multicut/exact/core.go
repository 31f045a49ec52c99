package exact

import (
	"context"
	"math"
	"slices"

	"tercet/internal/cluster/multicut"
	"tercet/internal/lp"
	"tercet/internal/rng"
)

// core is a graph that is to be clustered at least cost, as the covering problem
//
//	min sum of |c_e| x_e,  x_e in {0, 1},  where the sum of x over each conflicted
//	cycle is at least 1.
//
// A conflicted cycle has one repulsive edge. x says which edges go against their
// sign: attractive ones that are cut, repulsive ones that are not. Once every
// conflicted cycle has such an edge, the components that the uncut attractive edges
// make are a clustering that costs no more (Demaine, Emanuel, Fiat and Immorlica
// 2006).
type core struct {
	n     int
	edges []multicut.Edge
	graph *multicut.Graph
	sum   multicut.CostSum

	start []int32   // (n+1) of the attractive edges' ends
	ends  []coreEnd // of node v: ends[start[v]:start[v+1]]

	base   float64 // sum of the negative costs: what x = 0 would cost
	slip   float64 // by which a proven clustering may miss the optimum; 0 where there is a grain
	lower  float64 // proven, in the units of the objective
	upper  float64 // of labels
	labels []int32

	lp *lp.Problem // while it is searched
}

type coreEnd struct {
	to   int32
	edge int32
}

func newCore(n int, edges []multicut.Edge) *core {
	c := &core{n: n, edges: edges, start: make([]int32, n+1)}
	for _, e := range edges {
		c.sum.Add(e.Cost)
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
	c.graph, _ = multicut.NewGraph(n, edges) // edges of a graph: nothing to refuse
	c.base = c.sum.Negative()
	c.lower = c.sum.Raise(c.base - c.sum.Margin())
	c.labels = make([]int32, n)
	c.upper = c.graph.Objective(c.labels)
	return c
}

// pack raises the bound of a core that the linear program may not finish by what a
// packing of cycles gives.
func (c *core) pack(ctx context.Context) {
	m := len(c.edges)
	if m < packed {
		return
	}
	if 16*m > c.n*c.n && c.n <= matrix {
		if packed, err := multicut.PackTriangles(ctx, c.graph, c.labels); err == nil {
			c.lower = max(c.lower, c.bound(packed))
		}
		return
	}
	if b, err := multicut.CycleBound(ctx, c.graph, multicut.CycleOptions{Length: 5}); err == nil {
		c.lower = max(c.lower, b.Value)
	}
}

func (c *core) proven() bool { return c.upper-c.lower <= c.slip }

// grain returns the number that all objectives are multiples of, 0 where that is none
// or too little for the program's accuracy.
func (c *core) grain() float64 {
	if step := c.sum.Step(); step > 1e-7*c.sum.Size {
		return step
	}
	return 0
}

// cutoff is the program's value from which on it holds nothing better than labels.
func (c *core) cutoff() float64 {
	if step := c.grain(); step > 0 {
		return c.upper - c.base - step + float64(1e-6*step)
	}
	return c.upper - c.base - float64(c.slip/2)
}

// bound turns a value of the program into a bound on the objective.
func (c *core) bound(value float64) float64 {
	return c.sum.Raise(c.base + value - c.sum.Margin())
}

// open makes the linear program. Equal costs, which make the dual simplex method
// stall, are distinguished by a little that is far below any tolerance.
func (c *core) open() {
	cost, perturbed := make([]float64, len(c.edges)), make([]float64, len(c.edges))
	little := 1e-11 * c.sum.Size / float64(len(c.edges))
	if step := c.grain(); step > 0 {
		little = 1e-3 * step / float64(len(c.edges))
	}
	r := rng.New(0, "multicut/perturbation")
	for k, e := range c.edges {
		cost[k] = math.Abs(e.Cost)
		perturbed[k] = cost[k] + float64(little*r.Uniform(0.5, 1))
	}
	c.lp = lp.New(cost, perturbed)
}

// scale is the largest |cost|.
func (c *core) scale() float64 {
	most := 0.0
	for _, e := range c.edges {
		most = max(most, math.Abs(e.Cost))
	}
	return most
}

// improve offers what Kernighan-Lin with joins makes of a clustering; nil starts it
// from greedy contraction.
func (c *core) improve(ctx context.Context, labels []int32) {
	if r, err := multicut.KernighanLin(ctx, c.graph, labels, multicut.KLOptions{}); err == nil {
		c.offer(r.Labels)
	}
}

// offer takes labels where they cost less than the best known.
func (c *core) offer(labels []int32) {
	if o := c.graph.Objective(labels); o < c.upper {
		c.upper = o
		c.labels = slices.Clone(labels)
	}
}

// components returns the clustering that attractive edges of x below limit make.
func (c *core) components(x []float64, limit float64) []int32 {
	clusters := newSets(c.n)
	for k, e := range c.edges {
		if e.Cost > 0 && x[k] < limit {
			a, b := clusters.root(e.I), clusters.root(e.J)
			clusters[max(a, b)] = min(a, b)
		}
	}
	return clusters.roots()
}
