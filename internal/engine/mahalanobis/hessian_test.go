package mahalanobis

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/par"
)

// triplesHessian is the mean of c v v^T over triplets.
func triplesHessian(p *Problem, l Loss, theta []float64) []float64 {
	m := len(theta)
	h := make([]float64, m*m)
	for i := range p.NPos() {
		for j := range p.NPos() {
			for k := range p.NNeg() {
				if i == j {
					continue
				}
				v := make([]float64, m)
				addSquare(v, p.pos(i), p.pos(j), 1)
				addSquare(v, p.pos(i), p.neg(k), -1)
				u := l.Zeta
				for e := range v {
					u += v[e] * theta[e]
				}
				c := 1.0
				switch l.Name {
				case Logistic, LogisticPrinted:
					c = 1 / (2 + math.Exp(u) + math.Exp(-u))
				case Hinge:
					c = 0
				case Huber:
					if math.Abs(u) > l.Delta {
						c = 0
					}
				}
				for e := range v {
					for f := range v {
						h[e*m+f] += c * v[e] * v[f] / p.Triplets()
					}
				}
			}
		}
	}
	return h
}

func TestHessianIsTheTripleSum(t *testing.T) {
	for _, c := range []struct {
		nPos, nNeg, d int
		size          float64
	}{{2, 1, 1, 1}, {3, 2, 2, 1}, {9, 12, 3, 2}, {14, 8, 4, 0.3}, {6, 5, 2, 400}} {
		p := sample(t, c.nPos, c.nNeg, c.d, 1)
		theta := somewhere(c.d, c.size, 2)
		for _, l := range allLosses(t) {
			want := triplesHessian(p, l, theta)
			for _, s := range []Sums{Exact, Interpolated} {
				r := mustRisk(t, l, s, p)
				got := make([]float64, len(want))
				got[0] = 7 // what was there does not count
				if r.Hessian(theta, got); worst(got, want) > 2e-14*max(1, norm(want)) {
					t.Errorf("%+v %s %s: off by %v of %v", c, l.Name, s, worst(got, want), norm(want))
				}
			}
		}
	}
}

func TestHessianIsTheGradientsSlope(t *testing.T) {
	p := sample(t, 10, 12, 3, 5)
	l := mustLoss(t, Logistic, 0.1, 0)
	theta := somewhere(3, 1, 6)
	r := mustRisk(t, l, Auto, p, sample(t, 5, 9, 3, 6))
	h, up, down := make([]float64, 36), make([]float64, 6), make([]float64, 6)
	r.Hessian(theta, h)
	for i := range theta {
		const e = 1e-5
		x := slices.Clone(theta)
		x[i] += e
		r.ValueGrad(x, up)
		x[i] -= 2 * e
		r.ValueGrad(x, down)
		for j := range up {
			if fd := (up[j] - down[j]) / (2 * e); math.Abs(fd-h[i*6+j]) > 1e-9 {
				t.Errorf("entry %d, %d is %v, differences say %v", i, j, h[i*6+j], fd)
			}
		}
	}
}

func TestHessianBitsDoNotDependOnThreads(t *testing.T) {
	defer par.SetThreads(par.Threads())
	p := sample(t, 70, 20, 3, 3)
	theta := somewhere(3, 1, 3)
	for _, l := range allLosses(t) {
		for _, s := range []Sums{Exact, Interpolated} {
			var h [2][36]float64
			for n, threads := range []int{1, 3} {
				par.SetThreads(threads)
				mustRisk(t, l, s, p).Hessian(theta, h[n][:])
			}
			if h[0] != h[1] {
				t.Errorf("%s %s: 1 and 3 threads differ", l.Name, s)
			}
		}
	}
}
