package mahalanobis

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"tercet/internal/par"
)

// On a line with one anchor pair all is one equation: F' = 0 by bisection.
func TestMinimizeOnALine(t *testing.T) {
	p, err := NewProblem([]float64{0, 1}, []float64{3}, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	const sigma, zeta = 0.05, 0.3
	for _, prior := range []float64{0, 2} {
		slope := func(w float64) float64 {
			s := func(u float64) float64 { return 1 / (1 + math.Exp(-u)) }
			return (-8*s(-8*w+zeta)-3*s(-3*w+zeta))/2 + sigma*(w-prior)
		}
		lo, hi := 0.0, 100.0
		for range 200 {
			if m := (lo + hi) / 2; slope(m) < 0 {
				lo = m
			} else {
				hi = m
			}
		}
		for _, method := range []string{Newton, LBFGS} {
			s, err := Minimize(t.Context(), mustRisk(t, mustLoss(t, Logistic, zeta, 0), Exact, p), RRMOptions{Sigma: sigma, Prior: prior, Method: method})
			if err != nil || math.Abs(s.Theta[0]-lo) > 1e-9 {
				t.Errorf("%s, prior %v: %v, want %v, %v", method, prior, s.Theta, lo, err)
			}
		}
	}
}

// Least squares: (H + sigma) w = -g(0), solved directly.
func TestMinimizeLeastSquares(t *testing.T) {
	p := sample(t, 12, 9, 3, 1)
	l := mustLoss(t, LeastSquares, 0.7, 0)
	const sigma = 0.01
	h := triplesHessian(p, l, make([]float64, 6))
	_, g, _ := triples(p, l, make([]float64, 6))
	for i := range 6 {
		h[i*6+i] += sigma
		g[i] = -g[i]
	}
	var w mat.VecDense
	if err := w.SolveVec(mat.NewDense(6, 6, h), mat.NewVecDense(6, g)); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{Newton, LBFGS} {
		s, err := Minimize(t.Context(), mustRisk(t, l, Auto, p), RRMOptions{Sigma: sigma, Method: method})
		if err != nil || worst(s.Theta, w.RawVector().Data) > 1e-9 {
			t.Errorf("%s: %v, want %v, %v", method, s.Theta, w.RawVector().Data, err)
		}
	}
}

// What is said of a solution is so, for all losses, methods and several classes; both
// methods find the same.
func TestSolutionIsWhatItSays(t *testing.T) {
	for _, prior := range []float64{0, 3} {
		testSolution(t, prior)
	}
}

func testSolution(t *testing.T, prior float64) {
	a, b := sample(t, 10, 8, 3, 2), sample(t, 7, 11, 3, 3)
	const sigma = 1e-3
	center := Identity(3)
	for i := range center {
		center[i] *= prior
	}
	for _, l := range allLosses(t) {
		var found [2]Solution
		for n, method := range []string{Newton, LBFGS} {
			r := mustRisk(t, l, Auto, a, b)
			s, err := Minimize(t.Context(), r, RRMOptions{Sigma: sigma, Prior: prior, Method: method})
			if err != nil {
				t.Fatal(err)
			}
			found[n] = s
			va, ga, _ := triples(a, l, s.Theta)
			vb, gb, _ := triples(b, l, s.Theta)
			length, slope := 0.0, 0.0
			for i, v := range minus(s.Theta, center) {
				length += v * v
				slope = math.Hypot(slope, (ga[i]+gb[i])/2+sigma*v)
			}
			if math.Abs(s.Risk-(va+vb)/2) > 1e-13 || math.Abs(s.Objective-s.Risk-sigma/2*length) > 1e-14 {
				t.Errorf("%s by %s: risk %v, objective %v; want %v and %v", l.Name, method, s.Risk, s.Objective, (va+vb)/2, (va+vb)/2+sigma/2*length)
			}
			if l.Name != Hinge && (math.Abs(s.GradNorm-slope) > 1e-13 || s.Certificate != s.GradNorm/sigma || s.Certificate > 1e-9) {
				t.Errorf("%s by %s: gradient %v, certificate %v; want %v", l.Name, method, s.GradNorm, s.Certificate, slope)
			}
			if s.Iterations < 1 || s.Evaluations < s.Iterations {
				t.Errorf("%s by %s: %d iterations, %d evaluations", l.Name, method, s.Iterations, s.Evaluations)
			}
		}
		if apart, most := norm(minus(found[0].Theta, found[1].Theta)), found[0].Certificate+found[1].Certificate; apart > most+1e-12 {
			t.Errorf("%s: the methods' solutions are %v apart, certificates allow %v", l.Name, apart, most)
		}
	}
}

func minus(a, b []float64) []float64 {
	out := slices.Clone(a)
	for i, v := range b {
		out[i] -= v
	}
	return out
}

// From near the minimizer little is left to do.
func TestMinimizeFromAStart(t *testing.T) {
	r := mustRisk(t, mustLoss(t, Logistic, 0.1, 0), Auto, sample(t, 20, 20, 3, 2))
	cold, err := Minimize(t.Context(), r, RRMOptions{Sigma: 1e-3, Method: LBFGS})
	if err != nil {
		t.Fatal(err)
	}
	warm, err := Minimize(t.Context(), r, RRMOptions{Sigma: 1e-3, Method: LBFGS, Start: cold.Theta})
	if err != nil || warm.Evaluations != 1 || !slices.Equal(warm.Theta, cold.Theta) {
		t.Errorf("%+v, %v", warm, err)
	}
}

func TestMinimizeIsTheSameForAnyThreads(t *testing.T) {
	defer par.SetThreads(par.Threads())
	var found [2]Solution
	for n, threads := range []int{1, 3} {
		par.SetThreads(threads)
		var err error
		r := mustRisk(t, mustLoss(t, Logistic, 0.1, 0), Auto, sample(t, 20, 15, 3, 2))
		if found[n], err = Minimize(t.Context(), r, RRMOptions{Sigma: 1e-3}); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(found[0].Theta, found[1].Theta) || found[0].Evaluations != found[1].Evaluations {
		t.Error("1 and 3 threads differ")
	}
}

// RRM learns, the printed sign does not (S4).
func TestMinimizerSeparates(t *testing.T) {
	p := sample(t, 60, 60, 3, 9)
	errors := map[string]float64{"euclidean": ZeroOne(p, Identity(3), 0)}
	for _, name := range []string{Logistic, LogisticPrinted} {
		s, err := Minimize(t.Context(), mustRisk(t, mustLoss(t, name, 0.01, 0), Auto, p), RRMOptions{Sigma: 1e-3})
		if err != nil {
			t.Fatal(err)
		}
		errors[name] = ZeroOne(p, s.Theta, 0)
	}
	if !(errors[Logistic] < errors["euclidean"]-0.05) || !(errors[LogisticPrinted] > 0.5) {
		t.Errorf("0-1 errors %v", errors)
	}
}

func TestMinimizeRefuses(t *testing.T) {
	r := mustRisk(t, mustLoss(t, Logistic, 0, 0), Auto, sample(t, 5, 4, 2, 1))
	for _, c := range []struct {
		o    RRMOptions
		want string
	}{
		{RRMOptions{}, "sigma is 0, want a finite number above 0: without it F_S is not strongly convex"},
		{RRMOptions{Sigma: -1}, "sigma is -1"},
		{RRMOptions{Sigma: math.NaN()}, "sigma is NaN"},
		{RRMOptions{Sigma: math.Inf(1)}, "sigma is +Inf"},
		{RRMOptions{Sigma: 1, Prior: -2}, "the prior is -2 times the Euclidean metric"},
		{RRMOptions{Sigma: 1, Prior: math.Inf(1)}, "the prior is +Inf"},
		{RRMOptions{Sigma: 1, Tol: -1}, "tolerance is -1"},
		{RRMOptions{Sigma: 1, Tol: math.NaN()}, "tolerance is NaN"},
		{RRMOptions{Sigma: 1, Most: -2}, "at most -2 evaluations"},
		{RRMOptions{Sigma: 1, Method: "sgd"}, `unknown method "sgd"`},
		{RRMOptions{Sigma: 1, Start: []float64{1}}, "the start has 1 numbers"},
	} {
		if _, err := Minimize(t.Context(), r, c.o); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// Where it stops early it says what it has.
func TestMinimizeSaysWhatItReached(t *testing.T) {
	for _, l := range allLosses(t) {
		r := mustRisk(t, l, Auto, sample(t, 8, 9, 3, 1))
		s, err := Minimize(t.Context(), r, RRMOptions{Sigma: 1e-3, Method: LBFGS, Most: 3})
		if !errors.Is(err, ErrNotConverged) || !strings.Contains(err.Error(), "after") || s.Evaluations < 3 || s.Evaluations > 4 {
			t.Errorf("%s: %d evaluations, %v", l.Name, s.Evaluations, err)
		}
		if len(s.Theta) != 6 || !(s.Certificate > 1e-9) || math.IsInf(s.Certificate, 0) {
			t.Errorf("%s: %+v", l.Name, s)
		}
		// No float64 gets this near.
		if _, err = Minimize(t.Context(), r, RRMOptions{Sigma: 1e-3, Tol: 1e-30}); !errors.Is(err, ErrNotConverged) {
			t.Errorf("%s: %v", l.Name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err = Minimize(ctx, r, RRMOptions{Sigma: 1e-3}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
	if l := mustLoss(t, Hinge, 0.3, 0); true {
		r := mustRisk(t, l, Auto, sample(t, 8, 9, 3, 1))
		if _, err := Minimize(t.Context(), r, RRMOptions{Sigma: 1e-3}); err != nil || r.loss != l {
			t.Errorf("the risk has loss %+v afterwards, %v", r.loss, err)
		}
	}
}

// Of points that hardly spread in most directions L-BFGS needs many steps for a small
// sigma: auto continues by Newton's method, and takes that at once where it is cheap.
func TestAutoChoosesTheMethod(t *testing.T) {
	p := sample(t, 25, 25, 8, 1)
	for _, x := range [][]float64{p.Positive, p.Negative} {
		for i := range x {
			x[i] /= math.Pow(float64(i%8+1), 1.5)
		}
	}
	l := mustLoss(t, Logistic, 0.1, 0)
	s, err := Minimize(t.Context(), mustRisk(t, l, Auto, p), RRMOptions{Sigma: 1e-7})
	if err != nil || s.Method != Newton || s.Evaluations <= mostLBFGS || s.Evaluations > mostLBFGS+30 {
		t.Errorf("hard: %s, %d evaluations, %v", s.Method, s.Evaluations, err)
	}
	s, err = Minimize(t.Context(), mustRisk(t, l, Auto, p), RRMOptions{Sigma: 1e-2})
	if err != nil || s.Method != LBFGS {
		t.Errorf("easy: %s, %v", s.Method, err)
	}
	s, err = Minimize(t.Context(), mustRisk(t, l, Auto, sample(t, 30, 30, 3, 1)), RRMOptions{Sigma: 1e-2})
	if err != nil || s.Method != Newton || s.Evaluations > 15 {
		t.Errorf("few parameters: %s, %d evaluations, %v", s.Method, s.Evaluations, err)
	}
}

// A loose solution of the hinge is as near to a close one as its certificate says, and
// no nearer to be told: the dual lies below the objective.
func TestHingeCertificateWithAPrior(t *testing.T) {
	l := mustLoss(t, Hinge, 0.3, 0)
	var found [2]Solution
	for n, tol := range []float64{0.5, 1e-4} {
		var err error
		r := mustRisk(t, l, Auto, sample(t, 10, 8, 3, 2))
		if found[n], err = Minimize(t.Context(), r, RRMOptions{Sigma: 1e-2, Prior: 3, Tol: tol}); err != nil {
			t.Fatal(err)
		}
	}
	loose, close := found[0], found[1]
	apart := norm(minus(loose.Theta, close.Theta))
	if !(loose.Certificate > 1e-4) || !(apart > 1e-6) || apart > loose.Certificate+close.Certificate || loose.Objective < close.Objective {
		t.Errorf("%v apart, certificates %v and %v, objectives %v and %v", apart, loose.Certificate, close.Certificate, loose.Objective, close.Objective)
	}
}

// At a kink near 0 the straight cuts of a far interval creep; halving does not.
func TestSearchFindsAKink(t *testing.T) {
	const kink = 1e-4
	f := func(x float64) (value, slope float64) {
		if x < kink {
			return -x, -1
		}
		return -kink + 0.1*(x-kink), 0.1
	}
	s := &search{}
	x := 1.0
	for op := s.Init(0, -1, x); op != optimize.MajorIteration; {
		value, slope := f(x)
		var err error
		if op, x, err = s.Iterate(value, slope); err != nil {
			t.Fatalf("in [%v, %v]: %v", s.low, s.high, err)
		}
	}
	if value, _ := f(x); value >= 0 {
		t.Errorf("step %v does not lower the function: %v", x, value)
	}
}

// Where the Hessian is singular but for a small sigma, auto finds what L-BFGS does.
func TestAutoOnFewPoints(t *testing.T) {
	for _, n := range [][2]int{{3, 1}, {5, 5}} {
		p := sample(t, n[0], n[1], 2, 5)
		for _, l := range []Loss{mustLoss(t, Logistic, 100, 0), mustLoss(t, Hinge, 1, 0)} {
			s, err := Minimize(t.Context(), mustRisk(t, l, Auto, p), RRMOptions{Sigma: 1e-6, Tol: 0.1})
			if err != nil {
				t.Errorf("%s on %v: certificate %v, %v", l.Name, n, s.Certificate, err)
			}
		}
	}
}

// Certificates of the hinge count rounding: two solutions are never farther apart than
// they say.
func TestHingeCertificatesCountRounding(t *testing.T) {
	p := sample(t, 2, 1, 3, 2)
	l := mustLoss(t, Hinge, 100, 0)
	var found []Solution
	for _, tol := range []float64{0.1, 0.05} {
		s, err := Minimize(t.Context(), mustRisk(t, l, Auto, p), RRMOptions{Sigma: 1e-6, Tol: tol})
		if err != nil && !errors.Is(err, ErrNotConverged) { // which the rounding of another processor may bring about
			t.Fatal(err)
		}
		if s.Certificate < 1e-5 { // eps of an objective of 100, by sqrt(2 eps 100 / sigma)
			t.Errorf("certificate %v is less than rounding", s.Certificate)
		}
		found = append(found, s)
	}
	if apart := norm(minus(found[0].Theta, found[1].Theta)); apart > found[0].Certificate+found[1].Certificate {
		t.Errorf("%v apart, certificates %v and %v", apart, found[0].Certificate, found[1].Certificate)
	}
}
