package mahalanobis

import (
	"math"
	"testing"

	"tercet/internal/rng"
)

// sample draws two normal clouds, scaled into the ball of radius 1.
func sample(t testing.TB, nPos, nNeg, d int, seed uint64) *Problem {
	t.Helper()
	r := rng.New(seed, "test/sample")
	draw := func(n int, shift float64) []float64 {
		x := make([]float64, n*d)
		for i := range x {
			x[i] = 0.3 * r.NormFloat64()
			if i%d == 0 {
				x[i] += shift
			}
		}
		for i := 0; i < len(x); i += d {
			if l := norm(x[i : i+d]); l > 1 {
				for c := range d {
					x[i+c] /= l
				}
			}
		}
		return x
	}
	p, err := NewProblem(draw(nPos, 0.25), draw(nNeg, -0.25), d, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func somewhere(d int, size float64, seed uint64) []float64 {
	r := rng.New(seed, "test/theta")
	theta := make([]float64, d*(d+1)/2)
	for i := range theta {
		theta[i] = size * r.NormFloat64()
	}
	return theta
}

func mustLoss(t testing.TB, name string, zeta, delta float64) Loss {
	t.Helper()
	l, err := NewLoss(name, zeta, delta)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func allLosses(t testing.TB) []Loss {
	return []Loss{
		mustLoss(t, Logistic, 0.1, 0), mustLoss(t, LogisticPrinted, 0.1, 0),
		mustLoss(t, Hinge, 0.3, 0), mustLoss(t, LeastSquares, 0.7, 0), mustLoss(t, Huber, 0.5, 0.4),
	}
}

func mustRisk(t testing.TB, l Loss, s Sums, problems ...*Problem) *Risk {
	t.Helper()
	r, err := NewRisk(problems, l, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// plain is phi and phi' as the paper writes them, apart from Loss.At.
func plain(l Loss, u float64) (value, slope float64) {
	switch l.Name {
	case Logistic:
		return math.Log1p(math.Exp(u)), 1 / (1 + math.Exp(-u))
	case LogisticPrinted:
		return math.Log1p(math.Exp(-u)), -1 / (1 + math.Exp(u))
	case Hinge:
		if u <= 0 {
			return 0, 0
		}
		return u, 1
	case LeastSquares:
		return u * u / 2, u
	}
	if u > l.Delta {
		return l.Delta*u - l.Delta*l.Delta/2, l.Delta
	}
	if u < -l.Delta {
		return -l.Delta*u - l.Delta*l.Delta/2, -l.Delta
	}
	return u * u / 2, u
}

// triples is the risk and its gradient as the sum over triplets with whole matrices,
// from the definitions.
func triples(p *Problem, l Loss, theta []float64) (risk float64, grad []float64, zeroOne float64) {
	d := p.D
	w, g := Smat(theta, d), make([]float64, d*d)
	outer := func(x, y []float64) []float64 {
		m := make([]float64, d*d)
		for r := range d {
			for c := range d {
				m[r*d+c] = (x[r] - y[r]) * (x[c] - y[c])
			}
		}
		return m
	}
	count := 0.0
	for i := range p.NPos() {
		for j := range p.NPos() {
			if i == j {
				continue
			}
			a := outer(p.pos(i), p.pos(j))
			for k := range p.NNeg() {
				b := outer(p.pos(i), p.neg(k))
				u := 0.0
				for e := range a {
					u += w[e]*a[e] - w[e]*b[e]
				}
				v, s := plain(l, u+l.Zeta)
				risk += v
				for e := range g {
					g[e] += s * (a[e] - b[e])
				}
				if u+l.Zeta >= 0 {
					zeroOne++
				}
				count++
			}
		}
	}
	for e := range g {
		g[e] /= count
	}
	return risk / count, Svec(g, d), zeroOne / count
}

func worst(a, b []float64) float64 {
	most := 0.0
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}
