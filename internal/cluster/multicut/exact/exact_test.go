package exact

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"tercet/internal/cluster/multicut"
	"tercet/internal/cluster/multicut/multicuttest"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// exactly solves and checks what must hold of every answer.
func exactly(t testing.TB, c multicut.Costs, o Options) (*multicut.Result, multicut.Bound) {
	t.Helper()
	r, b, err := Solve(context.Background(), c, o)
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
func TestEqualsEnumeration(t *testing.T) {
	instances := 250
	if testing.Short() {
		instances = 60
	}
	for k := range instances {
		r := rng.New(uint64(k), "multicut/exact/complete")
		d, edges := multicuttest.DenseOf(t, 10, multicuttest.RandomEdges(r, 10, 1, []float64{-0.3, 0, 0.3}[k%3], false))
		want := multicuttest.LeastByEnumeration(10, edges)
		got, bound := exactly(t, d, Options{})
		if math.Abs(got.Objective-want) > 1e-9 || !got.Proven {
			t.Errorf("instance %d: %v (proven %v), want %v", k, got.Objective, got.Proven, want)
		}
		if bound.Value > want || bound.Value < want-1e-7 {
			t.Errorf("instance %d: bound %v of %v", k, bound.Value, want)
		}
	}
}

func TestEqualsEnumerationOnAllKindsOfGraphs(t *testing.T) {
	for k := range 800 {
		r := rng.New(uint64(k), "multicut/exact/kinds")
		n := 1 + r.IntN(8)
		edges := multicuttest.RandomEdges(r, n, 0.2+0.8*r.Float64(), r.Uniform(-1, 1), k%2 == 0)
		want := multicuttest.LeastByEnumeration(n, edges)
		got, bound := exactly(t, multicuttest.MustGraph(t, n, edges), Options{})
		if math.Abs(got.Objective-want) > 1e-9 || !got.Proven || bound.Value > want || bound.Value < want-1e-7 {
			t.Fatalf("instance %d, %v: %v >= %v (proven %v), want %v", k, edges, got.Objective, bound.Value, got.Proven, want)
		}
		if k%2 == 0 && bound.Value != want {
			t.Fatalf("instance %d: integers, bound %v of %v", k, bound.Value, want)
		}
	}
}

func TestProvesPairGraphs(t *testing.T) {
	for file, want := range map[string]multicuttest.PairFixture{
		"dibs_3x6_P20.json":    {MinErrors: 5, CycleBound: 4.5},
		"dibs_5x10_P10.json":   {MinErrors: 7},
		"dibs_10x20_P10.json":  {MinErrors: 17},
		"dibs_10x300_P10.json": {MinErrors: 205, CycleBound: 196.208333},
		"dibs_10x300_P20.json": {MinErrors: 310, CycleBound: 295.367708},
	} {
		f, g := multicuttest.ReadPairs(t, filepath.Join("testdata", file))
		if f.MinErrors != want.MinErrors {
			t.Fatalf("%s: the file says %v errors", file, f.MinErrors)
		}
		r, b := exactly(t, g, Options{})
		if f.Errors(r.Objective) != f.MinErrors || f.Errors(b.Value) != f.MinErrors || !r.Proven {
			t.Errorf("%s: %v errors, bound %v, proven %v; want %v", file, f.Errors(r.Objective), f.Errors(b.Value), r.Proven, f.MinErrors)
		}
		if h, err := multicut.KernighanLin(context.Background(), g, nil, multicut.KLOptions{}); err != nil || h.Objective < r.Objective {
			t.Errorf("%s: greedy contraction and Kernighan-Lin: %v, %v", file, h.Objective, err)
		} else {
			t.Logf("%s: %d nodes, %d edges: optimum %v errors, greedy contraction and Kernighan-Lin %v: gap %.2f %%",
				file, f.Nodes, g.Edges(), f.MinErrors, f.Errors(h.Objective), 100*multicut.Gap(h.Objective, b.Value))
		}
	}
}

// errors of a labeling, counted pair by pair, agree with the objective.
func TestObjectiveCountsErrorsOfPairs(t *testing.T) {
	f, g := multicuttest.ReadPairs(t, "testdata/dibs_3x6_P20.json")
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
		if got := f.Errors(g.Objective(labels)); got != errors {
			t.Fatalf("%v errors, want %v", got, errors)
		}
	}
}

// Costs of noise alone are the hardest: the relaxation is far from integral.
func TestProvesNoise(t *testing.T) {
	for _, n := range []int{16, 20} {
		for k, mean := range []float64{-0.3, 0, 0.3} {
			r := rng.New(uint64(n), "multicut/exact/noise")
			g := multicuttest.MustGraph(t, n, multicuttest.RandomEdges(r, n, 1, mean, k == 1 && n == 16))
			if res, b := exactly(t, g, Options{Nodes: 2000}); !res.Proven {
				t.Errorf("%d nodes, mean %v: %v to %v", n, mean, b.Value, res.Objective)
			}
		}
	}
}

func TestDoesNotDependOnThreads(t *testing.T) {
	defer par.SetThreads(0)
	_, g := multicuttest.ReadPairs(t, "testdata/dibs_10x300_P10.json")
	var labels [2][]int32
	for k, threads := range []int{1, 3} {
		par.SetThreads(threads)
		r, _ := exactly(t, g, Options{})
		labels[k] = r.Labels
	}
	if !slices.Equal(labels[0], labels[1]) {
		t.Error("other labels with other threads")
	}
}

func TestStopsAtLimits(t *testing.T) {
	f, g := multicuttest.ReadPairs(t, "testdata/dibs_10x300_P10.json")
	trivial := multicut.TrivialBound(g).Value
	for _, o := range []Options{{Nodes: 1, Work: 1}, {Work: 30_000_000}, {Work: 60_000_000}} {
		r, b := exactly(t, g, o)
		if r.Proven {
			t.Fatalf("%+v: proven", o)
		}
		if b.Method != "unfinished branch and bound" {
			t.Errorf("%+v: the bound is called %s", o, b.Method)
		}
		if b.Value < trivial || f.Errors(b.Value) > f.MinErrors || f.Errors(r.Objective) < f.MinErrors {
			t.Errorf("%+v: %v to %v errors, optimum %v", o, f.Errors(b.Value), f.Errors(r.Objective), f.MinErrors)
		}
	}
}

func TestReportsProgress(t *testing.T) {
	_, g := multicuttest.ReadPairs(t, "testdata/dibs_10x20_P10.json")
	lower, upper, nodes, calls := math.Inf(-1), math.Inf(1), int64(0), 0
	r, b := exactly(t, g, Options{Progress: func(l, u float64, n int64) {
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

func TestOnOddGraphs(t *testing.T) {
	for name, c := range map[string]struct {
		n       int
		edges   []multicut.Edge
		want    float64
		cluster int
	}{
		"one node":         {1, nil, 0, 1},
		"no edges":         {3, nil, 0, 3},
		"costs of 0":       {3, []multicut.Edge{{I: 0, J: 1, Cost: 0}, {I: 1, J: 2, Cost: 0}}, 0, 3},
		"all attract":      {4, []multicut.Edge{{I: 0, J: 1, Cost: 2}, {I: 1, J: 2, Cost: 1}, {I: 2, J: 3, Cost: 0.5}}, 0, 1},
		"all repel":        {3, []multicut.Edge{{I: 0, J: 1, Cost: -2}, {I: 1, J: 2, Cost: -1}, {I: 0, J: 2, Cost: -0.5}}, -3.5, 3},
		"duplicates":       {2, []multicut.Edge{{I: 0, J: 1, Cost: 1}, {I: 1, J: 0, Cost: 1}, {I: 0, J: 1, Cost: -3}}, -1, 2},
		"two components":   {4, []multicut.Edge{{I: 0, J: 1, Cost: 1}, {I: 2, J: 3, Cost: -1}}, -1, 3},
		"conflicted cycle": {3, []multicut.Edge{{I: 0, J: 1, Cost: 1}, {I: 1, J: 2, Cost: 2}, {I: 0, J: 2, Cost: -1.5}}, -0.5, 2},
	} {
		r, b := exactly(t, multicuttest.MustGraph(t, c.n, c.edges), Options{})
		if r.Objective != c.want || b.Value != c.want || !r.Proven || len(r.Sizes) != c.cluster {
			t.Errorf("%s: %v >= %v, %d clusters, proven %v; want %v, %d", name, r.Objective, b.Value, len(r.Sizes), r.Proven, c.want, c.cluster)
		}
	}
}

func TestRefuses(t *testing.T) {
	g := multicuttest.MustGraph(t, 2, []multicut.Edge{{I: 0, J: 1, Cost: 1}})
	for _, o := range []Options{{Nodes: -1}, {Work: -1}} {
		if _, _, err := Solve(context.Background(), g, o); !errors.Is(err, multicut.ErrInput) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, _, err := Solve(context.Background(), &multicut.Dense{N: 1 << 16}, Options{}); !errors.Is(err, multicut.ErrInput) {
		t.Errorf("65,536 nodes: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, g = multicuttest.ReadPairs(t, "testdata/dibs_10x20_P10.json")
	r, b, err := Solve(ctx, g, Options{})
	if !errors.Is(err, context.Canceled) || r == nil || r.Proven || b.Value > r.Objective {
		t.Errorf("canceled: %+v, %v, %v", r, b, err)
	}
}

// Wherever a search is stopped, it has a clustering and a bound, and both hold.
func TestStoppedAnywhere(t *testing.T) {
	f, g := multicuttest.ReadPairs(t, "testdata/dibs_10x300_P10.json")
	looks := []int64{1, 2, 5, 10, 20, 40, 80, 150, 300, 600}
	for _, look := range looks {
		r, b, err := Solve(multicuttest.DoneAtLook(look), g, Options{})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("look %d: %v", look, err)
		}
		if o := g.Objective(r.Labels); o != r.Objective || f.Errors(o) < f.MinErrors || f.Errors(b.Value) > f.MinErrors {
			t.Errorf("look %d: %v errors, counted %v, bound %v, optimum %v", look, f.Errors(r.Objective), f.Errors(o), f.Errors(b.Value), f.MinErrors)
		}
	}
}

// The gaps of triangle packing that the reference states for complete graphs of 10
// nodes with normal costs; here of the sums over all instances, since single optima
// may be near 0.
func TestTriangleBoundIsAsTightAsMeasured(t *testing.T) {
	for mean, most := range map[float64]float64{-0.3: 0.038, 0: 0.105, 0.3: 0.297} {
		lost, all := 0.0, 0.0
		for k := range 300 {
			r := rng.New(uint64(k), "multicut/triangle/gap")
			d, _ := multicuttest.DenseOf(t, 10, multicuttest.RandomEdges(r, 10, 1, mean, false))
			b, err := multicut.TriangleBound(context.Background(), d)
			if err != nil {
				t.Fatal(err)
			}
			best, _ := exactly(t, d, Options{})
			lost += best.Objective - b.Value
			all -= best.Objective
		}
		t.Logf("mean %v: gap %.1f %%, the reference's %.1f %%", mean, 100*lost/all, 100*most)
		if lost > most*all {
			t.Errorf("mean %v: gap %.3f, want at most %.3f", mean, lost/all, most)
		}
	}
}

func TestCycleBoundOfPairGraphs(t *testing.T) {
	for _, file := range []string{"dibs_3x6_P20.json", "dibs_5x10_P10.json", "dibs_10x20_P10.json", "dibs_10x300_P10.json", "dibs_10x300_P20.json"} {
		f, g := multicuttest.ReadPairs(t, filepath.Join("testdata", file))
		b, err := multicut.CycleBound(context.Background(), g, multicut.CycleOptions{})
		if err != nil {
			t.Fatal(err)
		}
		// No packing is above the relaxation's value, but for the rounding up to an
		// integer.
		got := f.Errors(b.Value)
		if got > math.Ceil(f.CycleBound) || got < 0.8*f.CycleBound {
			t.Errorf("%s: at least %v errors by packing, %v by the relaxation", file, got, f.CycleBound)
		}
	}
}
