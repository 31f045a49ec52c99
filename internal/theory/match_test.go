package theory

import (
	"errors"
	"math"
	"strings"
	"testing"

	"tercet/internal/record/printed"
	"tercet/internal/testutil"
)

func match(t *testing.T, given string, value float64, classes int, similar float64) *printed.MatchedNoise {
	t.Helper()
	m, err := Match(given, value, classes, similar)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func close4(got, want float64) bool { return math.Abs(got-want) <= 0.5001e-4 }

// The rows of the reference, given by the q~ of pair noise.
func TestMatchPrintsTheTable(t *testing.T) {
	for _, w := range []struct {
		classes                               int
		qt, q                                 float64
		beta, gamma, w11, product11, w00, p00 float64
	}{
		{10, 0.2, 0.105573, 0.82, 0.98, 0.8112, 0.8036, 0.0112, 0.0036},
		{10, 0.4, 0.225403, 0.64, 0.96, 0.6252, 0.6144, 0.0252, 0.0144},
		{2, 0.2, 0.105573, 0.90, 0.90, 0.8500, 0.8100, 0.0500, 0.0100},
		{2, 0.4, 0.225403, 0.80, 0.80, 0.7000, 0.6400, 0.1000, 0.0400},
	} {
		m := match(t, GivenPLN, w.qt, w.classes, 0.5)
		s := m.SLN
		if math.Abs(s.Q-w.q) > 5e-7 || !testutil.WithinRelative(s.Rate, s.Q*float64(w.classes-1)/float64(w.classes), 1e-15) || m.Effective != w.qt/2 {
			t.Errorf("%d classes, q~=%v: q %v, rate %v, P %v", w.classes, w.qt, s.Q, s.Rate, m.Effective)
		}
		if !close4(s.Beta, w.beta) || !close4(s.Gamma, w.gamma) || !close4(s.W11, w.w11) || !close4(s.W00, w.w00) ||
			!close4(s.Product.W11, w.product11) || !close4(s.Product.W00, w.p00) {
			t.Errorf("%d classes, q~=%v: %+v, want %+v", w.classes, w.qt, s, w)
		}
		// Balanced pairs, and flips of the order: the same contrast 1 - q~.
		p := w.qt / 2
		if !testutil.WithinRelative(m.PLN.Beta, 1-p, 1e-14) || !testutil.WithinRelative(m.PLN.Gamma, 1-p, 1e-14) || m.PLN.Q != w.qt || m.PLN.Rate != p || !testutil.WithinRelative(m.PLN.W11, (1-p)*(1-p), 1e-14) {
			t.Errorf("%+v", m.PLN)
		}
		if m.Flips.Rho != p || m.Flips.W11 != 1-p || m.Flips.W00 != p || m.Flips.W10 != 0 {
			t.Errorf("%+v", m.Flips)
		}
		for _, c := range []float64{s.Contrast, m.PLN.Contrast, m.Flips.Contrast} {
			if !testutil.WithinRelative(c, 1-w.qt, 1e-12) {
				t.Errorf("%d classes, q~=%v: contrast %v", w.classes, w.qt, c)
			}
		}
	}
	// All pairs of ten classes.
	m := match(t, GivenEffective, 0.1, 10, 0.1)
	if math.Abs(m.PLN.Beta-0.5) > 1e-14 || math.Abs(m.PLN.Gamma-0.988) > 5e-4 {
		t.Errorf("unbalanced: %+v", m.PLN)
	}
	if math.Abs(match(t, GivenPLN, 0.6, 10, 0.5).SLN.Q-0.367544) > 5e-7 {
		t.Error("q of q~ = 0.6")
	}
}

// Each way to say it gives the same answer.
func TestMatchGoesRound(t *testing.T) {
	for _, classes := range []int{2, 3, 10, 1000} {
		for _, p := range []float64{0, 1e-9, 0.1, 0.3, 0.499, 0.5} {
			want := match(t, GivenEffective, p, classes, 0.3)
			for given, value := range map[string]float64{
				GivenSLN: want.SLN.Q, GivenRate: want.SLN.Rate, GivenPLN: want.PLN.Q, GivenFlips: want.Flips.Rho,
			} {
				m := match(t, given, value, classes, 0.3)
				if m.Given != given || m.Value != value || math.Abs(m.Effective-p) > 1e-12 {
					t.Errorf("%d classes, P=%v by %s %v: %v", classes, p, given, value, m.Effective)
				}
				// Near P = 1/2 q has the square root of P's rounding.
				if math.Abs(m.SLN.Q-want.SLN.Q) > 2e-7 || math.Abs(m.SLN.W00-want.SLN.W00) > 2e-7 || math.Abs(m.PLN.Beta-want.PLN.Beta) > 1e-12 {
					t.Errorf("%d classes, P=%v by %s %v: %+v, want %+v", classes, p, given, value, m, want)
				}
			}
		}
	}
	// Labels that are never their own class: q above 1.
	m := match(t, GivenRate, 1, 3, 0.5)
	if m.SLN.Q != 1.5 || math.Abs(m.Effective-0.375) > 1e-15 || math.Abs(m.SLN.Contrast-0.25) > 1e-15 {
		t.Errorf("rate 1: %+v", m)
	}
}

func TestMatchRefuses(t *testing.T) {
	for _, c := range []struct {
		given   string
		value   float64
		classes int
		similar float64
		want    string
	}{
		{GivenSLN, 0.1, 1, 0.5, "number of classes is 1"},
		{GivenSLN, 1.1, 10, 0.5, "sln is 1.1, want a number from 0 to 1"},
		{GivenRate, -0.1, 10, 0.5, "rate is -0.1"},
		{GivenPLN, math.NaN(), 10, 0.5, "pln is NaN"},
		{GivenEffective, 0.51, 10, 0.5, "effective is 0.51, want a number from 0 to 0.5"},
		{GivenFlips, 0.51, 10, 0.5, "exchange them all"},
		{GivenPLN, 0.1, 10, 0, "share of similar pairs is 0"},
		{GivenPLN, 0.1, 10, 1, "share of similar pairs is 1"},
		{"loud", 0.1, 10, 0.5, `cannot be given as "loud"`},
	} {
		if _, err := Match(c.given, c.value, c.classes, c.similar); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
