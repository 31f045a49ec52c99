package multicut

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"tercet/internal/par"
	"tercet/internal/rng"
)

var greedy = []struct {
	name  string
	solve func(context.Context, Costs) (*Result, error)
	plain func(w [][]float64) []int32
}{
	{"gaec", GAEC, func(w [][]float64) []int32 { return plainContraction(w, plainAdd, plainPositive) }},
	{"balanced-gaec", BalancedGAEC, func(w [][]float64) []int32 { return plainContraction(w, plainAdd, plainBalanced) }},
	{"greedy-fixation", GreedyFixation, func(w [][]float64) []int32 { return plainContraction(w, plainAdd, plainAll) }},
	{"mutex-watershed", MutexWatershed, plainMutex},
}

// gaecCheck compares a solver with the plain loops.
func gaecCheck(t *testing.T, solve func(context.Context, Costs) (*Result, error), name string, c Costs, want []int32) {
	t.Helper()
	res, err := solve(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	want = renumbered(want)
	if !slices.Equal(res.Labels, want) {
		t.Fatalf("%s on %T: %v\nwant %v", name, c, res.Labels, want)
	}
	if res.Solver != name || res.Objective != c.Objective(want) || !slices.Equal(res.Sizes, Renumber(want)) {
		t.Fatalf("result %+v", res)
	}
}

func TestGreedySolversAgainstPlainLoops(t *testing.T) {
	for _, s := range greedy {
		r := rng.New(2, "greedy", uint64(len(s.name)))
		for trial := range 60 {
			mu := []float64{-1, -0.3, 0, 0.3}[trial%4]
			n := 1 + trial
			w, d := gaecRandom(t, r, n, mu)
			want := s.plain(w)
			gaecCheck(t, s.solve, s.name, d, want)
			gaecCheck(t, s.solve, s.name, gaecAsGraph(t, w), want)
			gaecCheck(t, s.solve, s.name, gaecOther{d}, want)
			w, g := gaecSparse(t, r, n, 0.3, 0)
			gaecCheck(t, s.solve, s.name, g, s.plain(w))
			w, g = gaecSparse(t, r, n, 0.9, 0)
			gaecCheck(t, s.solve, s.name, g, s.plain(w))
		}
	}
}

// gaecOther hides the kind of costs.
type gaecOther struct{ Costs }

func gaecAsGraph(t *testing.T, w [][]float64) *Graph {
	t.Helper()
	var edges []Edge
	for i := range w {
		for j := range i {
			edges = append(edges, Edge{int32(i), int32(j), w[i][j]})
		}
	}
	g, err := NewGraph(len(w), edges)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Small integer costs have ties at every step, zero costs among them.
func TestGreedySolversBreakTies(t *testing.T) {
	for k, s := range greedy[:3] { // in the order of their rules
		r := rng.New(3, "ties", uint64(len(s.name)))
		for trial := range 200 {
			w, g := gaecSparse(t, r, 2+trial%20, 1, 1)
			want := s.plain(w)
			gaecCheck(t, s.solve, s.name, g, want)
			gaecCheck(t, s.solve, s.name, gaecDense(t, w), want)
			labels, err := contractSparse(context.Background(), g, rule(k))
			if err != nil || !slices.Equal(renumbered(labels), renumbered(want)) {
				t.Fatalf("%s: sparse %v, want %v, %v", s.name, labels, want, err)
			}
		}
	}
}

func gaecDense(t *testing.T, w [][]float64) *Dense {
	t.Helper()
	n := len(w)
	cost := make([]float32, n*n)
	for i := range n {
		for j := range n {
			cost[i*n+j] = float32(w[i][j])
		}
	}
	d := &Dense{N: n, Cost: cost}
	return d
}

// 0 and 3 repel most of all. GAEC joins 0, 1 and 2, which then attract 3 by 0.1;
// fixation has parted 0 and 3 before.
func TestGreedyFixationKeepsCuts(t *testing.T) {
	edges := []Edge{{0, 1, 0.85}, {0, 3, -0.9}, {1, 2, 0.8}, {2, 3, 0.7}, {1, 3, 0.3}}
	g, err := NewGraph(4, edges)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		solve func(context.Context, Costs) (*Result, error)
		want  []int32
	}{{GAEC, []int32{0, 0, 0, 0}}, {GreedyFixation, []int32{0, 0, 0, 1}}} {
		res, err := s.solve(context.Background(), g)
		if err != nil || !slices.Equal(res.Labels, s.want) {
			t.Errorf("%+v, %v; want %v", res, err, s.want)
		}
	}
}

func TestGreedySolversOnEdgeCases(t *testing.T) {
	for _, s := range greedy {
		one, err := NewGraph(1, nil)
		if err != nil {
			t.Fatal(err)
		}
		gaecCheck(t, s.solve, s.name, one, []int32{0})
		none, err := NewGraph(3, nil)
		if err != nil {
			t.Fatal(err)
		}
		gaecCheck(t, s.solve, s.name, none, []int32{0, 1, 2})
		zero, err := NewGraph(3, []Edge{{0, 1, 0}, {1, 2, 1}, {1, 2, -1}})
		if err != nil {
			t.Fatal(err)
		}
		gaecCheck(t, s.solve, s.name, zero, []int32{0, 1, 2})
		gaecCheck(t, s.solve, s.name, &Dense{1, []float32{0}}, []int32{0})
		gaecCheck(t, s.solve, s.name, &Dense{3, make([]float32, 9)}, []int32{0, 1, 2})
		two, err := NewGraph(5, []Edge{{0, 1, 1}, {3, 4, 2}, {1, 2, -1}})
		if err != nil {
			t.Fatal(err)
		}
		gaecCheck(t, s.solve, s.name, two, []int32{0, 0, 1, 2, 2})
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := s.solve(ctx, two); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}

func TestGreedySolversGiveTheSameBitsOnAnyThreads(t *testing.T) {
	defer par.SetThreads(0)
	_, d := gaecRandom(t, rng.New(4, "threads"), 300, 0)
	for _, s := range greedy {
		par.SetThreads(1)
		a, err := s.solve(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		par.SetThreads(3)
		b, err := s.solve(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Labels, b.Labels) || math.Float64bits(a.Objective) != math.Float64bits(b.Objective) {
			t.Errorf("%s differs between 1 and 3 threads", s.name)
		}
	}
}
