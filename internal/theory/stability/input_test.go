package stability

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// Bad numbers are refused by the assumption that they break.
func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		bounds string
		change func(g *given)
		want   string
	}{
		{"theorem1 theorem2 theorem3 theorem4 lemma3 lemma4 lemma5 lemma6 corollary1 corollary2 corollary3", func(g *given) { g.NPos = 1 }, "n+ is 1, want 2 or more: a triplet has two different positives"},
		{"theorem1 theorem2 theorem3 theorem4 lemma3 lemma4 lemma5 corollary1 corollary2 corollary3", func(g *given) { g.NNeg = 0 }, "n- is 0, want 1 or more: a triplet has a negative"},
		{"theorem1 theorem2 theorem3 corollary1 corollary2", func(g *given) { g.Delta = 0.37 }, "delta is 0.37, want a number between 0 and 1/e = 0.367879: "},
		{"theorem1 theorem2 theorem3 lemma3 lemma10 corollary1 corollary2", func(g *given) { g.Delta = 0 }, "delta is 0, want a number between 0 and 1"},
		{"lemma3 lemma10", func(g *given) { g.Delta = 1 }, "delta is 1, want a number between 0 and 1: "},
		{"theorem3 theorem4 lemma4 lemma5 corollary2", func(g *given) { g.Sigma = 0 }, "sigma is 0, want a finite number above 0: F_S must be sigma-strongly convex"},
		{"theorem3 theorem4 lemma4 lemma5 corollary2", func(g *given) { g.Sigma = -1 }, "sigma is -1"},
		{"theorem2 corollary1", func(g *given) { g.C = 0.51 * 2 / 3 * 2 }, "want at most 2/alpha = "},
		{"lemma2", func(g *given) { g.C = 0.67 }, "step is 0.67, want at most 2/alpha = 0.666667: larger steps"},
		{"theorem2 lemma2 corollary1", func(g *given) { g.C = 0 }, "is 0, want a finite number above 0: steps go against the gradient"},
		{"theorem2 corollary1", func(g *given) { g.Steps = 0 }, "number of steps is 0, want 1 or more"},
		{"lemma2", func(g *given) { g.Steps = -1 }, "uses is -1, want 0 or more"},
		{"theorem4", func(g *given) { g.Sigma = 0.23 }, "sigma min(n+, n-) is 23, want at least 8 alpha = 24: Theorem 4 assumes it"},
		{"theorem1 lemma1", func(g *given) { g.Gamma = -0.1 }, "gamma is -0.1, want a finite number of 0 or more: it is the uniform stability"},
		{"theorem1 theorem2 corollary1", func(g *given) { g.M = 0 }, "M is 0, want a finite number above 0: it bounds the mean loss"},
		{"theorem2 theorem3 lemma2 lemma4 lemma5", func(g *given) { g.L = 0 }, "L is 0, want a finite number above 0: the loss must be L-Lipschitz"},
		{"theorem2 theorem4 lemma2 lemma6 corollary3", func(g *given) { g.Alpha = 0 }, "alpha is 0, want a finite number above 0: the loss must be alpha-smooth"},
		{"theorem2 theorem3 theorem4 lemma2 lemma4 lemma5 lemma6 corollary3", func(g *given) { g.Radius = 1 }, "given by a radius and by constants"},
		{"corollary1 corollary2", func(g *given) { g.Radius = 0 }, "radius is 0, want a finite number above 0: the points lie in a ball"},
		{"theorem3 lemma3 corollary2", func(g *given) { g.B = -1 }, "b is -1, want a finite number of 0 or more: it is the largest loss"},
		{"theorem3 lemma3 corollary2", func(g *given) { g.Tau = -1 }, "tau is -1, want a finite number of 0 or more: it is the variance"},
		{"lemma10", func(g *given) { g.Mu = 0 }, "mu is 0, want a finite number above 0"},
		{"theorem4 lemma6 corollary3", func(g *given) { g.Risk = -1 }, "risk is -1, want a finite number of 0 or more"},
		{"theorem4 lemma6", func(g *given) { g.Eps = -1 }, "eps is -1, want a finite number of 0 or more"},
		{"lemma6", func(g *given) { g.MovedPos = -1 }, "moved-pos is -1"},
		{"lemma6", func(g *given) { g.MovedNeg = -1 }, "moved-neg is -1"},
		{"corollary3", func(g *given) { g.Norm = 0 }, "norm is 0, want a finite number above 0"},
		{"corollary2", func(g *given) { g.Norm = -1 }, "norm is -1, want a finite number of 0 or more"},
		{"lemma1 theorem1", func(g *given) { g.Gamma = math.MaxFloat64 }, "too large or too small for float64"},
	} {
		for _, bound := range strings.Fields(c.bounds) {
			g := of(bound, plain(100))
			if g.Radius > 0 && strings.Contains(c.want, "2/alpha") {
				g.Radius = 1
			}
			c.change(&g)
			for _, o := range forms[:2] {
				r, err := bounds[bound](g, o)
				if !errors.Is(err, ErrInput) || !strings.HasPrefix(err.Error(), "cannot calculate: ") || !strings.Contains(err.Error(), c.want) || r.Value != 0 {
					t.Errorf("%s, %s\ngot  %v, %v\nwant %s", bound, o.Form, r.Value, err, c.want)
				}
			}
		}
	}
	// Corollary 3 as printed chooses a sigma that may break what Theorem 4 assumes; corrected it does not.
	g := given{NPos: 1000, NNeg: 1000, Alpha: 4, Norm: 1, Risk: 0.03}
	if _, err := Corollary3(Corollary3Input{g.loss(), g.NPos, g.NNeg, g.Norm, g.Risk}, Options{Form: Paper}); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "want at least 8 alpha = 32: Theorem 4 assumes it, and Corollary 3's sigma is 0.000974") {
		t.Error(err)
	}
	if r := value(t, "corollary3", g, Options{}); with(r, "sigma") != 0.032 {
		t.Errorf("%+v", r)
	}
}

// The tight constants bound what triplets of points in the ball can do, and are met.
func TestTightConstantsOfTheLogisticLoss(t *testing.T) {
	const radius = 1.5
	l, alpha, err := Logistic(radius, Tight)
	if err != nil {
		t.Fatal(err)
	}
	norm := func(p [3][3]float64) float64 { // of (x-y)(x-y)^T - (x-z)(x-z)^T
		total := 0.0
		for i := range 3 {
			for j := range 3 {
				v := (p[0][i]-p[1][i])*(p[0][j]-p[1][j]) - (p[0][i]-p[2][i])*(p[0][j]-p[2][j])
				total += v * v
			}
		}
		return math.Sqrt(total)
	}
	r := rng.New(1, "points")
	largest := 0.0
	for range 20000 {
		var p [3][3]float64
		for i := range p {
			length := 0.0
			for j := range p[i] {
				p[i][j] = r.NormFloat64()
				length += p[i][j] * p[i][j]
			}
			for j := range p[i] {
				p[i][j] *= radius / math.Sqrt(length)
			}
		}
		largest = max(largest, norm(p))
	}
	if !(largest <= l && largest > 0.95*l) {
		t.Errorf("largest norm of drawn triplets is %v, L is %v", largest, l)
	}
	if met := norm([3][3]float64{{radius}, {-radius}, {radius}}); !testutil.WithinRelative(met, l, 1e-12) || !testutil.WithinRelative(alpha, met*met/4, 1e-12) {
		t.Errorf("norm %v, L %v, alpha %v", met, l, alpha)
	}
}

// Numbers that are not finite never pass, wherever they are used.
func TestNotFinite(t *testing.T) {
	for bound, f := range bounds {
		start := of(bound, plain(100))
		want, err := f(start, Options{})
		if err != nil {
			t.Fatal(err)
		}
		used := 0
		for i := range reflect.TypeOf(start).NumField() {
			if reflect.ValueOf(start).Field(i).Kind() != reflect.Float64 {
				continue
			}
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				g := start
				reflect.ValueOf(&g).Elem().Field(i).SetFloat(bad)
				r, err := f(g, Options{})
				if err == nil && r.Value != want.Value || err != nil && !errors.Is(err, ErrInput) {
					t.Errorf("%s with %s = %v: %v, %v", bound, reflect.TypeOf(start).Field(i).Name, bad, r.Value, err)
				}
				if err != nil {
					used++
				}
			}
		}
		if used == 0 {
			t.Errorf("%s uses no number", bound)
		}
	}
}

func TestBadOptions(t *testing.T) {
	for bound, f := range bounds {
		g := of(bound, plain(100))
		for want, o := range map[string]Options{
			`form is "best"; choose paper or corrected`:       {Form: "best"},
			`constants are "small"; choose paper or tight`:    {Constants: "small"},
			"sup is -1, want a finite number of 0 or more":    {Sup: -1},
			"sup is NaN, want a finite number of 0 or more: ": {Sup: math.NaN()},
		} {
			if _, err := f(g, o); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", bound, err, want)
			}
		}
	}
	if _, _, err := Logistic(1, "own"); !errors.Is(err, ErrInput) {
		t.Error(err)
	}
}
