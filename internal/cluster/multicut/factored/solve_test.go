package factored

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/cluster/multicut"
	"tercet/internal/par"
	"tercet/internal/rng"
)

func solveFactored(t testing.TB, f *Graph, o Options) *multicut.Result {
	t.Helper()
	r, err := f.Solve(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Objective(r.Labels); got != r.Objective {
		t.Fatalf("the objective is %v, said to be %v", got, r.Objective)
	}
	sum := 0
	for i, s := range r.Sizes {
		if sum += s; i > 0 && s > r.Sizes[i-1] {
			t.Fatalf("sizes %v do not fall", r.Sizes)
		}
	}
	if sum != f.n {
		t.Fatalf("sizes %v of %d nodes", r.Sizes, f.n)
	}
	return r
}

// plainBest is the least objective of all partitions: Bell(10) = 115,975 of 10 nodes.
func plainBest(w []float64, n int) float64 {
	best := math.Inf(1)
	labels := make([]int, n)
	var walk func(i, used int, cut float64)
	walk = func(i, used int, cut float64) {
		if i == n {
			best = min(best, cut)
			return
		}
		for c := 0; c <= used; c++ {
			more := 0.0
			for j := range i {
				if labels[j] != c {
					more += w[i*n+j]
				}
			}
			labels[i] = c
			walk(i+1, max(used, c+1), cut+more)
		}
	}
	walk(0, 0, 0)
	return best
}

// 1,000 complete graphs of 10 random points: never above GAEC or GAEC and
// Kernighan-Lin, and the optimum.
func TestSmallGraphsAgainstEnumeration(t *testing.T) {
	const n, graphs = 10, 200
	count := graphs
	if testing.Short() {
		count = 100
	}
	optimal := 0
	for g := range count {
		d := 1 + g%4
		r := rng.New(uint64(g), "test/factored/small")
		x := make([]float32, n*d)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		tau := math.Sqrt(2*float64(d)) * r.Uniform(0.4, 1.2)
		f := mustGraph(t, x, n, d, tau, 1)
		got := solveFactored(t, f, Options{}).Objective
		w := plainCosts(x, n, d, tau, 1)
		want := plainBest(w, n)
		near := 1e-9 * math.Abs(f.Total()-2*want+1)
		if got < want-near {
			t.Fatalf("graph %d: %v is below the optimum %v", g, got, want)
		}
		if got <= want+near {
			optimal++
		}
		m, err := f.Dense(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		greedy, err := multicut.GAEC(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		moved, err := multicut.KernighanLin(context.Background(), m, greedy.Labels, multicut.KLOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []*multicut.Result{greedy, moved} {
			if v := f.Objective(other.Labels); got > v+near {
				t.Errorf("graph %d: %v, and %s has %v", g, got, other.Solver, v)
			}
		}
	}
	if optimal < count*99/100 {
		t.Errorf("the optimum of %d of %d graphs", optimal, count)
	}
	t.Logf("the optimum of %d of %d graphs", optimal, count)
}

// Graphs of some hundred nodes whose classes overlap, against GAEC and
// Kernighan-Lin, without its being a start.
func TestIsAtOrBelowKernighanLin(t *testing.T) {
	for _, c := range []struct {
		n, d, k    int
		noise, tau float64
	}{{1000, 64, 10, 1.2, 1}, {1000, 64, 10, 3, 1}, {1000, 3, 10, 1, 0.5}, {600, 16, 30, 2, 1}} {
		x, truth, tau := sphere(uint64(c.d), c.n, c.d, c.k, c.noise)
		f := mustGraph(t, x, c.n, c.d, tau*c.tau, 1)
		m, err := f.Dense(1 << 30)
		if err != nil {
			t.Fatal(err)
		}
		greedy, err := multicut.GAEC(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		moved, err := multicut.KernighanLin(context.Background(), m, greedy.Labels, multicut.KLOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r := solveFactored(t, f, Options{Starts: []string{"one", "singletons"}})
		want := f.Objective(moved.Labels)
		if r.Objective > want+1e-9*math.Abs(want) {
			t.Errorf("%+v: %v with %d clusters, Kernighan-Lin has %v with %d", c, r.Objective, len(r.Sizes), want, len(moved.Sizes))
		}
		if v := f.Objective(truth); r.Objective > v {
			t.Errorf("%+v: %v, the truth has %v", c, r.Objective, v)
		}
		bound, err := f.TrivialBound(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if r.Objective < bound.Value {
			t.Errorf("%+v: %v is below the bound %v", c, r.Objective, bound.Value)
		}
	}
}

// No single move and no join gains, by plain sums over pairs.
func TestEndsInALocalOptimum(t *testing.T) {
	const n, d = 300, 8
	for _, start := range []string{"one", "singletons", "kmeans", "gaec", "klj"} {
		x, _, tau := sphere(17, n, d, 12, 1.6)
		f := mustGraph(t, x, n, d, tau, 2)
		r := solveFactored(t, f, Options{Starts: []string{start}, Kicks: -1})
		w := plainCosts(x, n, d, tau, 2)
		k := len(r.Sizes)
		if k < 3 {
			t.Fatalf("%s: %d clusters prove nothing", start, k)
		}
		between := make([]float64, k*k)
		for i := range n {
			with := make([]float64, k+1)
			for j := range n {
				with[r.Labels[j]] += w[i*n+j]
			}
			own := with[r.Labels[i]]
			for c, v := range with {
				if v > own+1e-5 {
					t.Errorf("%s: moving node %d to %d gains %v", start, i, c, v-own)
				}
				if c < k {
					between[int(r.Labels[i])*k+c] += v
				}
			}
		}
		for a := range k {
			for b := range a {
				if v := between[a*k+b]; v > 1e-5 {
					t.Errorf("%s: joining %d and %d gains %v", start, a, b, v)
				}
			}
		}
	}
}

func TestGivesTheSameBitsOnAnyThreads(t *testing.T) {
	defer par.SetThreads(0)
	for _, c := range []struct {
		n, d, k int
		noise   float64
		o       Options
	}{
		{1500, 16, 8, 2, Options{Kicks: 2}},
		{800, 8, 300, 1, Options{MinSize: 2}},
		{500, 8, 10, 2, Options{Starts: []string{"kmeans", "klj"}, Kicks: 2, Seed: 5}},
	} {
		x, _, tau := sphere(2, c.n, c.d, c.k, c.noise)
		var first *multicut.Result
		for _, threads := range []int{1, 3, 1} {
			par.SetThreads(threads)
			f := mustGraph(t, x, c.n, c.d, tau, 1)
			r := solveFactored(t, f, c.o)
			if first == nil {
				first = r
			}
			if r.Objective != first.Objective || !slices.Equal(r.Labels, first.Labels) || r.Rounds != first.Rounds {
				t.Fatalf("n=%d: %v with %d threads, %v before", c.n, r.Objective, threads, first.Objective)
			}
		}
	}
}

func TestEdgeCases(t *testing.T) {
	same := func(n int) []float32 { return make([]float32, n*2) }
	line := func(n int, step float32) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = step * float32(i)
		}
		return x
	}
	twice := func(x []float32) []float32 { return append(slices.Clone(x), x...) }
	for _, c := range []struct {
		name   string
		x      []float32
		n, d   int
		tau    float64
		want   []int
		proven bool
	}{
		{"one point", []float32{3, 4}, 1, 2, 1, []int{1}, true},
		{"two near points", line(2, 1), 2, 1, 1.5, []int{2}, false},
		{"two far points", line(2, 1), 2, 1, 0.5, []int{1, 1}, false},
		{"all equal", same(50), 50, 2, 1e-6, []int{50}, true},
		{"all equal, far from 0", slices.Repeat([]float32{1e20}, 60), 30, 2, 1e-6, []int{30}, true},
		{"tau beyond all", line(20, 1), 20, 1, 50, []int{20}, true},
		{"tau below all", line(500, 1), 500, 1, 0.9, slices.Repeat([]int{1}, 500), false},
		{"duplicates alone", twice(line(300, 1)), 600, 1, 0.9, slices.Repeat([]int{2}, 300), false},
		{"tiny numbers", line(4, 1e-30), 4, 1, 0.5e-30, []int{1, 1, 1, 1}, false},
		{"huge numbers", line(4, 1e36), 4, 1, 0.5e36, []int{1, 1, 1, 1}, false},
		{"a tau that float32 does not see", line(100, 1), 100, 1, 1e-9, slices.Repeat([]int{1}, 100), false},
	} {
		f := mustGraph(t, c.x, c.n, c.d, c.tau, 1)
		for _, starts := range [][]string{nil, {"one"}, {"singletons"}, {"kmeans"}} {
			r := solveFactored(t, f, Options{Starts: starts})
			if !slices.Equal(r.Sizes, c.want) || c.proven && !r.Proven {
				t.Errorf("%s from %v: %d clusters %v, proven %v", c.name, starts, len(r.Sizes), r.Sizes[:min(5, len(r.Sizes))], r.Proven)
			}
			if r.Solver != "factored" || len(r.Warnings) > 0 {
				t.Errorf("%s: %s, %v", c.name, r.Solver, r.Warnings)
			}
		}
	}
}

// As many classes as there can be: pairs of points, all far from one another.
func TestWithVeryManyClusters(t *testing.T) {
	const k, d = 4000, 24
	x, _, _ := sphere(31, k, d, 1, 1000)
	r := rng.New(4, "test/pairs")
	for _, v := range slices.Clone(x) {
		x = append(x, v+float32(1e-3*r.NormFloat64()))
	}
	f := mustGraph(t, x, 2*k, d, 0.1, 1)
	got := solveFactored(t, f, Options{Starts: []string{"one"}, Kicks: -1})
	if len(got.Sizes) != k {
		t.Fatalf("%d clusters, want %d", len(got.Sizes), k)
	}
	for i := range k {
		if got.Labels[i] != got.Labels[i+k] {
			t.Fatalf("point %d and its neighbor are apart", i)
		}
	}
}

func TestStartsFromLabels(t *testing.T) {
	x, truth, tau := sphere(8, 400, 16, 6, 1)
	f := mustGraph(t, x, 400, 16, tau, 1)
	from := make([]int32, 400)
	for i, l := range truth {
		from[i] = 7*l - 3
	}
	kept := slices.Clone(from)
	r := solveFactored(t, f, Options{From: from, Kicks: -1})
	if r.Objective > f.Objective(truth) || !slices.Equal(from, kept) {
		t.Errorf("%v from %v", r.Objective, f.Objective(truth))
	}
	var said []string
	solveFactored(t, f, Options{From: from, Starts: []string{"one"}, Kicks: 1, Progress: func(start string, round int) {
		if round == 1 && !slices.Contains(said, start) {
			said = append(said, start)
		}
	}})
	if !slices.Equal(said, []string{"from", "one", "kick 1"}) {
		t.Errorf("progress of %v", said)
	}
}

func TestSmallestSize(t *testing.T) {
	// Two groups of 20 and two points alone, nearer to one of the groups.
	var x []float32
	for i := range 40 {
		x = append(x, float32(i/20)*10+0.01*float32(i%20))
	}
	x = append(x, 3, 14)
	f := mustGraph(t, x, 42, 1, 2, 1)
	r := solveFactored(t, f, Options{})
	if !slices.Equal(r.Sizes, []int{20, 20, 1, 1}) {
		t.Fatalf("sizes %v", r.Sizes)
	}
	small := solveFactored(t, f, Options{MinSize: 2})
	if !slices.Equal(small.Sizes, []int{21, 21}) || small.Labels[40] != small.Labels[0] || small.Labels[41] != small.Labels[20] {
		t.Fatalf("sizes %v, labels %v", small.Sizes, small.Labels[40:])
	}
	want := fmt.Sprintf("2 clusters of fewer than 2 nodes were dissolved and their 2 nodes put into others: the objective rose from %.9g to %.9g", r.Objective, small.Objective)
	if !slices.Equal(small.Warnings, []string{want}) {
		t.Errorf("warnings %q, want %q", small.Warnings, want)
	}
	none := solveFactored(t, f, Options{MinSize: 21})
	if !slices.Equal(none.Labels, r.Labels) || len(none.Warnings) != 1 || !strings.Contains(none.Warnings[0], "no cluster has 21 nodes") {
		t.Errorf("%v %v", none.Sizes, none.Warnings)
	}
	if r := solveFactored(t, f, Options{Rounds: 1, Kicks: -1}); len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "after 1 rounds") {
		t.Errorf("one round: %v", r.Warnings)
	}
}

// Where the threshold is so small that joining equal points gains nothing that counts,
// a warning says which are left apart; where it is larger they are joined.
func TestThresholdBelowRounding(t *testing.T) {
	x := []float32{0, 0, 3, 3, 7, 7, -10, -10}
	for _, c := range []struct {
		tau     float64
		warned  bool
		cluster int
	}{{1e-9, true, 8}, {1e-5, true, 6}, {4e-5, false, 4}, {1e-2, false, 4}} {
		f := mustGraph(t, x, 8, 1, c.tau, 1)
		r, err := f.Solve(context.Background(), Options{Starts: []string{"singletons"}})
		if err != nil {
			t.Fatal(err)
		}
		if warned := strings.Contains(strings.Join(r.Warnings, ""), "too small for data"); warned != c.warned || len(r.Sizes) != c.cluster {
			t.Errorf("threshold %v: %d clusters, %q", c.tau, len(r.Sizes), r.Warnings)
		}
	}
}
