package mahalanobis

import (
	"errors"
	"math"
	"strings"
	"testing"

	"tercet/internal/rng"
)

func TestLossesAreTheirFormulas(t *testing.T) {
	for _, l := range allLosses(t) {
		for _, u := range []float64{-30, -2, -0.4, -0.1, 0.1, 0.4, 0.7, 3, 25} {
			v, s, _ := l.At(u)
			wv, ws := plain(l, u)
			if math.Abs(v-wv) > 1e-15*max(1, wv) || math.Abs(s-ws) > 1e-15*max(1, math.Abs(ws)) {
				t.Errorf("%s at %v: %v, %v; want %v, %v", l.Name, u, v, s, wv, ws)
			}
		}
	}
}

func TestCurvatureIsTheSlopesSlope(t *testing.T) {
	for _, l := range allLosses(t) {
		for _, u := range []float64{-3, -0.2, 0.1, 0.35, 2} {
			const h = 1e-6
			_, up, _ := l.At(u + h)
			_, down, _ := l.At(u - h)
			if _, _, c := l.At(u); math.Abs(c-(up-down)/(2*h)) > 1e-9 {
				t.Errorf("%s at %v: curvature %v, differences say %v", l.Name, u, c, (up-down)/(2*h))
			}
		}
	}
}

// Far out, logistic losses neither overflow nor lose their digits.
func TestLogisticFarOut(t *testing.T) {
	l := mustLoss(t, Logistic, 0, 0)
	for _, u := range []float64{-700, -40} {
		v, s, c := l.At(u)
		for _, x := range []float64{v, s, c} {
			if math.Abs(x/math.Exp(u)-1) > 1e-14 {
				t.Errorf("at %v: %v, want %v", u, x, math.Exp(u))
			}
		}
	}
	if v, s, c := l.At(1e5); v != 1e5 || s != 1 || c != 0 {
		t.Errorf("at 1e5: %v %v %v", v, s, c)
	}
	if v, s, c := mustLoss(t, LogisticPrinted, 0, 0).At(-1e5); v != 1e5 || s != -1 || c != 0 {
		t.Errorf("printed at -1e5: %v %v %v", v, s, c)
	}
}

// L and alpha bound the gradient and its change over the ball, and the tight ones are
// reached nearly: a = 2B e, b = 0 gives ||M|| = 4B^2.
func TestConstants(t *testing.T) {
	const b = 0.7
	for _, c := range []struct {
		l                          Loss
		paperL, paperA, tightL, ta float64
	}{
		{mustLoss(t, Logistic, 0, 0), 8 * b * b, 64 * b * b * b * b, 4 * b * b, 4 * b * b * b * b},
		{mustLoss(t, LogisticPrinted, 0, 0), 8 * b * b, 64 * b * b * b * b, 4 * b * b, 4 * b * b * b * b},
		{mustLoss(t, Hinge, 1, 0), 8 * b * b, math.Inf(1), 4 * b * b, math.Inf(1)},
		{mustLoss(t, LeastSquares, 1, 0), math.Inf(1), 64 * b * b * b * b, math.Inf(1), 16 * b * b * b * b},
		{mustLoss(t, Huber, 1, 0.5), 4 * b * b, 64 * b * b * b * b, 2 * b * b, 16 * b * b * b * b},
	} {
		paper, err := c.l.Constants(b, Paper)
		if err != nil {
			t.Fatal(err)
		}
		tight, err := c.l.Constants(b, Tight)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range [][2]float64{{paper.L, c.paperL}, {paper.Alpha, c.paperA}, {tight.L, c.tightL}, {tight.Alpha, c.ta}} {
			if v[0] != v[1] && math.Abs(v[0]/v[1]-1) > 1e-15 {
				t.Errorf("%s: %v, want %v", c.l.Name, v[0], v[1])
			}
		}
	}
	r := rng.New(1, "test/constants")
	most := 0.0
	for range 3000 {
		m := make([]float64, 6)
		var x [3][]float64
		for i := range x {
			x[i] = []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
			n := norm(x[i])
			for c := range x[i] {
				x[i][c] *= b / n
			}
		}
		addSquare(m, x[0], x[1], 1)
		addSquare(m, x[0], x[2], -1)
		most = max(most, norm(m))
	}
	if most > 4*b*b || most < 3.8*b*b {
		t.Errorf("largest gradient of u is %v, want nearly %v", most, 4*b*b)
	}
}

func TestLossRefuses(t *testing.T) {
	for _, c := range []struct {
		name        string
		zeta, delta float64
		want        string
	}{
		{"logistik", 0, 0, `unknown loss "logistik"; did you mean logistic? valid: logistic, logistic-printed, hinge, least-squares, huber`},
		{Logistic, math.NaN(), 0, "zeta is NaN"},
		{Hinge, 0, 0, "hinge with zeta 0 has its least loss at w = 0"},
		{LeastSquares, -1, 0, "least-squares with zeta -1"},
		{Huber, 1, 0, "delta of huber is 0"},
		{Huber, 1, math.Inf(1), "delta of huber is +Inf"},
	} {
		if _, err := NewLoss(c.name, c.zeta, c.delta); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	l := mustLoss(t, Logistic, 0, 0)
	for _, radius := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := l.Constants(radius, Tight); !errors.Is(err, ErrInput) {
			t.Errorf("radius %v: %v", radius, err)
		}
	}
	if _, err := l.Constants(1, "loose"); !errors.Is(err, ErrInput) {
		t.Errorf("%v", err)
	}
}
