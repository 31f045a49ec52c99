package link

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tercet/internal/par"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// testdata/fit.json: scikit-learn 1.2.1, see testdata/scripts/link_golden.py.
func TestFitAgainstScikitLearn(t *testing.T) {
	var golden struct {
		Rows, Cols int
		X          []float32
		Labels     []int32
		Cases      []struct {
			On                              string
			Balanced                        bool
			Intercept, Slope, Accuracy, AUC float64
			Similar                         int
		}
	}
	testutil.ReadJSON(t, "testdata/fit.json", &golden)
	for _, c := range golden.Cases {
		f, err := Fit(context.Background(), golden.X, golden.Rows, golden.Cols, golden.Labels, FitOptions{On: c.On, Balanced: c.Balanced})
		if err != nil {
			t.Fatal(err)
		}
		if !testutil.WithinMixed(f.Intercept, c.Intercept, 1e-6) || !testutil.WithinMixed(f.Slope, c.Slope, 1e-6) {
			t.Errorf("%s, balanced %v: %v + %v u, want %v + %v u", c.On, c.Balanced, f.Intercept, f.Slope, c.Intercept, c.Slope)
		}
		if !testutil.WithinMixed(f.Accuracy, c.Accuracy, 1e-12) || !testutil.WithinMixed(f.AUC, c.AUC, 1e-12) || f.Similar != c.Similar {
			t.Errorf("%s, balanced %v: accuracy %v, AUC %v, %d similar, want %v, %v, %d", c.On, c.Balanced, f.Accuracy, f.AUC, f.Similar, c.Accuracy, c.AUC, c.Similar)
		}
		if f.Separable || f.Sampled || f.Pairs != golden.Rows*(golden.Rows-1)/2 {
			t.Errorf("%s: %+v", c.On, f)
		}
		if err := f.Check(); err != nil {
			t.Error(err)
		}
	}
}

// Value, gradient and curvature of the likelihood by central differences.
func TestRegressionDerivatives(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	draw := func(n int, at float64) []float64 {
		u := make([]float64, n)
		for i := range u {
			u[i] = at + rnd.NormFloat64()
		}
		return u
	}
	r := newRegression(draw(5000, 2), draw(9001, 3), 1, .3)
	const h = 1e-5
	for _, p := range [][2]float64{{0, 0}, {.7, -1.3}, {-3, 2}} {
		a, b := p[0], p[1]
		m := r.at(a, b)
		up, down, right, left := r.at(a+h, b), r.at(a-h, b), r.at(a, b+h), r.at(a, b-h)
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"g0", m.g0, (up.value - down.value) / (2 * h)},
			{"g1", m.g1, (right.value - left.value) / (2 * h)},
			{"h00", -m.h00, (up.g0 - down.g0) / (2 * h)},
			{"h01", -m.h01, (right.g0 - left.g0) / (2 * h)},
			{"h11", -m.h11, (right.g1 - left.g1) / (2 * h)},
		} {
			if !testutil.WithinMixed(c.got, c.want, 1e-6) {
				t.Errorf("%s at %v: %v, want %v", c.name, p, c.got, c.want)
			}
		}
	}
}

// line puts points on a line, so that distances are known.
func line(ctx context.Context, x []float32, labels []int32, o FitOptions) (*Fitted, error) {
	return Fit(ctx, x, len(x), 1, labels, o)
}

func TestFitSeparable(t *testing.T) {
	// Similar pairs at 1, others at 4 to 6: the middle of d is 2.5, of d^2 8.5.
	x, labels := []float32{0, 1, 5, 6}, []int32{3, 3, 8, 8}
	for on, want := range map[string]float64{OnDistance: 2.5, OnSquared: math.Sqrt(8.5)} {
		f, err := line(context.Background(), x, labels, FitOptions{On: on})
		if err != nil {
			t.Fatal(err)
		}
		if !f.Separable || !testutil.WithinMixed(f.Threshold(), want, 1e-12) || f.Accuracy != 1 || f.AUC != 1 || f.Iterations != 0 {
			t.Errorf("%s: %+v, threshold %v, want %v", on, f, f.Threshold(), want)
		}
		if p := f.Cut(16); !testutil.WithinMixed(p, .999, 1e-9) {
			t.Errorf("%s: P(cut) of the nearest other pair is %v", on, p)
		}
	}
	// The kinds touch at distance 2: no most likely slope either.
	f, err := line(context.Background(), []float32{0, 2, 4, 6}, []int32{0, 0, 1, 1}, FitOptions{On: OnDistance})
	if err != nil || !f.Separable || f.Threshold() != 2 || !(f.Slope < 0) || f.Check() != nil {
		t.Errorf("touching: %+v, %v", f, err)
	}
}

func TestFitInput(t *testing.T) {
	ctx := context.Background()
	stopped, stop := context.WithCancel(ctx)
	stop()
	nan := float32(math.NaN())
	for _, c := range []struct {
		name   string
		ctx    context.Context
		x      []float32
		labels []int32
		o      FitOptions
		word   string
	}{
		{"one label", ctx, []float32{1, 2, 3}, []int32{4, 4, 4}, FitOptions{}, "all 3 rows have the same label"},
		{"all labels differ", ctx, []float32{1, 2, 3}, []int32{1, 2, 3}, FitOptions{}, "no two of the 3 rows"},
		{"one row", ctx, []float32{1}, []int32{0}, FitOptions{}, "no two of the 1 rows"},
		{"collapsed", ctx, []float32{2, 2, 2}, []int32{0, 0, 1}, FitOptions{}, "all pairs are at distance 0"},
		{"reversed", ctx, []float32{0, 9, 1, 8}, []int32{0, 0, 1, 1}, FitOptions{On: OnDistance}, "no nearer than others"},
		{"reversed without overlap", ctx, []float32{0, 9, 5}, []int32{0, 0, 1}, FitOptions{}, "no nearer than others"},
		{"NaN", ctx, []float32{0, nan, 5}, []int32{0, 0, 1}, FitOptions{}, "row 1 column 0 is NaN"},
		{"labels", ctx, []float32{0, 1, 5}, []int32{0, 0}, FitOptions{}, "2 labels of 3 rows"},
		{"on", ctx, []float32{0, 1, 5}, []int32{0, 0, 1}, FitOptions{On: "cosine"}, `on "cosine"`},
		{"pairs", ctx, []float32{0, 1, 5}, []int32{0, 0, 1}, FitOptions{Pairs: 1}, "1 pairs"},
		{"cancelled", stopped, []float32{0, 1, 5}, []int32{0, 0, 1}, FitOptions{}, "canceled"},
	} {
		if f, err := line(c.ctx, c.x, c.labels, c.o); err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %+v, %v, want %q", c.name, f, err, c.word)
		}
	}
}

// overlapping is two coordinates per row, four classes of unequal size.
func overlapping(n int) (x []float32, labels []int32) {
	r := rand.New(rand.NewPCG(8, 8))
	for i := range n {
		l := int32(i%7) / 2
		labels = append(labels, l)
		x = append(x, float32(l)+float32(r.NormFloat64())*.4, float32(l%2)+float32(r.NormFloat64())*.4)
	}
	return x, labels
}

// A sample of pairs estimates what all pairs give, prior included.
func TestFitSample(t *testing.T) {
	x, labels := overlapping(400)
	for _, balanced := range []bool{false, true} {
		o := FitOptions{Balanced: balanced, Pairs: 1 << 30}
		all, err := Fit(context.Background(), x, 400, 2, labels, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Pairs = 30_000
		some, err := Fit(context.Background(), x, 400, 2, labels, o)
		if err != nil {
			t.Fatal(err)
		}
		if all.Sampled || all.Pairs != 400*399/2 || !some.Sampled || some.Pairs != 30_000 || some.Similar != 15_000 {
			t.Errorf("pairs: %+v and %+v", all, some)
		}
		if !testutil.WithinMixed(some.Threshold(), all.Threshold(), .02) || !testutil.WithinMixed(some.Slope, all.Slope, .04) || !testutil.WithinMixed(some.AUC, all.AUC, .005) || !testutil.WithinMixed(some.Accuracy, all.Accuracy, .005) {
			t.Errorf("balanced %v: sample %+v, all %+v", balanced, some, all)
		}
	}
}

// Drawn pairs are of their kind and uniform over the pairs of that kind.
func TestDrawnPairsAreUniform(t *testing.T) {
	labels := []int32{5, 2, 5, 2, 9, 5, 2, 2}
	const count = 120_000
	list, p, err := choosePairs(labels, 2, 1)
	if err != nil || len(list) != 2 || p.similar != 1 {
		t.Fatal(list, p, err)
	}
	c := group(labels)
	stream := rng.New(1, "test")
	for _, similar := range []bool{true, false} {
		drawn, kinds := c.drawOther(nil, count, stream), 19
		if similar {
			drawn, kinds = c.drawSimilar(nil, count, stream), 9
		}
		seen := map[[2]int32]int{}
		for _, e := range drawn {
			if (labels[e[0]] == labels[e[1]]) != similar || e[0] == e[1] {
				t.Fatalf("pair %v, similar %v", e, similar)
			}
			seen[[2]int32{min(e[0], e[1]), max(e[0], e[1])}]++
		}
		if len(seen) != kinds {
			t.Errorf("%d different pairs, want %d", len(seen), kinds)
		}
		want := float64(count) / float64(kinds)
		for e, got := range seen {
			if math.Abs(float64(got)-want) > 5*math.Sqrt(want) {
				t.Errorf("pair %v drawn %d times, want about %.0f", e, got, want)
			}
		}
	}
}

func TestAUCAgainstLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for range 50 {
		p := &pairs{similar: 1 + r.IntN(9)}
		for range p.similar + 1 + r.IntN(9) {
			p.u = append(p.u, float64(r.IntN(6)))
		}
		want := 0.0
		for _, a := range p.u[:p.similar] {
			for _, b := range p.u[p.similar:] {
				if a < b {
					want++
				} else if a == b {
					want += .5
				}
			}
		}
		want /= float64(p.similar) * float64(len(p.u)-p.similar)
		if got := p.auc(); !testutil.WithinMixed(got, want, 1e-12) {
			t.Fatalf("AUC %v, want %v", got, want)
		}
	}
}

func TestFitThreads(t *testing.T) {
	defer par.SetThreads(0)
	x, labels := overlapping(400)
	var first *Fitted
	for _, threads := range []int{1, 3} {
		par.SetThreads(threads)
		f, err := Fit(context.Background(), x, 400, 2, labels, FitOptions{Pairs: 30_000})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = f
		} else if *f != *first {
			t.Errorf("%d threads: %+v, want %+v", threads, f, first)
		}
	}
	if again, _ := Fit(context.Background(), slices.Clone(x), 400, 2, labels, FitOptions{Pairs: 30_000, Seed: 1}); again == nil || again.Slope == first.Slope {
		t.Error("the seed changes nothing")
	}
}
