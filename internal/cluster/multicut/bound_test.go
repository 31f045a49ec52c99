package multicut_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"tercet/internal/cluster/multicut"
	"tercet/internal/cluster/multicut/multicuttest"
	"tercet/internal/rng"
)

func TestGap(t *testing.T) {
	for _, c := range []struct{ objective, bound, want float64 }{
		{-10, -11, 0.1}, {4, 3, 0.25}, {-10, -10, 0}, {0, 0, 0}, {0, -3, 1}, {0, 1, 0}, {-10, -9.999999, 0},
	} {
		if got := multicut.Gap(c.objective, c.bound); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("Gap(%v, %v) = %v, want %v", c.objective, c.bound, got, c.want)
		}
	}
}

// All bounds of a graph that holds in a matrix of float32.
func boundsOf(t *testing.T, n int, edges []multicut.Edge) map[string]float64 {
	t.Helper()
	ctx := context.Background()
	d, rounded := multicuttest.DenseOf(t, n, edges)
	g := multicuttest.MustGraph(t, n, rounded)
	triangle, err := multicut.TriangleBound(ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	bounds := map[string]float64{"trivial": multicut.TrivialBound(g).Value, "triangle": triangle.Value}
	for name, length := range map[string]int{"cycle": 0, "cycle 3": 3, "cycle 4": 4} {
		b, err := multicut.CycleBound(ctx, g, multicut.CycleOptions{Length: length})
		if err != nil {
			t.Fatal(err)
		}
		bounds[name] = b.Value
	}
	return bounds
}

func TestBoundsAreBelowEveryClustering(t *testing.T) {
	for k := range 3000 {
		r := rng.New(uint64(k), "multicut/bounds")
		n := 1 + r.IntN(7)
		edges := multicuttest.RandomEdges(r, n, 0.3+0.7*r.Float64(), r.Uniform(-1, 1), k%3 == 0)
		if k%5 == 0 { // of very different sizes
			for i := range edges {
				edges[i].Cost *= math.Exp2(float64(r.IntN(60) - 40))
			}
		}
		_, rounded := multicuttest.DenseOf(t, n, edges)
		best := multicuttest.LeastByEnumeration(n, rounded)
		bounds := boundsOf(t, n, edges)
		for name, b := range bounds {
			if b > best {
				t.Fatalf("instance %d, %v: %s bound %v of %v", k, edges, name, b, best)
			}
			if b < bounds["trivial"] {
				t.Fatalf("instance %d, %v: %s bound %v below the trivial one, %v", k, edges, name, b, bounds["trivial"])
			}
		}
	}
}

// A million times the same number that no sum of float64 keeps.
func TestTrivialBoundIsBelowMeasuredObjectives(t *testing.T) {
	const n = 1500
	cost := make([]float32, n*n)
	for i := range n {
		for j := range i {
			cost[i*n+j], cost[j*n+i] = -0.1, -0.1
		}
	}
	cost[1], cost[n] = -1e-30, -1e-30
	d := &multicut.Dense{N: n, Cost: cost}
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(i)
	}
	objective, bound := d.Objective(labels), multicut.TrivialBound(d).Value
	if bound > objective || bound < objective*(1+1e-8) {
		t.Errorf("bound %v of %v", bound, objective)
	}
}

func TestBoundsInClosedForm(t *testing.T) {
	square := []multicut.Edge{{I: 0, J: 1, Cost: 1}, {I: 1, J: 2, Cost: 1}, {I: 2, J: 3, Cost: 1}, {I: 0, J: 3, Cost: -1}}
	for name, c := range map[string]struct {
		n                        int
		edges                    []multicut.Edge
		trivial, triangle, cycle float64
	}{
		"one node":              {1, nil, 0, 0, 0},
		"all attract":           {3, []multicut.Edge{{I: 0, J: 1, Cost: 1}, {I: 1, J: 2, Cost: 2}}, 0, 0, 0},
		"all repel":             {3, []multicut.Edge{{I: 0, J: 1, Cost: -1}, {I: 1, J: 2, Cost: -2}, {I: 0, J: 2, Cost: -3}}, -6, -6, -6},
		"conflicted triangle":   {3, []multicut.Edge{{I: 0, J: 1, Cost: 1}, {I: 1, J: 2, Cost: 1}, {I: 0, J: 2, Cost: -1}}, -1, 0, 0},
		"weak side":             {3, []multicut.Edge{{I: 0, J: 1, Cost: 0.25}, {I: 1, J: 2, Cost: 1}, {I: 0, J: 2, Cost: -1}}, -1, -0.75, -0.75},
		"strong sides":          {3, []multicut.Edge{{I: 0, J: 1, Cost: 4}, {I: 1, J: 2, Cost: 5}, {I: 0, J: 2, Cost: -1.5}}, -1.5, 0, 0},
		"two repel":             {3, []multicut.Edge{{I: 0, J: 1, Cost: 1}, {I: 1, J: 2, Cost: -1}, {I: 0, J: 2, Cost: -1}}, -2, -2, -2},
		"conflicted square":     {4, square, -1, -1, 0},
		"two triangles":         {4, []multicut.Edge{{I: 0, J: 1, Cost: -2}, {I: 0, J: 2, Cost: 1}, {I: 1, J: 2, Cost: 1}, {I: 0, J: 3, Cost: 1}, {I: 1, J: 3, Cost: 1}}, -2, 0, 0},
		"one side for two":      {4, []multicut.Edge{{I: 0, J: 1, Cost: 1}, {I: 1, J: 2, Cost: 1}, {I: 0, J: 2, Cost: -1}, {I: 1, J: 3, Cost: 1}, {I: 0, J: 3, Cost: -1}}, -2, -1, -1},
		"whole numbers by 3":    {3, []multicut.Edge{{I: 0, J: 1, Cost: 3}, {I: 1, J: 2, Cost: 3}, {I: 0, J: 2, Cost: -6}}, -6, -3, -3},
		"costs that are none":   {3, []multicut.Edge{{I: 0, J: 1, Cost: 0}, {I: 1, J: 2, Cost: 0}, {I: 0, J: 2, Cost: 0}}, 0, 0, 0},
		"a cost of the tiniest": {3, []multicut.Edge{{I: 0, J: 1, Cost: 1e-40}, {I: 1, J: 2, Cost: 1}, {I: 0, J: 2, Cost: -1}}, -1, -1, -1},
	} {
		got := boundsOf(t, c.n, c.edges)
		for kind, want := range map[string]float64{"trivial": c.trivial, "triangle": c.triangle, "cycle 3": c.triangle, "cycle": c.cycle} {
			if math.Abs(got[kind]-want) > 1e-9 || math.Signbit(got[kind]) && got[kind] == 0 {
				t.Errorf("%s: %s bound %v, want %v", name, kind, got[kind], want)
			}
		}
	}
}

func TestCostSumKnowsWhatIsExact(t *testing.T) {
	for name, c := range map[string]struct {
		costs []float64
		step  float64
	}{
		"units":         {[]float64{1, -1, 1, 0}, 1},
		"sixes":         {[]float64{12, -18, 6}, 6},
		"quarters":      {[]float64{0.75, -1.5}, 0.75},
		"tenths":        {[]float64{0.1, 0.3}, 0},
		"far apart":     {[]float64{1, 0x1p-30}, 0x1p-30},
		"too far apart": {[]float64{1, 0x1p-60}, 0},
		"further":       {[]float64{1e300, 1e-300}, 0},
		"none":          {[]float64{0}, 0},
	} {
		var s multicut.CostSum
		for _, v := range c.costs {
			s.Add(v)
		}
		if got := s.Step(); got != c.step {
			t.Errorf("%s: step %v, want %v", name, got, c.step)
		}
		if exact := c.step > 0 || name == "none"; (s.Margin() == 0) != exact {
			t.Errorf("%s: margin %v", name, s.Margin())
		}
	}
	var s multicut.CostSum
	s.Add(-4)
	s.Add(4)
	for bound, want := range map[float64]float64{-8: -8, -7.9: -4, -4.0000001: -4, -3.9: 0, 0.1: 4} {
		if got := s.Raise(bound); got != want {
			t.Errorf("%v is raised to %v, want %v", bound, got, want)
		}
	}
}

func TestBoundsRefuse(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d, _ := multicuttest.DenseOf(t, 3, []multicut.Edge{{I: 0, J: 1, Cost: 1}})
	if _, err := multicut.TriangleBound(ctx, d); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	g := multicuttest.MustGraph(t, 3, []multicut.Edge{{I: 0, J: 1, Cost: 1}})
	if _, err := multicut.CycleBound(ctx, g, multicut.CycleOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, l := range []int{-1, 1, 2} {
		if _, err := multicut.CycleBound(context.Background(), g, multicut.CycleOptions{Length: l}); !errors.Is(err, multicut.ErrInput) {
			t.Errorf("length %d: %v", l, err)
		}
	}
}

// Where no cost is negative one cluster is best, at 0, and bounds say so although
// their sums are not exact.
func TestBoundsWithoutNegativeCosts(t *testing.T) {
	ctx := context.Background()
	r := rng.New(1, "test/attractive")
	const n = 40
	d := &multicut.Dense{N: n, Cost: make([]float32, n*n)}
	var edges []multicut.Edge
	for i := range int32(n) {
		for j := range i {
			c := r.Float64()
			d.Cost[i*n+j], d.Cost[j*n+i] = float32(c), float32(c)
			edges = append(edges, multicut.Edge{I: i, J: j, Cost: c})
		}
	}
	g, err := multicut.NewGraph(n, edges)
	if err != nil {
		t.Fatal(err)
	}
	triangle, err := multicut.TriangleBound(ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	cycle, err := multicut.CycleBound(ctx, g, multicut.CycleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []multicut.Bound{multicut.TrivialBound(d), multicut.TrivialBound(g), triangle, cycle} {
		if b.Value != 0 {
			t.Errorf("%s: %v", b.Method, b.Value)
		}
	}
}

// A bound proves what is not above it by more than rounding.
func TestBoundProves(t *testing.T) {
	for _, c := range []struct {
		b         multicut.Bound
		objective float64
		want      bool
	}{
		{multicut.Bound{Value: -5}, -5, true},
		{multicut.Bound{Value: -5}, -5.1, true},
		{multicut.Bound{Value: -5}, -5 + 1e-12, false}, // exact sums: a difference is one
		{multicut.Bound{Value: -5, Margin: 1e-11}, -5 + 1e-12, true},
		{multicut.Bound{Value: -5, Margin: 1e-11}, -5 + 1.9e-11, true}, // the margin of the bound, and of the objective
		{multicut.Bound{Value: -5, Margin: 1e-12}, -5 + 1e-11, false},
		{multicut.Bound{Value: -5, Margin: 1}, -4.5, false}, // rounding that hides all proves nothing
		{multicut.Bound{Value: -1e-30, Margin: 1}, 0, false},
	} {
		if got := c.b.Proves(c.objective); got != c.want {
			t.Errorf("%+v of %v: %v", c.b, c.objective, got)
		}
	}
}

// dearGraph is a complete graph of costs at random.
func dearGraph(t *testing.T, n int) (*multicut.Graph, *multicut.Dense) {
	r := rng.New(7, "test/dear")
	d := &multicut.Dense{N: n, Cost: make([]float32, n*n)}
	var edges []multicut.Edge
	for i := range int32(n) {
		for j := range i {
			c := float32(r.NormFloat64())
			d.Cost[int(i)*n+int(j)], d.Cost[int(j)*n+int(i)] = c, c
			edges = append(edges, multicut.Edge{I: i, J: j, Cost: float64(c)})
		}
	}
	return multicuttest.MustGraph(t, n, edges), d
}

// What was packed before a limit of work is a bound: the more, the better.
func TestCycleBoundEndsAtItsWork(t *testing.T) {
	g, _ := dearGraph(t, 80)
	last := multicut.TrivialBound(g).Value
	for _, work := range []int64{1, 20_000, 100_000, 0} {
		b, err := multicut.CycleBound(context.Background(), g, multicut.CycleOptions{Work: work})
		if err != nil {
			t.Fatal(err)
		}
		if b.Ended != (work > 0) || b.Value < last || work > 1 && b.Value == last {
			t.Errorf("work %d: %+v after %v", work, b, last)
		}
		last = b.Value
	}
	if _, err := multicut.CycleBound(context.Background(), g, multicut.CycleOptions{Work: -1}); !errors.Is(err, multicut.ErrInput) {
		t.Errorf("a negative limit: %v", err)
	}
}

// Bounds look at the context often: about every million edges, and every few edges of
// a matrix.
func TestBoundsAreStopped(t *testing.T) {
	g, d := dearGraph(t, 150)
	for looks := int64(1); looks < 40; looks += 1 + looks/2 { // the first looks, and later ones
		if _, err := multicut.CycleBound(multicuttest.DoneAtLook(looks), g, multicut.CycleOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("cycles, look %d: %v", looks, err)
		}
	}
	for looks := int64(1); looks < 1000; looks += 37 {
		if _, err := multicut.PackTriangles(multicuttest.DoneAtLook(looks), d, make([]int32, 150)); !errors.Is(err, context.Canceled) {
			t.Errorf("triangles, look %d: %v", looks, err)
		}
	}
}
