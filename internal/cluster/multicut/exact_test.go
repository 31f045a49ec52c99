package multicut

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tercet/internal/par"
	"tercet/internal/rng"
)

// leastByEnumeration returns the least objective over all partitions of at most 10
// nodes.
func leastByEnumeration(n int, edges []Edge) float64 {
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

// randomEdges draws a graph: each pair is an edge with probability density, its cost
// normal about mean and, where whole, rounded to integers.
func randomEdges(r *rng.Stream, n int, density, mean float64, whole bool) []Edge {
	var edges []Edge
	for i := range int32(n) {
		for j := range i {
			c := mean + r.NormFloat64()
			if whole {
				c = math.Round(2 * c)
			}
			if r.Float64() < density {
				edges = append(edges, Edge{j, i, c})
			}
		}
	}
	return edges
}

func mustGraph(t testing.TB, n int, edges []Edge) *Graph {
	t.Helper()
	g, err := NewGraph(n, edges)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// denseOf returns the same as a complete graph of float32 costs, and its edges.
func denseOf(t testing.TB, n int, edges []Edge) (*Dense, []Edge) {
	t.Helper()
	cost := make([]float32, n*n)
	for _, e := range edges {
		cost[int(e.I)*n+int(e.J)], cost[int(e.J)*n+int(e.I)] = float32(e.Cost), float32(e.Cost)
	}
	d, err := NewDense(n, cost)
	if err != nil {
		t.Fatal(err)
	}
	var rounded []Edge
	d.Each(func(i, j int32, c float64) { rounded = append(rounded, Edge{i, j, c}) })
	return d, rounded
}

// exactly solves and checks what must hold of every answer.
func exactly(t testing.TB, c Costs, o ExactOptions) (*Result, Bound) {
	t.Helper()
	r, b, err := Exact(context.Background(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Objective(r.Labels); got != r.Objective || len(r.Labels) != c.Nodes() {
		t.Fatalf("objective %v of %d labels, recomputed %v", r.Objective, len(r.Labels), got)
	}
	if b.Value > r.Objective {
		t.Fatalf("bound %v above the objective %v", b.Value, r.Objective)
	}
	if r.Proven != (len(r.Warnings) == 0) {
		t.Fatalf("proven %v, warnings %q", r.Proven, r.Warnings)
	}
	return r, b
}

// Complete graphs of 10 nodes, as in the reference: all Bell(10) = 115,975 partitions
// against the solver.
func TestExactEqualsEnumeration(t *testing.T) {
	instances := 1000
	if testing.Short() {
		instances = 60
	}
	for k := range instances {
		r := rng.New(uint64(k), "multicut/exact/complete")
		d, edges := denseOf(t, 10, randomEdges(r, 10, 1, []float64{-0.3, 0, 0.3}[k%3], false))
		want := leastByEnumeration(10, edges)
		got, bound := exactly(t, d, ExactOptions{})
		if math.Abs(got.Objective-want) > 1e-9 || !got.Proven {
			t.Errorf("instance %d: %v (proven %v), want %v", k, got.Objective, got.Proven, want)
		}
		if bound.Value > want || bound.Value < want-1e-7 {
			t.Errorf("instance %d: bound %v of %v", k, bound.Value, want)
		}
	}
}

func TestExactEqualsEnumerationOnAllKindsOfGraphs(t *testing.T) {
	for k := range 2000 {
		r := rng.New(uint64(k), "multicut/exact/kinds")
		n := 1 + r.IntN(8)
		edges := randomEdges(r, n, 0.2+0.8*r.Float64(), r.Uniform(-1, 1), k%2 == 0)
		want := leastByEnumeration(n, edges)
		got, bound := exactly(t, mustGraph(t, n, edges), ExactOptions{})
		if math.Abs(got.Objective-want) > 1e-9 || !got.Proven || bound.Value > want || bound.Value < want-1e-7 {
			t.Fatalf("instance %d, %v: %v >= %v (proven %v), want %v", k, edges, got.Objective, bound.Value, got.Proven, want)
		}
		if k%2 == 0 && bound.Value != want {
			t.Fatalf("instance %d: integers, bound %v of %v", k, bound.Value, want)
		}
	}
}

// pairFixture is a graph of similar (1) and different (0) pairs with noise, whose
// least number of disagreements with a partition an integer programme has proven
// (testdata/README.md).
type pairFixture struct {
	Nodes      int        `json:"nodes"`
	Pairs      [][3]int32 `json:"pairs"`
	Duplicates float64    `json:"contradictory_duplicates"`
	MinErrors  float64    `json:"min_errors"`
	CycleBound float64    `json:"cycle_lp_bound"`
}

func readPairs(t testing.TB, file string) (pairFixture, *Graph) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var f pairFixture
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	edges := make([]Edge, len(f.Pairs))
	for k, p := range f.Pairs {
		edges[k] = Edge{p[0], p[1], float64(2*p[2] - 1)}
	}
	return f, mustGraph(t, f.Nodes, edges)
}

// A pair costs +1 where it says similar and -1 where it says different. The
// objective counts cut pairs of the first kind and takes off those of the second, so
// that errors = objective + pairs that say different; contradictory duplicates
// cancel in the graph and are an error each either way.
func (f pairFixture) errors(objective float64) float64 {
	for _, p := range f.Pairs {
		if p[2] == 0 {
			objective++
		}
	}
	return objective
}

func TestExactProvesPairGraphs(t *testing.T) {
	for file, want := range map[string]pairFixture{
		"dibs_3x6_P20.json":    {MinErrors: 5, CycleBound: 4.5},
		"dibs_5x10_P10.json":   {MinErrors: 7},
		"dibs_10x20_P10.json":  {MinErrors: 17},
		"dibs_10x300_P10.json": {MinErrors: 205, CycleBound: 196.208333},
		"dibs_10x300_P20.json": {MinErrors: 310, CycleBound: 295.367708},
	} {
		f, g := readPairs(t, filepath.Join("testdata", file))
		if f.MinErrors != want.MinErrors {
			t.Fatalf("%s: the file says %v errors", file, f.MinErrors)
		}
		r, b := exactly(t, g, ExactOptions{})
		if f.errors(r.Objective) != f.MinErrors || f.errors(b.Value) != f.MinErrors || !r.Proven {
			t.Errorf("%s: %v errors, bound %v, proven %v; want %v", file, f.errors(r.Objective), f.errors(b.Value), r.Proven, f.MinErrors)
		}
		if h, err := KernighanLin(context.Background(), g, nil, KLOptions{}); err != nil || h.Objective < r.Objective {
			t.Errorf("%s: greedy contraction and Kernighan-Lin: %v, %v", file, h.Objective, err)
		} else {
			t.Logf("%s: %d nodes, %d edges: optimum %v errors, greedy contraction and Kernighan-Lin %v: gap %.2f %%",
				file, f.Nodes, g.Edges(), f.MinErrors, f.errors(h.Objective), 100*Gap(h.Objective, b.Value))
		}
	}
}

// errors of a labelling, counted pair by pair, agree with the objective.
func TestObjectiveCountsErrorsOfPairs(t *testing.T) {
	f, g := readPairs(t, "testdata/dibs_3x6_P20.json")
	r := rng.New(1, "multicut/errors")
	labels := make([]int32, f.Nodes)
	for range 50 {
		for i := range labels {
			labels[i] = int32(r.IntN(4))
		}
		errors := 0.0
		for _, p := range f.Pairs {
			if same := labels[p[0]] == labels[p[1]]; same != (p[2] == 1) {
				errors++
			}
		}
		if got := f.errors(g.Objective(labels)); got != errors {
			t.Fatalf("%v errors, want %v", got, errors)
		}
	}
}

// Costs of noise alone are the hardest: the relaxation is far from integral.
func TestExactProvesNoise(t *testing.T) {
	for _, n := range []int{16, 20} {
		for k, mean := range []float64{-0.3, 0, 0.3} {
			r := rng.New(uint64(n), "multicut/exact/noise")
			g := mustGraph(t, n, randomEdges(r, n, 1, mean, k == 1 && n == 16))
			if res, b := exactly(t, g, ExactOptions{Nodes: 2000}); !res.Proven {
				t.Errorf("%d nodes, mean %v: %v to %v", n, mean, b.Value, res.Objective)
			}
		}
	}
}

func TestExactDoesNotDependOnThreads(t *testing.T) {
	defer par.SetThreads(0)
	_, g := readPairs(t, "testdata/dibs_10x300_P10.json")
	var labels [2][]int32
	for k, threads := range []int{1, 3} {
		par.SetThreads(threads)
		r, _ := exactly(t, g, ExactOptions{})
		labels[k] = r.Labels
	}
	if !slices.Equal(labels[0], labels[1]) {
		t.Error("other labels with other threads")
	}
}

func TestExactStopsAtLimits(t *testing.T) {
	f, g := readPairs(t, "testdata/dibs_10x300_P10.json")
	trivial := TrivialBound(g).Value
	for _, o := range []ExactOptions{{Nodes: 1, Work: 1}, {Work: 30_000_000}, {Work: 60_000_000}} {
		r, b := exactly(t, g, o)
		if r.Proven {
			t.Fatalf("%+v: proven", o)
		}
		if b.Method != "unfinished branch and bound" {
			t.Errorf("%+v: the bound is called %s", o, b.Method)
		}
		if b.Value < trivial || f.errors(b.Value) > f.MinErrors || f.errors(r.Objective) < f.MinErrors {
			t.Errorf("%+v: %v to %v errors, optimum %v", o, f.errors(b.Value), f.errors(r.Objective), f.MinErrors)
		}
	}
}

func TestExactReportsProgress(t *testing.T) {
	_, g := readPairs(t, "testdata/dibs_10x20_P10.json")
	lower, upper, nodes, calls := math.Inf(-1), math.Inf(1), int64(0), 0
	r, b := exactly(t, g, ExactOptions{Progress: func(l, u float64, n int64) {
		if l < lower || u > upper || l > u {
			t.Errorf("from [%v, %v] to [%v, %v]", lower, upper, l, u)
		}
		if n < nodes {
			t.Errorf("from %d nodes to %d", nodes, n)
		}
		lower, upper, nodes, calls = l, u, n, calls+1
	}})
	if calls < 2 || nodes < 1 || lower != b.Value || upper != r.Objective {
		t.Errorf("%d calls, the last with [%v, %v]; result [%v, %v]", calls, lower, upper, b.Value, r.Objective)
	}
}

func TestExactOnOddGraphs(t *testing.T) {
	for name, c := range map[string]struct {
		n       int
		edges   []Edge
		want    float64
		cluster int
	}{
		"one node":         {1, nil, 0, 1},
		"no edges":         {3, nil, 0, 3},
		"costs of 0":       {3, []Edge{{0, 1, 0}, {1, 2, 0}}, 0, 3},
		"all attract":      {4, []Edge{{0, 1, 2}, {1, 2, 1}, {2, 3, 0.5}}, 0, 1},
		"all repel":        {3, []Edge{{0, 1, -2}, {1, 2, -1}, {0, 2, -0.5}}, -3.5, 3},
		"duplicates":       {2, []Edge{{0, 1, 1}, {1, 0, 1}, {0, 1, -3}}, -1, 2},
		"two components":   {4, []Edge{{0, 1, 1}, {2, 3, -1}}, -1, 3},
		"conflicted cycle": {3, []Edge{{0, 1, 1}, {1, 2, 2}, {0, 2, -1.5}}, -0.5, 2},
	} {
		r, b := exactly(t, mustGraph(t, c.n, c.edges), ExactOptions{})
		if r.Objective != c.want || b.Value != c.want || !r.Proven || len(r.Sizes) != c.cluster {
			t.Errorf("%s: %v >= %v, %d clusters, proven %v; want %v, %d", name, r.Objective, b.Value, len(r.Sizes), r.Proven, c.want, c.cluster)
		}
	}
}

func TestExactRefuses(t *testing.T) {
	g := mustGraph(t, 2, []Edge{{0, 1, 1}})
	for _, o := range []ExactOptions{{Nodes: -1}, {Work: -1}} {
		if _, _, err := Exact(context.Background(), g, o); !errors.Is(err, ErrInput) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, _, err := Exact(context.Background(), &Dense{N: 1 << 16}, ExactOptions{}); !errors.Is(err, ErrInput) {
		t.Errorf("65,536 nodes: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, g = readPairs(t, "testdata/dibs_10x20_P10.json")
	r, b, err := Exact(ctx, g, ExactOptions{})
	if !errors.Is(err, context.Canceled) || r == nil || r.Proven || b.Value > r.Objective {
		t.Errorf("cancelled: %+v, %v, %v", r, b, err)
	}
}

// Wherever a search is stopped, it has a clustering and a bound, and both hold.
func TestExactStoppedAnywhere(t *testing.T) {
	f, g := readPairs(t, "testdata/dibs_10x300_P10.json")
	looks := []int64{1, 2, 5, 10, 20, 40, 80, 150, 300, 600}
	for _, look := range looks {
		r, b, err := Exact(doneAtLook(look), g, ExactOptions{})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("look %d: %v", look, err)
		}
		if o := g.Objective(r.Labels); o != r.Objective || f.errors(o) < f.MinErrors || f.errors(b.Value) > f.MinErrors {
			t.Errorf("look %d: %v errors, counted %v, bound %v, optimum %v", look, f.errors(r.Objective), f.errors(o), f.errors(b.Value), f.MinErrors)
		}
	}
}
