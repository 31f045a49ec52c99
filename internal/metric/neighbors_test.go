package metric

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// plainNeighbors sorts all items of each query by float64 distance, then index.
func plainNeighbors(x, g []float32, d, k int, skipSelf bool) (index []int32, distance []float64) {
	type item struct {
		square float64
		i      int32
	}
	n, ng := len(x)/d, len(g)/d
	for q := range n {
		var all []item // the k nearest so far
		for j := range ng {
			if skipSelf && j == q {
				continue
			}
			var s float64
			for c := range d {
				v := float64(x[q*d+c]) - float64(g[j*d+c])
				s += v * v
			}
			at, _ := slices.BinarySearchFunc(all, s, func(v item, s float64) int { // behind equal ones
				if v.square > s {
					return 1
				}
				return -1
			})
			if at < k {
				all = slices.Insert(all, at, item{s, int32(j)})
				all = all[:min(len(all), k)]
			}
		}
		for _, v := range all {
			index, distance = append(index, v.i), append(distance, math.Sqrt(v.square))
		}
	}
	return index, distance
}

func checkNeighbors(t *testing.T, name string, x, g []float32, n, d, k int, own bool) {
	t.Helper()
	gallery := g
	if g == nil {
		gallery = x
	}
	index, distance := plainNeighbors(x, gallery, d, k, g == nil && !own)
	onLevels(t, func(level string) {
		got, err := Neighbors(context.Background(), x, n, d, NeighborOptions{K: k, Gallery: g, Self: own})
		if err != nil {
			t.Fatalf("%s %s: %v", level, name, err)
		}
		if got.K != k || len(got.Index) != n*k || len(got.Distance) != n*k {
			t.Fatalf("%s %s: %d, %d, %d", level, name, got.K, len(got.Index), len(got.Distance))
		}
		for i, v := range index {
			if got.Index[i] != v || math.Abs(got.Distance[i]-distance[i]) > 1e-12*distance[i] {
				t.Fatalf("%s %s: query %d neighbor %d: item %d at %v, want %d at %v", level, name, i/k, i%k, got.Index[i], got.Distance[i], v, distance[i])
			}
		}
	})
}

// onLevels calls f at each kernel level.
func onLevels(t *testing.T, f func(level string)) {
	t.Helper()
	for _, l := range kernel.Levels() {
		restore, err := kernel.Force(l)
		if err != nil {
			t.Fatal(err)
		}
		f(l.String())
		restore()
	}
}

func TestNeighborsAgainstSorting(t *testing.T) {
	for _, c := range []struct{ n, ng, d, k int }{
		{1, 1, 1, 1}, {3, 5, 2, 2}, {70, 65, 17, 11}, {300, 257, 40, 60}, {300, 1100, 3, 5}, {141, 64, 520, 11},
	} {
		r := rand.New(rand.NewPCG(uint64(c.n), 5))
		for _, kind := range []string{"normal", "ties"} {
			draw := func(n int) []float32 { return normals(r, n, c.d) }
			if kind == "ties" {
				draw = func(n int) []float32 { return grid(r, n, c.d, 3) }
			}
			x, g := draw(c.n), draw(c.ng)
			checkNeighbors(t, kind+" gallery", x, g, c.n, c.d, c.k, false)
			checkNeighbors(t, kind+" with itself", x, nil, c.n, c.d, min(c.k, c.n), true)
			if c.n > 1 {
				checkNeighbors(t, kind+" others", x, nil, c.n, c.d, min(c.k, c.n-1), false)
			}
		}
	}
}

// What float32 products cannot order: many equal rows, rows that differ by less
// than the products' error, a common offset, lengths of very different orders.
func TestNeighborsHardData(t *testing.T) {
	const n, d, k = 250, 20, 7
	r := rand.New(rand.NewPCG(8, 8))
	edit := func(x []float32, f func(i int, v float32) float32) []float32 {
		for i, v := range x {
			x[i] = f(i, v)
		}
		return x
	}
	for _, c := range []struct {
		name string
		x    []float32
	}{
		{"all equal", edit(make([]float32, n*d), func(i int, _ float32) float32 { return []float32{.1, -.7, .3333}[i%d%3] })},
		{"all zero", make([]float32, n*d)},
		{"two places", edit(make([]float32, n*d), func(i int, _ float32) float32 { return float32(i/d%2) * .37 })},
		{"near equal", edit(normals(r, n, d), func(i int, v float32) float32 { return float32(i%d) - 3 + v*1e-5 })},
		{"ten clusters", edit(normals(r, n, d), func(i int, v float32) float32 { return float32((i/d%10*31+i%d*17)%23) + v*2e-5 })},
		{"offset", edit(normals(r, n, d), func(i int, v float32) float32 { return 1000 + v*.01 })},
		{"huge", edit(normals(r, n, d), func(i int, v float32) float32 { return v * 0x1p100 })},
		{"tiny", edit(normals(r, n, d), func(i int, v float32) float32 { return v * 0x1p-120 })},
		{"denormal", edit(normals(r, n, d), func(i int, v float32) float32 { return v * 0x1p-145 })},
		{"one long", edit(normals(r, n, d), func(i int, v float32) float32 { return v * max(1, float32(i/d-n+2)*1e6) })},
		{"all lengths", edit(normals(r, n, d), func(i int, v float32) float32 { return v * float32(math.Exp2(float64(i/d%60-30))) })},
	} {
		checkNeighbors(t, c.name, c.x, nil, n, d, k, false)
		checkNeighbors(t, c.name+" with itself", c.x, nil, n, d, k, true)
		checkNeighbors(t, c.name+" gallery", c.x[:50*d], c.x[30*d:], 50, d, k, false)
	}
}

// Bounds by bytes in place of products, where they exclude much and where they do
// not, at all levels.
func TestNeighborsByBytes(t *testing.T) {
	const n, d, k = 1100, 33, 7 // two stripes
	r := rand.New(rand.NewPCG(8, 9))
	edit := func(x []float32, f func(i int, v float32) float32) []float32 {
		for i, v := range x {
			x[i] = f(i, v)
		}
		return x
	}
	for _, c := range []struct {
		name  string
		x     []float32
		loose bool
	}{
		{"normal", normals(r, n, d), false},
		{"ties", grid(r, n, d, 2), false},
		{"two places", edit(make([]float32, n*d), func(i int, _ float32) float32 { return float32(i/d%2) * .37 }), true},
		{"ten clusters", edit(normals(r, n, d), func(i int, v float32) float32 { return float32((i/d%10*31+i%d*17)%23) + v*2e-5 }), true},
		{"all lengths", edit(normals(r, n, d), func(i int, v float32) float32 { return v * float32(math.Exp2(float64(i/d%60-30))) }), true},
	} {
		own := c.name == "ties"
		index, _ := plainNeighbors(c.x, c.x, d, k, !own)
		onLevels(t, func(level string) {
			s := newNearest(c.x, c.x, d, true, own, k)
			s.sweep.useBytes()
			if err := s.sweep.run(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
			if got := s.table(); !slices.Equal(got.Index, index) {
				t.Errorf("%s %s: neighbors differ", level, c.name)
			}
			if tried, loose := s.sweep.tried.Load(), s.sweep.loose.Load(); tried == 0 || c.loose && loose == 0 || !c.loose && 2*loose >= tried {
				t.Errorf("%s %s: %d of %d blocks of bounds were loose", level, c.name, loose, tried)
			}
		})
		index, _ = plainNeighbors(c.x[:100*d], c.x, d, k, false)
		s := newNearest(c.x[:100*d], c.x, d, false, false, k)
		s.sweep.useBytes()
		if err := s.sweep.run(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		if got := s.table(); !slices.Equal(got.Index, index) || s.sweep.tried.Load() == 0 {
			t.Errorf("%s: neighbors in a gallery differ", c.name)
		}
	}
}

func TestNeighborsThreads(t *testing.T) {
	defer par.SetThreads(par.Threads())
	r := rand.New(rand.NewPCG(3, 4))
	n, d := 2500, 40 // three stripes, bounds by bytes where there are
	x := normals(r, n, d)
	var want *NeighborTable
	for _, threads := range []int{1, 2, 3, 9} {
		par.SetThreads(threads)
		got, err := Neighbors(context.Background(), x, n, d, NeighborOptions{K: 9})
		if err != nil {
			t.Fatal(err)
		}
		if want != nil && (!slices.Equal(got.Index, want.Index) || !slices.Equal(got.Distance, want.Distance)) {
			t.Errorf("%d threads differ", threads)
		}
		want = got
	}
	onLevels(t, func(level string) {
		got, err := Neighbors(context.Background(), x, n, d, NeighborOptions{K: 9})
		if err != nil || !slices.Equal(got.Index, want.Index) || !slices.Equal(got.Distance, want.Distance) {
			t.Errorf("level %s differs (%v)", level, err)
		}
	})
}

func TestNeighborsBadInput(t *testing.T) {
	nan := float32(math.NaN())
	ok := []float32{1, 2, 3, 4}
	for name, c := range map[string]struct {
		x    []float32
		n, d int
		o    NeighborOptions
		want string
	}{
		"no rows":     {nil, 0, 2, NeighborOptions{K: 1}, "no embeddings"},
		"no columns":  {nil, 2, 0, NeighborOptions{K: 1}, "0 dimensions"},
		"short":       {ok[:3], 2, 2, NeighborOptions{K: 1}, "need 4 numbers, got 3"},
		"nan":         {[]float32{1, 2, 3, nan}, 2, 2, NeighborOptions{K: 1}, "row 1 column 1 is NaN"},
		"gallery":     {ok, 2, 2, NeighborOptions{K: 1, Gallery: ok[:3]}, "need 2 numbers, got 3"},
		"gallery nan": {ok, 2, 2, NeighborOptions{K: 1, Gallery: []float32{nan, 0}}, "gallery embeddings row 0 column 0"},
		"no gallery":  {ok, 2, 2, NeighborOptions{K: 1, Gallery: []float32{}}, "no gallery"},
		"k 0":         {ok, 2, 2, NeighborOptions{}, "0 neighbors of each query: there are 1 to 1"},
		"k":           {ok, 2, 2, NeighborOptions{K: 2}, "there are 1 to 1 to find"},
		"k itself":    {ok, 2, 2, NeighborOptions{K: 3, Self: true}, "there are 1 to 2 to find"},
	} {
		if _, err := Neighbors(context.Background(), c.x, c.n, c.d, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Neighbors(stopped, ok, 2, 2, NeighborOptions{K: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// A third of the rows of the job that docs/performance.md compares.
func BenchmarkNeighbors(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const n, d, k = 20000, 512, 11
	x := normals(r, n, d)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Neighbors(context.Background(), x, n, d, NeighborOptions{K: k, Self: true}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(n)*2*d*float64(b.N)/1e9/b.Elapsed().Seconds(), "GFLOP/s")
}
