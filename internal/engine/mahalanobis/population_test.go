package mahalanobis

import (
	"context"
	"math"
	"testing"

	"tercet/internal/rng"
)

// ordered is the mean of phi and its gradient over all ordered triples of points, equal
// positives too, from the definition.
func ordered(p *Problem, l Loss, theta []float64) (risk float64, grad []float64) {
	grad = make([]float64, len(theta))
	count := float64(p.NPos() * p.NPos() * p.NNeg())
	for i := range p.NPos() {
		for j := range p.NPos() {
			for k := range p.NNeg() {
				m := make([]float64, len(theta))
				addSquare(m, p.pos(i), p.pos(j), 1)
				addSquare(m, p.pos(i), p.neg(k), -1)
				u := l.Zeta
				for e, v := range m {
					u += v * theta[e]
				}
				v, s := plain(l, u)
				risk += v / count
				for e, v := range m {
					grad[e] += s * v / count
				}
			}
		}
	}
	return risk, grad
}

func TestPopulationIsTheMeanOverIndependentDraws(t *testing.T) {
	for _, c := range []struct{ nPos, nNeg, d int }{{2, 1, 1}, {3, 4, 2}, {17, 9, 3}} {
		p := sample(t, c.nPos, c.nNeg, c.d, 5)
		theta := somewhere(c.d, 1, 6)
		for _, l := range allLosses(t) {
			want, gradient := ordered(p, l, theta)
			for _, s := range []Sums{Exact, Interpolated} {
				r, err := NewPopulation(p, l, s)
				if err != nil {
					t.Fatal(err)
				}
				got := make([]float64, r.Dim())
				if v := r.ValueGrad(theta, got); math.Abs(v-want) > 1e-12 || worst(got, gradient) > 1e-12 {
					t.Errorf("%+v %s %s: %v, want %v; gradient is off by %v", c, l.Name, s, v, want, worst(got, gradient))
				}
			}
		}
	}
}

// The minimizer of the population's risk: Newton's steps use the Hessian, and the
// gradient by the definition is 0 there.
func TestPopulationMinimizer(t *testing.T) {
	p := sample(t, 15, 12, 2, 7)
	for _, l := range []Loss{mustLoss(t, Logistic, 0.1, 0), mustLoss(t, LeastSquares, 0.5, 0)} {
		r, err := NewPopulation(p, l, Auto)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Minimize(context.Background(), r, RRMOptions{Sigma: 1e-6, Method: Newton, Tol: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		_, grad := ordered(p, l, s.Theta)
		for e := range grad {
			grad[e] += 1e-6 * s.Theta[e]
		}
		if n := norm(grad); n > 1e-11 || s.Iterations > 30 {
			t.Errorf("%s: gradient %v after %d iterations", l.Name, n, s.Iterations)
		}
	}
}

// R_S of samples drawn with replacement has the population's risk as its mean.
func TestPopulationIsWhatSamplesEstimate(t *testing.T) {
	p := sample(t, 6, 5, 2, 8)
	l := mustLoss(t, Logistic, 0.1, 0)
	theta := somewhere(2, 2, 9)
	want, err := NewPopulation(p, l, Exact)
	if err != nil {
		t.Fatal(err)
	}
	r := rng.New(3, "test/population")
	const draws = 4000
	sum, squares := 0.0, 0.0
	for range draws {
		q := &Problem{D: 2}
		for range 4 {
			q.Positive = append(q.Positive, p.pos(r.IntN(6))...)
			q.Negative = append(q.Negative, p.neg(r.IntN(5))...)
		}
		v := mustRisk(t, l, Exact, q).Value(theta)
		sum, squares = sum+v, squares+v*v
	}
	mean := sum / draws
	se := math.Sqrt((squares/draws - mean*mean) / draws)
	if d := math.Abs(mean - want.Value(theta)); d > 3*se || se > 0.02 {
		t.Errorf("mean of samples %v +- %v, population %v", mean, se, want.Value(theta))
	}
}
