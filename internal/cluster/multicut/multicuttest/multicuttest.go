package multicuttest

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"sync/atomic"
	"testing"

	"tercet/internal/cluster/multicut"
	"tercet/internal/rng"
)

// LateContext is done from the given look at it on.
type LateContext struct {
	context.Context
	left *atomic.Int64
}

// DoneAtLook returns a context that is done from the nth look at it on.
func DoneAtLook(n int64) LateContext {
	left := &atomic.Int64{}
	left.Store(n)
	return LateContext{context.Background(), left}
}

func (c LateContext) Err() error {
	if c.left.Add(-1) <= 0 {
		return context.Canceled
	}
	return nil
}

// LeastByEnumeration returns the least objective over all partitions of at most 10
// nodes.
func LeastByEnumeration(n int, edges []multicut.Edge) float64 {
	cost := make([]float64, n*n)
	for _, e := range edges {
		cost[int(e.I)*n+int(e.J)] += e.Cost
		cost[int(e.J)*n+int(e.I)] += e.Cost
	}
	best := math.Inf(1)
	label := make([]int, n)
	var place func(i, clusters int, objective float64)
	place = func(i, clusters int, objective float64) {
		if i == n {
			best = min(best, objective)
			return
		}
		for l := range clusters + 1 {
			more := 0.0
			for j := range i {
				if label[j] != l {
					more += cost[i*n+j]
				}
			}
			label[i] = l
			place(i+1, max(clusters, l+1), objective+more)
		}
	}
	place(0, 0, 0)
	return best
}

// RandomEdges draws a graph: each pair is an edge with probability density, its cost
// normal about mean and, where whole, rounded to integers.
func RandomEdges(r *rng.Stream, n int, density, mean float64, whole bool) []multicut.Edge {
	var edges []multicut.Edge
	for i := range int32(n) {
		for j := range i {
			c := mean + r.NormFloat64()
			if whole {
				c = math.Round(2 * c)
			}
			if r.Float64() < density {
				edges = append(edges, multicut.Edge{I: j, J: i, Cost: c})
			}
		}
	}
	return edges
}

// MustGraph makes a graph of these edges or ends the test.
func MustGraph(t testing.TB, n int, edges []multicut.Edge) *multicut.Graph {
	t.Helper()
	g, err := multicut.NewGraph(n, edges)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// DenseOf returns the same as a complete graph of float32 costs, and its edges.
func DenseOf(t testing.TB, n int, edges []multicut.Edge) (*multicut.Dense, []multicut.Edge) {
	t.Helper()
	cost := make([]float32, n*n)
	for _, e := range edges {
		cost[int(e.I)*n+int(e.J)], cost[int(e.J)*n+int(e.I)] = float32(e.Cost), float32(e.Cost)
	}
	d := &multicut.Dense{N: n, Cost: cost}
	var rounded []multicut.Edge
	d.Each(func(i, j int32, c float64) { rounded = append(rounded, multicut.Edge{I: i, J: j, Cost: c}) })
	return d, rounded
}

// PairFixture is a graph of similar (1) and different (0) pairs with noise, whose
// least number of disagreements with a partition an integer program has proven
// (testdata/README.md).
type PairFixture struct {
	Nodes      int        `json:"nodes"`
	Pairs      [][3]int32 `json:"pairs"`
	Duplicates float64    `json:"contradictory_duplicates"`
	MinErrors  float64    `json:"min_errors"`
	CycleBound float64    `json:"cycle_lp_bound"`
}

// ReadPairs reads a fixture and makes its graph.
func ReadPairs(t testing.TB, file string) (PairFixture, *multicut.Graph) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var f PairFixture
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	edges := make([]multicut.Edge, len(f.Pairs))
	for k, p := range f.Pairs {
		edges[k] = multicut.Edge{I: p[0], J: p[1], Cost: float64(2*p[2] - 1)}
	}
	return f, MustGraph(t, f.Nodes, edges)
}

// Errors counts the wrong pairs of a clustering of this objective. A pair costs +1 where it says similar and -1 where it says different. The
// objective counts cut pairs of the first kind and takes off those of the second, so
// that errors = objective + pairs that say different; contradictory duplicates
// cancel in the graph and are an error each either way.
func (f PairFixture) Errors(objective float64) float64 {
	for _, p := range f.Pairs {
		if p[2] == 0 {
			objective++
		}
	}
	return objective
}
