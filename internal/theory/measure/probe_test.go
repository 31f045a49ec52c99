package measure

import (
	"math"
	"testing"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

func TestMarksAreMargins(t *testing.T) {
	r := rng.New(1, "test")
	p := clouds{}.problem(record.Sizes{Pos: 5, Neg: 4}, r)
	theta := []float64{1, -2, .5, 3, .25, -1}
	pr := newProbe(p, sphere(3, 1, 7, r), 1000, r)
	if pr.data != 80 || pr.count() != 87 {
		t.Fatalf("%d of %d triplets are data, want 80 of 87", pr.data, pr.count())
	}
	out := make([]float64, pr.count())
	pr.margins(theta, out)
	n := 0
	for i := range int32(5) {
		for j := range int32(5) {
			for k := int32(0); i != j && k < 4; k++ {
				testutil.Near(t, "margin", out[n], mahalanobis.Margin(p, theta, mahalanobis.Index{I: i, J: j, K: k}, 0), 1e-13)
				n++
			}
		}
	}
	c := newClimb(lossOf(t, mahalanobis.Logistic, .1), theta, theta, 3, 1)
	for n := range pr.count() {
		testutil.Near(t, "climb's margin", c.margin(c.w, pr.points[9*n:9*n+9]), out[n], 1e-13)
	}
	if pr := newProbe(p, nil, 20, r); pr.data != 20 {
		t.Errorf("%d triplets were drawn, want 20", pr.data)
	}
}

func TestSphereIsInTheBall(t *testing.T) {
	x := sphere(4, 2, 2000, rng.New(3, "test"))
	on := 0
	for i := 0; i < len(x); i += 4 {
		far := math.Sqrt(x[i]*x[i] + x[i+1]*x[i+1] + x[i+2]*x[i+2] + x[i+3]*x[i+3])
		if far > 2+1e-12 {
			t.Fatalf("a point has length %g", far)
		}
		if far > 2-1e-12 {
			on++
		}
	}
	testutil.Near(t, "share on the sphere", float64(on)/6000, .7, .03)
}

func TestClimbGradient(t *testing.T) {
	r := rng.New(2, "test")
	for _, name := range []string{mahalanobis.Logistic, mahalanobis.LogisticPrinted} {
		c := newClimb(lossOf(t, name, .1), []float64{1, -2, .5, 3, .25, -1}, []float64{.9, -2, .2, 3, .5, -1.5}, 3, 1)
		x := sphere(3, .9, 1, r)
		c.slope(x)
		for i := range x {
			const h = 1e-6
			at := x[i]
			x[i] = at + h
			up := c.value(x)
			x[i] = at - h
			down := c.value(x)
			x[i] = at
			testutil.Near(t, name, c.grad[i], (up-down)/(2*h), 1e-8)
		}
	}
}

// In one dimension the supremum over the ball is a maximum over one number.
func TestChangesFindTheSupremumInOneDimension(t *testing.T) {
	p := problem(t, []float64{.1, .2, -.3}, []float64{.4, -.2}, 1)
	for name, l := range map[string]mahalanobis.Loss{
		"logistic": lossOf(t, mahalanobis.Logistic, .1), "least squares": lossOf(t, mahalanobis.LeastSquares, .5),
	} {
		for _, w := range [][2]float64{{.5, .4}, {-1, 2}, {3, 3.01}} {
			r := rng.New(4, "test")
			pr := newProbe(p, sphere(1, 1, 500, r), 100, r)
			data, all := pr.changes(l, pr.base(l, w[:1]), w[1:], make([]float64, pr.count()), 1)
			testutil.Near(t, name, all, grid(l, w[0], w[1]), 1e-6*all)
			if data >= all {
				t.Errorf("%s: %g over data, %g over the ball", name, data, all)
			}
		}
	}
}

// Without an ascent it is the plain maximum, for every loss.
func TestChangesAreThePlainMaximum(t *testing.T) {
	r := rng.New(6, "test")
	p := clouds{}.problem(record.Sizes{Pos: 4, Neg: 3}, r)
	theta, other := []float64{1, -2, .5, 3, .25, -1}, []float64{1.1, -2, .45, 3, .25, -.9}
	pr := newProbe(p, sphere(3, 1, 300, r), 100, r)
	for _, name := range mahalanobis.LossNames() {
		l := lossOf(t, name, .3)
		wantData, want := 0.0, 0.0
		u, v := make([]float64, pr.count()), make([]float64, pr.count())
		pr.margins(theta, u)
		pr.margins(other, v)
		for n := range u {
			d := difference(l, u[n], v[n])
			want = max(want, d)
			if n < pr.data {
				wantData = max(wantData, d)
			}
		}
		data, all := pr.changes(l, pr.base(l, theta), other, make([]float64, pr.count()), 0)
		testutil.Near(t, name, data, wantData, 1e-15)
		testutil.Near(t, name, all, want, 1e-15)
	}
}

// The ascent must not stop short: from 200 drawn triplets it reaches what 100,000 drawn
// ones reach, and stays under L ||w - w'||.
func TestClimbReachesFurther(t *testing.T) {
	l := lossOf(t, mahalanobis.Logistic, .1)
	theta, other := []float64{1, -2, .5, 3, .25, -1}, []float64{1.1, -2, .45, 3, .25, -.9}
	p := problem(t, []float64{0, 0, 0, 0, 0, .1}, []float64{0, 0, 0}, 3)
	largest := func(n int, radius float64) float64 {
		r := rng.New(5, "test")
		pr := newProbe(p, sphere(3, 1, n, r), 2, r)
		_, all := pr.changes(l, pr.base(l, theta), other, make([]float64, pr.count()), radius)
		return all
	}
	few, climbed, many := largest(200, 0), largest(200, 1), largest(100000, 0)
	if !(few < many && many <= climbed*(1+1e-3) && climbed <= 4*distance(theta, other)) {
		t.Errorf("few %g, many %g, climbed %g, at most %g", few, many, climbed, 4*distance(theta, other))
	}
}
