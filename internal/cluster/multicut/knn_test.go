package multicut

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/par"
	"tercet/internal/rng"
)

func knnPoints(r *rng.Stream, n, d int) []float32 {
	x := make([]float32, n*d)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func plainSquared(x []float32, d, i, j int) float64 {
	sum := 0.0
	for c := range d {
		v := float64(x[i*d+c]) - float64(x[j*d+c])
		sum += v * v
	}
	return sum
}

func TestNearestAgainstPlainLoops(t *testing.T) {
	r := rng.New(15, "nearest")
	for _, c := range []struct{ n, d, k int }{{1, 1, 3}, {2, 1, 1}, {5, 2, 9}, {40, 3, 1}, {300, 5, 4}, {2300, 2, 3}} {
		x := knnPoints(r, c.n, c.d)
		g, err := Nearest(context.Background(), x, c.n, c.d, c.k, 0, 1, func(d2 float64) float64 { return 1 - d2 })
		if err != nil {
			t.Fatal(err)
		}
		want := map[[2]int32]bool{}
		for i := range c.n {
			dist := make([]float64, c.n)
			for j := range c.n {
				dist[j] = plainSquared(x, c.d, i, j)
			}
			dist[i] = math.Inf(1)
			for range min(c.k, c.n-1) { // the least, the first of equal ones
				j := slices.Index(dist, slices.Min(dist))
				want[[2]int32{int32(min(i, j)), int32(max(i, j))}] = true
				dist[j] = math.Inf(1)
			}
		}
		if g.Edges() != len(want) || g.Duplicates() != 0 {
			t.Fatalf("%+v: %d edges, %d duplicates, want %d", c, g.Edges(), g.Duplicates(), len(want))
		}
		g.Each(func(i, j int32, cost float64) {
			if w := 1 - plainSquared(x, c.d, int(i), int(j)); !want[[2]int32{i, j}] || math.Abs(cost-w) > 1e-9 {
				t.Fatalf("%+v: edge %d, %d costs %v, want %v, %v", c, i, j, cost, w, want[[2]int32{i, j}])
			}
		})
	}
}

// Points on a line far from 0: without centering their float32 products have no
// correct digit.
func TestNearestFarFromTheOrigin(t *testing.T) {
	for _, unit := range []float32{1, 1e30, 1e-30} {
		x := make([]float32, 30)
		for i := range x {
			x[i] = (1e4 + float32(i)) * unit
		}
		g, err := Nearest(context.Background(), x, 30, 1, 1, 0, 0, func(d2 float64) float64 { return d2 })
		if err != nil {
			t.Fatal(err)
		}
		g.Each(func(i, j int32, _ float64) {
			if j != i+1 {
				t.Errorf("unit %v: %d and %d are neighbors", unit, i, j)
			}
		})
	}
}

func TestNearestDrawsRandomPairs(t *testing.T) {
	r := rng.New(16, "nearest")
	const n, d = 60, 2
	x := knnPoints(r, n, d)
	one := func(float64) float64 { return 1 }
	for _, random := range []int{1, 7, n - 1, 1000} {
		g, err := Nearest(context.Background(), x, n, d, 0, random, 3, one)
		if err != nil {
			t.Fatal(err)
		}
		for i := range int32(n) {
			if to, _ := g.Neighbors(i); len(to) < min(random, n-1) {
				t.Errorf("%d random: node %d has %d neighbors", random, i, len(to))
			}
		}
		// Each row draws its own: pairs that two draw are one edge.
		if g.Edges() > n*random || random < n-1 && g.Edges() < n*random/2 || g.Duplicates() != 0 {
			t.Errorf("%d random: %d edges", random, g.Edges())
		}
		if complete := g.Edges() == n*(n-1)/2; complete != (random >= n-1) || complete != (g.warning == "") {
			t.Errorf("%d random: %d edges, warning %q", random, g.Edges(), g.warning)
		}
		again, err := Nearest(context.Background(), x, n, d, 0, random, 3, one)
		if err != nil || !slices.Equal(graphEdges(again), graphEdges(g)) {
			t.Errorf("%d random: not the same again", random)
		}
		other, err := Nearest(context.Background(), x, n, d, 0, random, 4, one)
		if err != nil || random < n-1 && slices.Equal(graphEdges(other), graphEdges(g)) {
			t.Errorf("%d random: the seed changes nothing", random)
		}
	}
}

func TestNearestWarnsInEveryResult(t *testing.T) {
	x := knnPoints(rng.New(17, "nearest"), 50, 2)
	g, err := Nearest(context.Background(), x, 50, 2, 3, 2, 0, func(d2 float64) float64 { return 1 - d2 })
	if err != nil {
		t.Fatal(err)
	}
	for _, solve := range []func() (*Result, error){
		func() (*Result, error) { return GAEC(context.Background(), g) },
		func() (*Result, error) { return KernighanLin(context.Background(), g, nil, KLOptions{}) },
	} {
		res, err := solve()
		if err != nil || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "of 1225 pairs have an edge") || !strings.Contains(res.Warnings[0], "merged") {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

func TestNearestDuplicatesAndEqualPoints(t *testing.T) {
	g, err := Nearest(context.Background(), make([]float32, 20), 10, 2, 2, 0, 0, func(d2 float64) float64 { return 1 - d2 })
	if err != nil {
		t.Fatal(err)
	}
	// Equal distances go by number: everybody's neighbors are 0 and 1, of these 1 and 2, 0 and 2.
	g.Each(func(i, j int32, cost float64) {
		if i > 1 || cost != 1 {
			t.Errorf("edge %d, %d costs %v", i, j, cost)
		}
	})
	if g.Edges() != 17 {
		t.Errorf("%d edges", g.Edges())
	}
}

func TestNearestRefusesBadInput(t *testing.T) {
	ok := func(float64) float64 { return 1 }
	nan := float32(math.NaN())
	for name, bad := range map[string]struct {
		x            []float32
		n, d, k, rnd int
		cost         func(float64) float64
		want         string
	}{
		"no rows":   {nil, 0, 2, 1, 0, ok, "no rows"},
		"no dims":   {nil, 2, 0, 1, 0, ok, "0 dimensions"},
		"size":      {make([]float32, 5), 2, 3, 1, 0, ok, "need 6 numbers, got 5"},
		"nan":       {[]float32{0, 1, 2, nan}, 2, 2, 1, 0, ok, "row 1 column 1 is NaN"},
		"nothing":   {make([]float32, 4), 2, 2, 0, 0, ok, "make no graph"},
		"negative":  {make([]float32, 4), 2, 2, -1, 5, ok, "make no graph"},
		"bad costs": {make([]float32, 4), 2, 2, 1, 0, func(float64) float64 { return math.Inf(-1) }, "rows 0 and 1 cost -Inf"},
	} {
		if _, err := Nearest(context.Background(), bad.x, bad.n, bad.d, bad.k, bad.rnd, 0, bad.cost); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Nearest(ctx, make([]float32, 4), 2, 2, 1, 0, 0, ok); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestNearestGivesTheSameBitsOnAnyThreads(t *testing.T) {
	defer par.SetThreads(0)
	x := knnPoints(rng.New(18, "nearest"), 700, 9)
	var edges [][]Edge
	for _, threads := range []int{1, 3} {
		par.SetThreads(threads)
		g, err := Nearest(context.Background(), x, 700, 9, 5, 3, 1, func(d2 float64) float64 { return 1 - d2 })
		if err != nil {
			t.Fatal(err)
		}
		edges = append(edges, graphEdges(g))
	}
	if !slices.Equal(edges[0], edges[1]) {
		t.Error("differs between 1 and 3 threads")
	}
}
