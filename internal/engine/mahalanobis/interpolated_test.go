package mahalanobis

import (
	"math"
	"testing"

	"tercet/internal/rng"
)

// Sums over panels are those over triplets: near numbers, numbers that span the
// reach of the tables and beyond, few and many.
func TestPanelsAreThePlainSum(t *testing.T) {
	r := rng.New(1, "test/panels")
	for _, c := range []struct {
		n, m         int
		spread, zeta float64
	}{{1, 1, 0, 0.1}, {3, 2, 0.1, 0}, {40, 30, 3, 0.2}, {50, 60, 30, -0.7}, {70, 20, 200, 1}, {30, 40, 5000, 0.5}} {
		p, q := make([]float64, c.n), make([]float64, c.m)
		for j := range p {
			p[j] = c.spread * r.NormFloat64()
		}
		for k := range q {
			q[k] = c.spread * r.NormFloat64()
		}
		var s anchor
		s.init(c.n, c.m)
		e, f := make([]float64, c.n), make([]float64, c.m)
		got := s.logistic(Interpolated, p, q, c.zeta, s.a, s.b, e, f, true)
		if v := s.logistic(Interpolated, p, q, c.zeta, nil, nil, e, f, false); v != got {
			t.Errorf("%+v: value alone %v, with slopes %v", c, v, got)
		}
		want, a, b := 0.0, make([]float64, c.n), make([]float64, c.m)
		for j, x := range p {
			for k, y := range q {
				v, g := plain(Loss{Name: Logistic}, x-y+c.zeta)
				if u := x - y + c.zeta; u > 30 {
					v = u
				}
				want += v
				a[j] += g
				b[k] += g
			}
		}
		if math.Abs(got-want) > 1e-13*want {
			t.Errorf("%+v: value %v, want %v", c, got, want)
		}
		// Numbers of thousands have places known to 10^-12.
		tol := 1e-14 + 4e-16*c.spread
		if e := worst(s.a, a); e > tol*float64(c.m) {
			t.Errorf("%+v: sums over q are off by %v", c, e)
		}
		if e := worst(s.b, b); e > tol*float64(c.n) {
			t.Errorf("%+v: sums over p are off by %v", c, e)
		}
	}
}

// At n = 200 the gradient is within 10^-10 of the exact one, as wanted: far better.
func TestInterpolatedGradient(t *testing.T) {
	n := 200
	if testing.Short() {
		n = 60
	}
	p := sample(t, n, n, 8, 6)
	for _, size := range []float64{0.3, 3} {
		theta := somewhere(8, size, 4)
		for _, name := range []string{Logistic, LogisticPrinted} {
			l := mustLoss(t, name, 0.1, 0)
			exact, quick := mustRisk(t, l, Exact, p), mustRisk(t, l, Interpolated, p)
			a, b := make([]float64, exact.Dim()), make([]float64, exact.Dim())
			va, vb := exact.ValueGrad(theta, a), quick.ValueGrad(theta, b)
			if math.Abs(va-vb) > 1e-14*max(1, va) {
				t.Errorf("size %v %s: risk %v, exact %v", size, name, vb, va)
			}
			if e := worst(a, b); e > 1e-13*norm(a) {
				t.Errorf("size %v %s: gradient off by %v of %v", size, name, e, norm(a))
			}
		}
	}
}

// A metric too large for panels is summed by triplets.
func TestInterpolatedOfLargeMetrics(t *testing.T) {
	p := sample(t, 7, 6, 2, 8)
	l := mustLoss(t, Logistic, 0.1, 0)
	for _, size := range []float64{100, 1e5, 1e12} {
		theta := somewhere(2, size, 9)
		a, b := make([]float64, 3), make([]float64, 3)
		va, vb := mustRisk(t, l, Exact, p).ValueGrad(theta, a), mustRisk(t, l, Interpolated, p).ValueGrad(theta, b)
		if math.Abs(va-vb) > 1e-13*va || worst(a, b) > 1e-12 {
			t.Errorf("size %v: risk %v, exact %v; gradient %v, exact %v", size, vb, va, b, a)
		}
	}
}

// The tables hold the three functions and their mirror images.
func TestTables(t *testing.T) {
	k := kernels()
	for _, o := range []int{0, 1, 7, 60, 80} {
		for _, x := range []float64{-1, -0.3, 0.55, 1} {
			for _, y := range []float64{-0.9, 0.1, 1} {
				var bx, by basis
				chebyshev(x, &bx)
				chebyshev(y, &by)
				v, s, c := softplus(width * ((x-y)/2 - float64(o)))
				for _, f := range []struct {
					name  string
					block *block
					want  float64
				}{{"value", &k.value[o], v}, {"slope", &k.slope[o], s}, {"curvature", &k.curvature[o], c}} {
					if got := twoSided(f.block, &bx, &by); math.Abs(got-f.want) > 1e-14 {
						t.Errorf("%s at %v, %v of panels %d apart: %v, want %v", f.name, x, y, o, got, f.want)
					}
				}
			}
		}
	}
}
