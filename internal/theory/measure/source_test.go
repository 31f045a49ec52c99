package measure

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// numbered are n points on a line in the ball, each its own number.
func numbered(n int, from float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = from + float64(i)/1000
	}
	return out
}

// A draw has no point twice, none of the reference, and all points come up alike.
func TestPoolDrawsWithoutReplacement(t *testing.T) {
	pool, err := NewPool(numbered(10, 0), numbered(8, -.5), 1, 1, record.Sizes{Pos: 3, Neg: 2}, 5)
	if err != nil {
		t.Fatal(err)
	}
	if got := pool.Size(); got != (record.Sizes{Pos: 7, Neg: 6}) {
		t.Fatalf("size %+v", got)
	}
	ref, err := pool.Reference()
	if err != nil || ref.NPos() != 3 || ref.NNeg() != 2 {
		t.Fatalf("reference %v %v", ref, err)
	}
	count := map[float64]int{}
	for rep := range 600 {
		s, h, err := pool.Draw(record.Sizes{Pos: 3, Neg: 2}, record.Sizes{Pos: 4, Neg: 3}, rng.New(uint64(rep), "test"))
		if err != nil {
			t.Fatal(err)
		}
		if s.NPos() != 3 || s.NNeg() != 2 || h.NPos() != 4 || h.NNeg() != 3 {
			t.Fatal("sizes")
		}
		var all []float64
		for _, x := range [][]float64{s.Positive, s.Negative, h.Positive, h.Negative, ref.Positive, ref.Negative} {
			all = append(all, x...)
		}
		for _, v := range s.Positive {
			count[v]++
		}
		slices.Sort(all)
		if len(slices.Compact(all)) != 17 {
			t.Fatal("a point is there twice")
		}
	}
	for v, n := range count { // mean 600*3/7 = 257, sd 12
		if n < 200 || n > 315 {
			t.Errorf("point %g was drawn %d times in 600", v, n)
		}
	}
	if len(count) != 7 {
		t.Errorf("%d points were drawn", len(count))
	}
}

func TestPoolOnSphere(t *testing.T) {
	pool, err := NewPool([]float64{.3, .4, 0, 0, -1, 0, .1, 0}, []float64{0, -.5, .2, .2}, 2, 2, record.Sizes{Pos: 2, Neg: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	on := pool.OnSphere()
	ref, err := on.Reference()
	if err != nil {
		t.Fatal(err)
	}
	zero := 0
	for _, x := range [][]float64{on.pos, on.neg, ref.Positive, ref.Negative} {
		for i := 0; i < len(x); i += 2 {
			if far := math.Hypot(x[i], x[i+1]); far == 0 {
				zero++
			} else {
				testutil.Near(t, "length", far, 2, 1e-15)
			}
		}
	}
	if zero != 1 {
		t.Errorf("%d points at 0, want 1", zero)
	}
	if len(on.pos) != 4 || len(on.neg) != 2 {
		t.Error("sizes")
	}
}

func TestSourceErrors(t *testing.T) {
	for name, c := range map[string]struct {
		pos, neg []float64
		radius   float64
		ref      record.Sizes
		want     string
	}{
		"radius":    {numbered(5, 0), numbered(5, 0), 0, record.Sizes{}, "radius"},
		"ball":      {[]float64{0, 2}, numbered(5, 0), 1, record.Sizes{}, "outside the ball"},
		"nan":       {[]float64{0, math.NaN()}, numbered(5, 0), 1, record.Sizes{}, "row 1"},
		"one":       {[]float64{0}, numbered(5, 0), 1, record.Sizes{}, "n+ >= 2"},
		"reference": {numbered(5, 0), numbered(5, 0), 1, record.Sizes{Pos: 4, Neg: 2}, "smaller"},
	} {
		if _, err := NewPool(c.pos, c.neg, 1, c.radius, c.ref, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	pool, err := NewPool(numbered(5, 0), numbered(5, -.5), 1, 1, record.Sizes{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Reference(); err == nil {
		t.Error("a reference that is not there")
	}
	for name, c := range map[string][2]record.Sizes{
		"n+ = 1": {{Pos: 1, Neg: 2}, {Pos: 2, Neg: 1}}, "n- = 0": {{Pos: 2, Neg: 0}, {Pos: 2, Neg: 1}}, "held-out": {{Pos: 2, Neg: 1}, {Pos: 0, Neg: 1}}, "smaller sizes": {{Pos: 3, Neg: 1}, {Pos: 3, Neg: 1}},
	} {
		if _, _, err := pool.Draw(c[0], c[1], rng.New(0, "x")); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// At w = 0 the risk is log 2; at w = s I of the least-squares loss it is E u^2 / 2 with
// u = s (|x-y|^2 - |x-z|^2) + zeta = 2 s (x.z - x.y) + zeta, whose mean square is
// 4 s^2 (1/2 + 1/2) + zeta^2.
func TestCircleRisk(t *testing.T) {
	l, err := mahalanobis.NewLoss(mahalanobis.Logistic, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	testutil.Near(t, "w = 0", Circle{}.Risk(l, make([]float64, 3)), math.Ln2, 1e-14)
	square, err := mahalanobis.NewLoss(mahalanobis.LeastSquares, .25, 0)
	if err != nil {
		t.Fatal(err)
	}
	testutil.Near(t, "least squares", Circle{}.Risk(square, []float64{.5, 0, .5}), (1+.0625)/2, 1e-12)
	theta := []float64{2, 1, -3}
	testutil.Near(t, "quadrature", Circle{}.Risk(l, theta), circleRisk(l, theta, 64), 1e-8)
	testutil.Near(t, "quadrature", Circle{}.Risk(l, []float64{.5, .3, -.7}), circleRisk(l, []float64{.5, .3, -.7}, 64), 1e-14)
	s, h, err := Circle{}.Draw(record.Sizes{Pos: 300, Neg: 300}, record.Sizes{Pos: 200, Neg: 200}, rng.New(1, "test"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*mahalanobis.Problem{s, h} {
		testutil.Near(t, "risk of a sample", mahalanobis.MeanLoss(p, l, theta, mahalanobis.DrawIndices(p.NPos(), p.NNeg(), 20000, 1, "t")), Circle{}.Risk(l, theta), .1)
	}
	testutil.Near(t, "length", math.Hypot(s.Positive[0], s.Positive[1]), 1, 1e-15)
}
