package density

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tercet/internal/cluster/clustertest"
	"tercet/internal/par"
	"tercet/internal/testutil"
)

// plainHDBSCAN follows the paper on the graph of all pairs: its edges are taken out
// level by level, and components are found again each time. Squared distances are
// sums of integers in the tests and so exact, which makes equal ones equal.
func plainHDBSCAN(x []float32, n, d int, o Options) (labels []int32, probability []float64) {
	core := make([]float64, n)
	for i := range n {
		var all []float64
		for k := range n {
			all = append(all, clustertest.Squared(x, d, i, k))
		}
		slices.Sort(all)
		core[i] = all[o.MinSamples-1]
	}
	reach := func(i, k int) float64 { return math.Sqrt(max(core[i], core[k], clustertest.Squared(x, d, i, k))) }
	var levels []float64
	for i := range n {
		for k := range i {
			levels = append(levels, reach(i, k))
		}
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)

	type node struct {
		rows      map[int]bool // still in it
		all       []int
		parent    int
		birth     float64
		stability float64
		children  []int
	}
	everything := map[int]bool{}
	var rows []int
	for i := range n {
		everything[i] = true
		rows = append(rows, i)
	}
	tree := []*node{{rows: everything, all: rows, parent: -1}}
	left, at := make([]float64, n), make([]int, n)
	for l := len(levels) - 1; l >= 0; l-- {
		for c := 0; c < len(tree); c++ {
			v := tree[c]
			if len(v.children) > 0 || len(v.rows) == 0 {
				continue
			}
			density := 1 / levels[l]
			var parts [][]int
			seen := map[int]bool{}
			for i := range n {
				if !v.rows[i] || seen[i] {
					continue
				}
				part := []int{i}
				seen[i] = true
				for q := 0; q < len(part); q++ {
					for k := range n {
						if v.rows[k] && !seen[k] && reach(part[q], k) < levels[l] {
							seen[k] = true
							part = append(part, k)
						}
					}
				}
				parts = append(parts, part)
			}
			if len(parts) == 1 {
				continue
			}
			var large [][]int
			for _, p := range parts {
				if len(p) >= o.MinClusterSize && levels[l] > 0 {
					large = append(large, p)
					continue
				}
				for _, i := range p {
					delete(v.rows, i)
					left[i], at[i] = density, c
					v.stability += density - v.birth
				}
			}
			if len(large) > 1 {
				for _, p := range large {
					v.stability += float64(len(p)) * (density - v.birth)
					child := &node{rows: map[int]bool{}, all: p, parent: c, birth: density}
					for _, i := range p {
						delete(v.rows, i)
						child.rows[i] = true
					}
					v.children = append(v.children, len(tree))
					tree = append(tree, child)
				}
			}
		}
	}
	// Rows that no level parts (there is one row only).
	chosen := map[int]bool{}
	var best func(c int) (float64, []int)
	best = func(c int) (float64, []int) {
		var sum float64
		var below []int
		for _, k := range tree[c].children {
			s, b := best(k)
			sum += s
			below = append(below, b...)
		}
		if c > 0 && (len(tree[c].children) == 0 || o.Selection == "eom" && tree[c].stability >= sum) {
			return tree[c].stability, []int{c}
		}
		return sum, below
	}
	_, list := best(0)
	for _, c := range list {
		for o.Epsilon > 0 && 1/tree[c].birth < o.Epsilon && tree[c].parent > 0 {
			c = tree[c].parent
		}
		chosen[c] = true
	}
	labels, probability = make([]int32, n), make([]float64, n)
	for i := range labels {
		labels[i] = -1
	}
	for c := range chosen {
		var most float64
		for _, i := range tree[c].all {
			// A row stays in c until it, or the part that it goes with, leaves.
			k, v := at[i], left[i]
			for k != c {
				v, k = tree[k].birth, tree[k].parent
			}
			if !math.IsInf(v, 1) {
				most = max(most, v)
			}
		}
		for _, i := range tree[c].all {
			labels[i], probability[i] = int32(c), min(1, left[i]/most)
			if most == 0 {
				probability[i] = 1
			}
		}
	}
	return labels, probability
}

// lattice draws rows with small integers, so that many distances are equal.
func lattice(r *rand.Rand, n, d, k, width int) []float32 {
	x := make([]float32, n*d)
	for i := range n {
		c := r.IntN(k)
		for j := range d {
			x[i*d+j] = float32(c*(j+1)*width + int(2*r.NormFloat64()))
		}
	}
	return x
}

func TestHDBSCANAgainstLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	clusters := map[int]int{}
	for trial := range testutil.Trials(50, 150) {
		n, d := 2+r.IntN(60), 1+r.IntN(3)
		x := lattice(r, n, d, 1+r.IntN(5), r.IntN(9))
		if trial%2 == 0 { // without ties
			for i := range x {
				x[i] += float32(r.IntN(1<<10)) / (1 << 10)
			}
		}
		o := Options{MinClusterSize: 2 + r.IntN(6), MinSamples: 1 + r.IntN(min(n, 6)), Selection: []string{"eom", "leaf"}[r.IntN(2)]}
		if r.IntN(3) == 0 {
			o.Epsilon = 3 * r.Float64()
		}
		want, probability := plainHDBSCAN(x, n, d, o)
		got, err := HDBSCAN(context.Background(), x, n, d, o)
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("trial %d, n %d d %d %+v", trial, n, d, o)
		noise := 0
		for i := range want {
			if (want[i] < 0) != (got.Labels[i] < 0) {
				t.Fatalf("%s: row %d has label %d, want %d", what, i, got.Labels[i], want[i])
			}
			if want[i] < 0 {
				noise++
			}
			if !testutil.WithinRelative(got.Probabilities[i], probability[i], 1e-12) {
				t.Fatalf("%s: row %d has probability %v, want %v", what, i, got.Probabilities[i], probability[i])
			}
		}
		clustertest.SamePartition(t, got.Labels, want)
		clustertest.CheckNumbers(t, got.Labels, got.Sizes, len(got.Sizes))
		if noise != got.Noise || (len(got.Sizes) == 0) != (len(got.Warnings) == 1) {
			t.Fatalf("%s: noise %d, want %d; %q", what, got.Noise, noise, got.Warnings)
		}
		clusters[len(got.Sizes)]++
	}
	if len(clusters) < 5 {
		t.Errorf("numbers of clusters seen: %v", clusters)
	}
}

// Three blobs with different density, and noise around them.
func TestHDBSCANBlobs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	const n, d = 400, 5
	x, truth := make([]float32, n*d), make([]int, n)
	for i := range n {
		truth[i] = i % 4
		for j := range d {
			v := []float64{0, 30, -30, 0}[i%4] + []float64{.1, 1, 3, 0}[i%4]*r.NormFloat64()
			if i%4 == 3 {
				v = 200 * (r.Float64() - .5)
			}
			x[i*d+j] = float32(v)
		}
	}
	for _, selection := range []string{"eom", "leaf"} {
		h, err := HDBSCAN(context.Background(), x, n, d, Options{MinClusterSize: 20, MinSamples: 5, Selection: selection})
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for i, l := range h.Labels {
			if (truth[i] == 3) != (l < 0) || truth[i] < 3 && l != h.Labels[truth[i]] {
				wrong++
			}
		}
		if selection == "eom" && (len(h.Sizes) != 3 || wrong > 20) || len(h.Sizes) < 3 {
			t.Errorf("%s: %d clusters %v, %d wrong", selection, len(h.Sizes), h.Sizes, wrong)
		}
	}
}

func TestHDBSCANEdges(t *testing.T) {
	run := func(x []float32, n, d int, o Options) *Result {
		t.Helper()
		r, err := HDBSCAN(context.Background(), x, n, d, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := run([]float32{1, 2}, 1, 2, Options{}); r.Noise != 1 || r.Labels[0] != -1 || len(r.Warnings) != 1 {
		t.Errorf("one row: %+v", r)
	}
	same := make([]float32, 40)
	if r := run(same, 20, 2, Options{}); r.Noise != 20 || len(r.Sizes) != 0 {
		t.Errorf("equal rows are the whole, which is no cluster: %+v", r)
	}
	for i := range 10 { // two places, one with more rows
		same[i] = 5
	}
	for _, selection := range []string{"eom", "leaf"} {
		r := run(same, 20, 2, Options{Selection: selection})
		if !slices.Equal(r.Sizes, []int{15, 5}) || r.Labels[0] != 1 || r.Labels[19] != 0 || slices.Min(r.Probabilities) != 1 {
			t.Errorf("two places: %+v", r)
		}
	}
	for name, c := range map[string]struct {
		x    []float32
		n    int
		o    Options
		want string
	}{
		"none":      {nil, 0, Options{}, "no rows"},
		"nan":       {[]float32{1, float32(math.Inf(1))}, 2, Options{}, "row 1 column 0 is +Inf"},
		"size":      {same, 40, Options{MinClusterSize: 1}, "the least is 2"},
		"samples":   {same, 40, Options{MinSamples: 41}, "choose 1 to 40"},
		"selection": {same, 40, Options{Selection: "all"}, "choose eom or leaf"},
		"epsilon":   {same, 40, Options{Epsilon: -1}, "epsilon -1"},
	} {
		if _, err := HDBSCAN(context.Background(), c.x, c.n, 1, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := HDBSCAN(stopped, same, 40, 1, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestHDBSCANThreads(t *testing.T) {
	defer par.SetThreads(par.Threads())
	x, _ := clustertest.Blobs(6, 3000, 10, 8, 6)
	var want *Result
	for _, threads := range []int{1, 3} {
		par.SetThreads(threads)
		a, err := HDBSCAN(context.Background(), x, 3000, 10, Options{MinClusterSize: 20})
		if err != nil {
			t.Fatal(err)
		}
		if want != nil && !reflect.DeepEqual(a, want) {
			t.Errorf("%d threads differ", threads)
		}
		want = a
	}
	if len(want.Sizes) != 8 {
		t.Errorf("clusters %v", want.Sizes)
	}
}
