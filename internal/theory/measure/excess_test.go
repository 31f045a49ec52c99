package measure

import (
	"context"
	"errors"
	"math"
	"testing"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// twoCoins is the distribution of coins as a Finite.
func twoCoins(t testing.TB) *Finite {
	t.Helper()
	p, err := NewPool(heads[0][:], heads[1][:], 1, 1, record.Sizes{}, 0)
	if err != nil {
		// Two positives and two negatives are all there are.
		t.Fatal(err)
	}
	return NewFinite(p, record.Sizes{Pos: 2, Neg: 2}, 1)
}

// mustFinite is a distribution of two clouds in three dimensions.
func mustFinite(t testing.TB, n int) *Finite {
	t.Helper()
	c := clouds{}.problem(record.Sizes{Pos: n, Neg: n}, rng.New(4, "test/finite"))
	p, err := NewPool(c.Positive, c.Negative, 3, 1, record.Sizes{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return NewFinite(p, record.Sizes{Pos: n, Neg: n}, 1)
}

func TestFiniteRiskIsTheEnumeration(t *testing.T) {
	f := twoCoins(t)
	for _, name := range []string{mahalanobis.Logistic, mahalanobis.LeastSquares, mahalanobis.Hinge} {
		l := lossOf(t, name, .5)
		for _, w := range []float64{-2, -.3, 0, .7} {
			testutil.Near(t, name, f.Risk(l, []float64{w}), coins{}.Risk(l, []float64{w}), 1e-14)
		}
	}
}

func TestFiniteSpread(t *testing.T) {
	f := mustFinite(t, 12)
	l := lossOf(t, mahalanobis.Logistic, .1)
	theta := []float64{2, -.5, .3, 1, .2, -1}
	most, sum, squares, count := 0.0, 0.0, 0.0, 0.0
	p := f.points
	for i := range 12 {
		for j := range 12 {
			for k := range 12 {
				row := make([]float64, 6)
				mark(p.Positive[3*i:3*i+3], p.Positive[3*j:3*j+3], p.Negative[3*k:3*k+3], row)
				u := .1
				for e, v := range row {
					u += v * theta[e]
				}
				v := math.Log1p(math.Exp(u))
				most, sum, squares, count = max(most, v), sum+v, squares+v*v, count+1
			}
		}
	}
	b, tau, err := f.Spread(l, theta)
	if err != nil {
		t.Fatal(err)
	}
	testutil.Near(t, "b", b, most, 1e-12)
	want := squares/count - sum/count*sum/count
	testutil.Near(t, "tau", tau, want, .02*want)
}

// With least squares in one dimension w is in closed form, and the expected excess risk a
// sum over the eight samples of n+ = 2, n- = 1; for w* = -zeta E v/E v^2 it is also E v^2/2
// times the mean squared distance to w*.
func TestExcessAgainstEnumeration(t *testing.T) {
	const sigma, zeta = .2, .5
	f, l := twoCoins(t), lossOf(t, mahalanobis.LeastSquares, zeta)
	v := func(x, y, z float64) float64 { return (x-y)*(x-y) - (x-z)*(x-z) }
	mean, square := 0.0, 0.0
	for n := range 8 {
		u := v(heads[0][n&1], heads[0][n>>1&1], heads[1][n>>2&1])
		mean, square = mean+u/8, square+u*u/8
	}
	star := -zeta * mean / square
	want := 0.0
	for n := range 8 {
		x, y, z := heads[0][n&1], heads[0][n>>1&1], heads[1][n>>2&1]
		a, b := v(x, y, z), v(y, x, z)
		w := -zeta * (a + b) / 2 / ((a*a+b*b)/2 + sigma)
		want += square / 2 * (w - star) * (w - star) / 8
	}
	e, err := Excess(context.Background(), ExcessOptions{Source: f, Learner: RRM{Loss: l, Sigma: record.Scale{Factor: sigma}}, Sizes: record.Sizes{Pos: 2, Neg: 1}, Repeats: 4000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	testutil.Near(t, "excess risk", e.Excess.Value, want, 3**e.Excess.SE)
	if *e.Excess.SE > want/20 {
		t.Errorf("standard error %g of %g", *e.Excess.SE, want)
	}
	testutil.Near(t, "||w*||", e.Norm, math.Abs(star), 1e-6)
	testutil.Near(t, "least risk", e.Least, coins{}.Risk(l, []float64{star}), 1e-9)
	testutil.Near(t, "eq. 4", e.Estimation.Value+e.Optimization.Value+e.Deviation.Value, e.Excess.Value, 1e-12)
	testutil.Near(t, "R_S(w*) - R(w*)", e.Deviation.Value, 0, 3**e.Deviation.SE)
}

// On the circle nothing can be learned: no w has a lower risk than 0, and the regular
// points of a circle have their minimizer there too.
func TestCircleMinimizer(t *testing.T) {
	l := lossOf(t, mahalanobis.Logistic, .1)
	w, err := Circle{}.Minimizer(context.Background(), l, 0)
	if err != nil {
		t.Fatal(err)
	}
	least := Circle{}.Risk(l, w)
	testutil.Near(t, "risk of 0", least, math.Log1p(math.Exp(.1)), 1e-14)
	for i := range 3 {
		for _, step := range []float64{-.1, .1} {
			other := make([]float64, 3)
			if other[i] = step; (Circle{}).Risk(l, other) <= least {
				t.Errorf("coordinate %d moved by %g has a lower risk", i, step)
			}
		}
	}
	f := &Finite{points: &mahalanobis.Problem{Positive: regular(24), Negative: regular(24), D: 2}, radius: 1}
	if w, err = f.Minimizer(context.Background(), l, 0); err != nil || distance(w, make([]float64, 3)) > 1e-6 {
		t.Errorf("%v %v", w, err)
	}
}

// Some w has all triplets of separated circles in order, so that R has the infimum 0.
func TestSeparatedCircles(t *testing.T) {
	f := NewSeparated(30, .2)
	if e := mahalanobis.ZeroOne(f.points, mahalanobis.Identity(2), 0); e != 0 {
		t.Errorf("error %g", e)
	}
	if _, err := mahalanobis.NewProblem(f.points.Positive, f.points.Negative, 2, f.Radius()); err != nil {
		t.Error(err)
	}
	far := mahalanobis.Identity(2)
	for i := range far {
		far[i] *= 100
	}
	if r := f.Risk(lossOf(t, mahalanobis.Logistic, .1), far); r > 1e-10 {
		t.Errorf("risk %g", r)
	}
}

func TestExcessClaims(t *testing.T) {
	t.Parallel()
	d := testClaim(t, "T8", Study{Source: mustFinite(t, 20), Repeats: 2, Most: record.Sizes{Pos: 40, Neg: 40}})
	if len(d.Series) != 4 || len(d.Checks) != 7 || d.Series[0].Points[1].Excess == nil || len(d.Series[0].Points[0].Bounds) != 4 {
		t.Errorf("%d series, %d checks", len(d.Series), len(d.Checks))
	}
	d = testClaim(t, "T9", Study{Repeats: 2, Most: record.Sizes{Pos: 80, Neg: 80}})
	p := d.Series[0].Points
	if len(p) != 2 || len(p[0].Bounds) != 1 || d.Data.Name != "two circles" {
		t.Fatalf("%d points, bounds %v", len(p), p[0].Bounds)
	}
	for _, q := range p {
		if q.Measured.Value <= 0 || q.Measured.Value > q.Bounds[0].Value {
			t.Errorf("n = %g: risk %g, bound %g", q.X, q.Measured.Value, q.Bounds[0].Value)
		}
	}
	c, err := ClaimOf("T8")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Test(context.Background(), Study{Source: clouds{}, Zeta: .1}); !errors.Is(err, ErrInput) {
		t.Errorf("a distribution that is not known: %v", err)
	}
}
