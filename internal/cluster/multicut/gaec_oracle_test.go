package multicut

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/rng"
)

// gaecRandom draws a complete graph of n nodes with costs N(mu, 1), as a matrix of
// rows, and as *Dense.
func gaecRandom(t testing.TB, r *rng.Stream, n int, mu float64) ([][]float64, *Dense) {
	t.Helper()
	w := make([][]float64, n)
	for i := range w {
		w[i] = make([]float64, n)
	}
	cost := make([]float32, n*n)
	for i := range n {
		for j := range i {
			c := float32(mu + r.NormFloat64())
			w[i][j], w[j][i] = float64(c), float64(c)
			cost[i*n+j], cost[j*n+i] = c, c
		}
	}
	d := &Dense{N: n, Cost: cost}
	return w, d
}

// gaecSparse draws a graph with about density*n*(n-1)/2 edges, of costs that are
// multiples of 1/step where step > 0.
func gaecSparse(t testing.TB, r *rng.Stream, n int, density, step float64) ([][]float64, *Graph) {
	t.Helper()
	w := make([][]float64, n)
	for i := range w {
		w[i] = make([]float64, n)
	}
	var edges []Edge
	for i := range n {
		for j := range i {
			if r.Float64() >= density {
				continue
			}
			c := r.NormFloat64()
			if step > 0 {
				c = math.Round(c*step) / step
			}
			w[i][j], w[j][i] = c, c
			edges = append(edges, Edge{int32(i), int32(j), c})
		}
	}
	g, err := NewGraph(n, edges)
	if err != nil {
		t.Fatal(err)
	}
	return w, g
}

func gaecMatrix(g *Graph) [][]float64 {
	w := make([][]float64, g.n)
	for i := range w {
		w[i] = make([]float64, g.n)
	}
	g.Each(func(i, j int32, cost float64) { w[i][j], w[j][i] = cost, cost })
	return w
}

// gaecBest is the least objective of all clusterings, by dynamic programming over
// the 2^n sets of nodes: the best clustering of a set is a cluster with its first
// node and the best clustering of what remains.
func gaecBest(w [][]float64) float64 {
	n := len(w)
	inside := make([]float64, 1<<n)
	for s := 1; s < 1<<n; s++ {
		top := 0
		for s>>(top+1) > 0 {
			top++
		}
		rest := s &^ (1 << top)
		inside[s] = inside[rest]
		for i := range top {
			if rest>>i&1 == 1 {
				inside[s] += w[i][top]
			}
		}
	}
	most := make([]float64, 1<<n)
	for s := 1; s < 1<<n; s++ {
		low := s & -s
		rest := s &^ low
		most[s] = math.Inf(-1)
		for t := rest; ; t = (t - 1) & rest {
			most[s] = max(most[s], inside[t|low]+most[rest&^t])
			if t == 0 {
				break
			}
		}
	}
	return inside[1<<n-1] - most[1<<n-1]
}

// plainContraction is the greedy contraction by all pairs of clusters at each step.
// combine gives the weight of parallel edges, priority the signed order (0: never).
func plainContraction(w [][]float64, combine func(a, b float64) float64, priority func(w float64, size int) float64) []int32 {
	n := len(w)
	c := make([][]float64, n)
	labels := make([]int32, n)
	size := make([]int, n)
	for i := range c {
		c[i] = slices.Clone(w[i])
		labels[i], size[i] = int32(i), 1
	}
	for {
		a, b, most := -1, -1, 0.0
		for i := range n {
			for j := i + 1; j < n; j++ {
				if size[i] == 0 || size[j] == 0 || math.IsInf(c[i][j], -1) {
					continue
				}
				p := priority(c[i][j], size[i]+size[j])
				if math.Abs(p) > math.Abs(most) || math.Abs(p) == math.Abs(most) && p > most {
					a, b, most = i, j, p
				}
			}
		}
		if a < 0 {
			return labels
		}
		if most < 0 {
			c[a][b], c[b][a] = math.Inf(-1), math.Inf(-1)
			continue
		}
		for x := range n {
			if size[x] > 0 && x != a && x != b {
				c[a][x] = combine(c[a][x], c[b][x])
				c[x][a] = c[a][x]
			}
		}
		size[a] += size[b]
		size[b] = 0
		for i, l := range labels {
			if l == int32(b) {
				labels[i] = int32(a)
			}
		}
	}
}

func plainAdd(a, b float64) float64 { return a + b }

func plainPositive(w float64, _ int) float64 { return max(w, 0) }

func plainBalanced(w float64, size int) float64 { return max(w, 0) / float64(size) }

func plainAll(w float64, _ int) float64 { return w }

// plainMutex is the mutex watershed with its sets written out.
func plainMutex(w [][]float64) []int32 {
	n := len(w)
	var edges []Edge
	for i := range n {
		for j := i + 1; j < n; j++ {
			if w[i][j] != 0 {
				edges = append(edges, Edge{int32(i), int32(j), w[i][j]})
			}
		}
	}
	slices.SortStableFunc(edges, func(a, b Edge) int {
		x, y := math.Abs(a.Cost), math.Abs(b.Cost)
		switch {
		case x > y || x == y && a.Cost > b.Cost:
			return -1
		case x < y || x == y && a.Cost < b.Cost:
			return 1
		}
		return 0
	})
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(i)
	}
	var cuts []Edge // each excludes the clusters of its two nodes
	for _, e := range edges {
		a, b := labels[e.I], labels[e.J]
		if a == b {
			continue
		}
		if e.Cost < 0 {
			cuts = append(cuts, e)
			continue
		}
		if slices.ContainsFunc(cuts, func(c Edge) bool {
			return labels[c.I] == a && labels[c.J] == b || labels[c.I] == b && labels[c.J] == a
		}) {
			continue
		}
		for i, l := range labels {
			if l == b {
				labels[i] = a
			}
		}
	}
	return labels
}

func renumbered(labels []int32) []int32 {
	labels = slices.Clone(labels)
	Renumber(labels)
	return labels
}
