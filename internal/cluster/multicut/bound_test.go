package multicut

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"tercet/internal/rng"
)

func TestGap(t *testing.T) {
	for _, c := range []struct{ objective, bound, want float64 }{
		{-10, -11, 0.1}, {4, 3, 0.25}, {-10, -10, 0}, {0, 0, 0}, {0, -3, 1}, {0, 1, 0}, {-10, -9.999999, 0},
	} {
		if got := Gap(c.objective, c.bound); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("Gap(%v, %v) = %v, want %v", c.objective, c.bound, got, c.want)
		}
	}
}

// All bounds of a graph that holds in a matrix of float32.
func boundsOf(t *testing.T, n int, edges []Edge) map[string]float64 {
	t.Helper()
	ctx := context.Background()
	d, rounded := denseOf(t, n, edges)
	g := mustGraph(t, n, rounded)
	triangle, err := TriangleBound(ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	bounds := map[string]float64{"trivial": TrivialBound(g).Value, "triangle": triangle.Value}
	for name, length := range map[string]int{"cycle": 0, "cycle 3": 3, "cycle 4": 4} {
		b, err := CycleBound(ctx, g, CycleOptions{Length: length})
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
		edges := randomEdges(r, n, 0.3+0.7*r.Float64(), r.Uniform(-1, 1), k%3 == 0)
		if k%5 == 0 { // of very different sizes
			for i := range edges {
				edges[i].Cost *= math.Exp2(float64(r.IntN(60) - 40))
			}
		}
		_, rounded := denseOf(t, n, edges)
		best := leastByEnumeration(n, rounded)
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
	d, err := NewDense(n, cost)
	if err != nil {
		t.Fatal(err)
	}
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(i)
	}
	objective, bound := d.Objective(labels), TrivialBound(d).Value
	if bound > objective || bound < objective*(1+1e-8) {
		t.Errorf("bound %v of %v", bound, objective)
	}
}

func TestBoundsInClosedForm(t *testing.T) {
	square := []Edge{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {0, 3, -1}}
	for name, c := range map[string]struct {
		n                        int
		edges                    []Edge
		trivial, triangle, cycle float64
	}{
		"one node":              {1, nil, 0, 0, 0},
		"all attract":           {3, []Edge{{0, 1, 1}, {1, 2, 2}}, 0, 0, 0},
		"all repel":             {3, []Edge{{0, 1, -1}, {1, 2, -2}, {0, 2, -3}}, -6, -6, -6},
		"conflicted triangle":   {3, []Edge{{0, 1, 1}, {1, 2, 1}, {0, 2, -1}}, -1, 0, 0},
		"weak side":             {3, []Edge{{0, 1, 0.25}, {1, 2, 1}, {0, 2, -1}}, -1, -0.75, -0.75},
		"strong sides":          {3, []Edge{{0, 1, 4}, {1, 2, 5}, {0, 2, -1.5}}, -1.5, 0, 0},
		"two repel":             {3, []Edge{{0, 1, 1}, {1, 2, -1}, {0, 2, -1}}, -2, -2, -2},
		"conflicted square":     {4, square, -1, -1, 0},
		"two triangles":         {4, []Edge{{0, 1, -2}, {0, 2, 1}, {1, 2, 1}, {0, 3, 1}, {1, 3, 1}}, -2, 0, 0},
		"one side for two":      {4, []Edge{{0, 1, 1}, {1, 2, 1}, {0, 2, -1}, {1, 3, 1}, {0, 3, -1}}, -2, -1, -1},
		"whole numbers by 3":    {3, []Edge{{0, 1, 3}, {1, 2, 3}, {0, 2, -6}}, -6, -3, -3},
		"costs that are none":   {3, []Edge{{0, 1, 0}, {1, 2, 0}, {0, 2, 0}}, 0, 0, 0},
		"a cost of the tiniest": {3, []Edge{{0, 1, 1e-40}, {1, 2, 1}, {0, 2, -1}}, -1, -1, -1},
	} {
		got := boundsOf(t, c.n, c.edges)
		for kind, want := range map[string]float64{"trivial": c.trivial, "triangle": c.triangle, "cycle 3": c.triangle, "cycle": c.cycle} {
			if math.Abs(got[kind]-want) > 1e-9 || math.Signbit(got[kind]) && got[kind] == 0 {
				t.Errorf("%s: %s bound %v, want %v", name, kind, got[kind], want)
			}
		}
	}
}

// packed is a complete graph of these costs, and its edges.
func packed(t *testing.T, n int, cost func(i, j int) float64) (*Dense, []Edge) {
	d := &Dense{N: n, Cost: make([]float32, n*n)}
	var edges []Edge
	for i := range n {
		for j := range i {
			c := float32(cost(i, j))
			d.Cost[i*n+j], d.Cost[j*n+i] = c, c
			edges = append(edges, Edge{int32(j), int32(i), float64(c)})
		}
	}
	return d, edges
}

// What is packed is there: nothing is below 0, both halves agree, every repulsive edge
// has given its part of the whole.
func TestPackingsTakeWhatIsThere(t *testing.T) {
	const n = 70
	r := rng.New(1, "multicut/packing")
	d, edges := packed(t, n, func(i, j int) float64 { return 0.1 + r.NormFloat64() })
	p := newTrianglePacking(d)
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(i % 3)
	}
	p.reset(d, labels)
	full := slices.Clone(p.left)
	for _, share := range []int32{3, 1} {
		p.guided(context.Background(), d, labels, share)
	}
	guided := p.taken
	p.greedy(context.Background(), d)
	if guided == 0 || p.taken == guided {
		t.Errorf("%d taken by guided packing, %d in all", guided, p.taken)
	}
	var negative, positive int64
	for i := range n {
		for j := range i {
			l, given := p.left[i*n+j], int64(full[i*n+j]-p.left[i*n+j])
			if l < 0 || l != p.left[j*n+i] || given < 0 {
				t.Fatalf("edge %d, %d has %d left of %d, the other way %d", i, j, l, full[i*n+j], p.left[j*n+i])
			}
			if d.Cost[i*n+j] < 0 {
				negative += given
			} else {
				positive += given
			}
		}
	}
	if negative != p.taken || positive != 2*p.taken || p.taken == 0 {
		t.Errorf("%d taken, %d of repulsive and %d of attractive edges", p.taken, negative, positive)
	}

	g, err := NewGraph(n, edges[:len(edges)/8])
	if err != nil {
		t.Fatal(err)
	}
	c := newCyclePacking(context.Background(), g, 1000)
	for u := range int32(n) {
		for e := g.start[u]; e < g.start[u+1]; e++ {
			if g.to[e] > u && g.cost[e] < 0 {
				c.fill(u, e, n)
			}
		}
	}
	negative = 0
	for u := range int32(n) {
		for e := g.start[u]; e < g.start[u+1]; e++ {
			if c.left[e] < 0 || c.left[e] != c.left[c.back[e]] || g.to[c.back[e]] != u {
				t.Fatalf("edge %d, %d has %d left, the other way %d", u, g.to[e], c.left[e], c.left[c.back[e]])
			}
			if given := int64(math.Abs(g.cost[e])/c.unit) - c.left[e]; given < 0 {
				t.Fatalf("edge %d, %d has gained %d", u, g.to[e], -given)
			} else if g.cost[e] < 0 && g.to[e] > u {
				negative += given
			}
		}
	}
	if negative != c.taken || c.taken == 0 {
		t.Errorf("%d taken, %d of repulsive edges", c.taken, negative)
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
			d, _ := denseOf(t, 10, randomEdges(r, 10, 1, mean, false))
			b, err := TriangleBound(context.Background(), d)
			if err != nil {
				t.Fatal(err)
			}
			best, _ := exactly(t, d, ExactOptions{})
			lost += best.Objective - b.Value
			all -= best.Objective
		}
		t.Logf("mean %v: gap %.1f %%, the reference's %.1f %%", mean, 100*lost/all, 100*most)
		if lost > most*all {
			t.Errorf("mean %v: gap %.3f, want at most %.3f", mean, lost/all, most)
		}
	}
}

// Clusters that stand apart: the guided packing proves them, the greedy one does not.
func TestTriangleBoundProvesClusters(t *testing.T) {
	const n = 120
	r := rng.New(2, "multicut/triangle/clusters")
	d, _ := packed(t, n, func(i, j int) float64 {
		mean := -1.0
		if i%4 == j%4 {
			mean = 1
		}
		return mean + 0.8*r.NormFloat64()
	})
	b, err := TriangleBound(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(i % 4)
	}
	objective := d.Objective(labels)
	if gap := Gap(objective, b.Value); b.Value > objective || gap > 1e-5 {
		t.Errorf("gap %.2g: %v of %v", gap, b.Value, objective)
	}
	p := newTrianglePacking(d)
	p.reset(d, labels)
	p.greedy(context.Background(), d)
	if alone := TrivialBound(d).Value + float64(p.taken)*p.unit; Gap(objective, alone) < 1e-4 {
		t.Errorf("greedy packing alone has %v of %v", alone, objective)
	}
}

func TestCycleBoundOfPairGraphs(t *testing.T) {
	for _, file := range []string{"dibs_3x6_P20.json", "dibs_5x10_P10.json", "dibs_10x20_P10.json", "dibs_10x300_P10.json", "dibs_10x300_P20.json"} {
		f, g := readPairs(t, filepath.Join("testdata", file))
		b, err := CycleBound(context.Background(), g, CycleOptions{})
		if err != nil {
			t.Fatal(err)
		}
		// No packing is above the relaxation's value, but for the rounding up to an
		// integer.
		got := f.errors(b.Value)
		if got > math.Ceil(f.CycleBound) || got < 0.8*f.CycleBound {
			t.Errorf("%s: at least %v errors by packing, %v by the relaxation", file, got, f.CycleBound)
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
		var s costSum
		for _, v := range c.costs {
			s.add(v)
		}
		if got := s.step(); got != c.step {
			t.Errorf("%s: step %v, want %v", name, got, c.step)
		}
		if exact := c.step > 0 || name == "none"; (s.margin() == 0) != exact {
			t.Errorf("%s: margin %v", name, s.margin())
		}
	}
	var s costSum
	s.add(-4)
	s.add(4)
	for bound, want := range map[float64]float64{-8: -8, -7.9: -4, -4.0000001: -4, -3.9: 0, 0.1: 4} {
		if got := s.raise(bound); got != want {
			t.Errorf("%v is raised to %v, want %v", bound, got, want)
		}
	}
}

func TestBoundsRefuse(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d, _ := denseOf(t, 3, []Edge{{0, 1, 1}})
	if _, err := TriangleBound(ctx, d); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	g := mustGraph(t, 3, []Edge{{0, 1, 1}})
	if _, err := CycleBound(ctx, g, CycleOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, l := range []int{-1, 1, 2} {
		if _, err := CycleBound(context.Background(), g, CycleOptions{Length: l}); !errors.Is(err, ErrInput) {
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
	d := &Dense{N: n, Cost: make([]float32, n*n)}
	var edges []Edge
	for i := range int32(n) {
		for j := range i {
			c := r.Float64()
			d.Cost[i*n+j], d.Cost[j*n+i] = float32(c), float32(c)
			edges = append(edges, Edge{i, j, c})
		}
	}
	g, err := NewGraph(n, edges)
	if err != nil {
		t.Fatal(err)
	}
	triangle, err := TriangleBound(ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	cycle, err := CycleBound(ctx, g, CycleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []Bound{TrivialBound(d), TrivialBound(g), triangle, cycle} {
		if b.Value != 0 {
			t.Errorf("%s: %v", b.Method, b.Value)
		}
	}
}

// Where clusters stand apart the trivial bound is the optimum: rounding must not put
// it above what Objective says.
func TestFactoredTrivialBoundIsNotAboveTheObjective(t *testing.T) {
	r := rng.New(2, "test/tight")
	for range 200 {
		n, d := 2+r.IntN(60), 1+r.IntN(9)
		tau, offset := 0.1+r.Float64(), 10*r.NormFloat64()
		x, truth := make([]float32, n*d), make([]int32, n)
		for i := range x {
			c := int32(i/d) * 3 / int32(n)
			truth[i/d] = c
			x[i] = float32(offset) + 3*float32(c) + float32(0.01*r.Float64())
		}
		f := newFactored(t, x, n, d, tau, 1)
		bound, err := f.TrivialBound(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		low := bound.Value
		if !bound.Proves(f.Objective(truth)) {
			t.Errorf("n=%d d=%d tau=%v: the bound %v does not prove %v", n, d, tau, bound, f.Objective(truth))
		}
		if o := f.Objective(truth); low > o || low < o-1e-9*math.Abs(o)-1e-9 {
			t.Errorf("n=%d d=%d tau=%v: the bound is %v, the objective %v", n, d, tau, low, o)
		}
	}
}

// A bound proves what is not above it by more than rounding.
func TestBoundProves(t *testing.T) {
	for _, c := range []struct {
		b         Bound
		objective float64
		want      bool
	}{
		{Bound{Value: -5}, -5, true},
		{Bound{Value: -5}, -5.1, true},
		{Bound{Value: -5}, -5 + 1e-12, false}, // exact sums: a difference is one
		{Bound{Value: -5, Margin: 1e-11}, -5 + 1e-12, true},
		{Bound{Value: -5, Margin: 1e-11}, -5 + 1.9e-11, true}, // the margin of the bound, and of the objective
		{Bound{Value: -5, Margin: 1e-12}, -5 + 1e-11, false},
		{Bound{Value: -5, Margin: 1}, -4.5, false}, // rounding that hides all proves nothing
		{Bound{Value: -1e-30, Margin: 1}, 0, false},
	} {
		if got := c.b.Proves(c.objective); got != c.want {
			t.Errorf("%+v of %v: %v", c.b, c.objective, got)
		}
	}
}

// lateContext is done from the given look at it on.
type lateContext struct {
	context.Context
	left *atomic.Int64
}

func doneAtLook(n int64) lateContext {
	left := &atomic.Int64{}
	left.Store(n)
	return lateContext{context.Background(), left}
}

func (c lateContext) Err() error {
	if c.left.Add(-1) <= 0 {
		return context.Canceled
	}
	return nil
}

// dearGraph is a complete graph of costs at random.
func dearGraph(t *testing.T, n int) (*Graph, *Dense) {
	r := rng.New(7, "test/dear")
	d := &Dense{N: n, Cost: make([]float32, n*n)}
	var edges []Edge
	for i := range int32(n) {
		for j := range i {
			c := float32(r.NormFloat64())
			d.Cost[int(i)*n+int(j)], d.Cost[int(j)*n+int(i)] = c, c
			edges = append(edges, Edge{i, j, float64(c)})
		}
	}
	return mustGraph(t, n, edges), d
}

// What was packed before a limit of work is a bound: the more, the better.
func TestCycleBoundEndsAtItsWork(t *testing.T) {
	g, _ := dearGraph(t, 80)
	last := TrivialBound(g).Value
	for _, work := range []int64{1, 20_000, 100_000, 0} {
		b, err := CycleBound(context.Background(), g, CycleOptions{Work: work})
		if err != nil {
			t.Fatal(err)
		}
		if b.Ended != (work > 0) || b.Value < last || work > 1 && b.Value == last {
			t.Errorf("work %d: %+v after %v", work, b, last)
		}
		last = b.Value
	}
	if _, err := CycleBound(context.Background(), g, CycleOptions{Work: -1}); !errors.Is(err, ErrInput) {
		t.Errorf("a negative limit: %v", err)
	}
}

// Bounds look at the context often: about every million edges, and every few edges of
// a matrix.
func TestBoundsAreStopped(t *testing.T) {
	g, d := dearGraph(t, 150)
	for looks := int64(1); looks < 40; looks++ {
		if _, err := CycleBound(doneAtLook(looks), g, CycleOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("cycles, look %d: %v", looks, err)
		}
	}
	for looks := int64(1); looks < 1000; looks += 37 {
		if _, err := packTriangles(doneAtLook(looks), d, make([]int32, 150)); !errors.Is(err, context.Canceled) {
			t.Errorf("triangles, look %d: %v", looks, err)
		}
	}
}
