package mahalanobis

import (
	"math"
	"testing"

	"tercet/internal/testutil"
)

// golden is what testdata/scripts/golden.py computes with numpy and scipy.
type golden struct {
	Positive, Negative, Theta []float64
	D                         int
	Zeta                      float64
	AtTheta                   []struct {
		Loss              string
		Risk              float64
		Gradient, Hessian []float64
		ZeroOne           float64 `json:"zero_one"`
	} `json:"at_theta"`
	RRM []struct {
		Loss        string
		Zeta, Sigma float64
		Theta       []float64
		Risk        float64
		Within      float64 // of the minimizer
	}
}

func readGolden(t *testing.T) (golden, *Problem) {
	t.Helper()
	var g golden
	testutil.ReadJSON(t, "testdata/golden.json", &g)
	p, err := NewProblem(g.Positive, g.Negative, g.D, 0)
	if err != nil {
		t.Fatal(err)
	}
	return g, p
}

func TestGoldenRisk(t *testing.T) {
	g, p := readGolden(t)
	for _, c := range g.AtTheta {
		for _, s := range []Sums{Exact, Interpolated} {
			r := mustRisk(t, mustLoss(t, c.Loss, g.Zeta, 0), s, p)
			grad, hess := make([]float64, 6), make([]float64, 36)
			if v := r.ValueGrad(g.Theta, grad); math.Abs(v-c.Risk) > 1e-14 || worst(grad, c.Gradient) > 1e-14 {
				t.Errorf("%s %s: risk %v, want %v; gradient %v, want %v", c.Loss, s, v, c.Risk, grad, c.Gradient)
			}
			if r.Hessian(g.Theta, hess); worst(hess, c.Hessian) > 1e-14 {
				t.Errorf("%s %s: Hessian off by %v", c.Loss, s, worst(hess, c.Hessian))
			}
		}
		if z := ZeroOne(p, g.Theta, g.Zeta); math.Abs(z-c.ZeroOne) > 1e-15 {
			t.Errorf("0-1 risk %v, want %v", z, c.ZeroOne)
		}
	}
	if len(g.AtTheta) != 2 {
		t.Errorf("%d losses", len(g.AtTheta))
	}
}

func TestGoldenMinimizers(t *testing.T) {
	g, p := readGolden(t)
	for _, c := range g.RRM {
		for _, method := range []string{"", Newton, LBFGS} {
			tol, rounding := 1e-9, 1e-11
			if c.Loss == Hinge {
				tol, rounding = 1e-3, 0 // rounding decides how far its smoothing can narrow
			}
			r := mustRisk(t, mustLoss(t, c.Loss, c.Zeta, 0), Exact, p)
			s, err := Minimize(t.Context(), r, RRMOptions{Sigma: c.Sigma, Method: method, Tol: tol})
			if err != nil {
				t.Fatal(err)
			}
			difference := 0.0
			for i, v := range s.Theta {
				difference = math.Hypot(difference, v-c.Theta[i])
			}
			if difference > s.Certificate+c.Within+rounding || s.Certificate > tol {
				t.Errorf("%s sigma %v by %q: %v from the minimizer, certificate %v", c.Loss, c.Sigma, method, difference, s.Certificate)
			}
			if math.Abs(s.Risk-c.Risk) > 2*(s.Certificate+c.Within)+1e-15 {
				t.Errorf("%s sigma %v by %q: risk %v, want %v", c.Loss, c.Sigma, method, s.Risk, c.Risk)
			}
			if method != "" && s.Method != method {
				t.Errorf("by %q, asked for %q", s.Method, method)
			}
		}
	}
	if len(g.RRM) != 8 {
		t.Errorf("%d minimizers", len(g.RRM))
	}
}
