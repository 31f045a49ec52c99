package noise

import (
	"math"
	"strings"
	"testing"

	"tercet/internal/testutil"
)

// The values of the paper's two noises at equal effective noise, to the digits given.
func TestRates(t *testing.T) {
	for _, c := range []struct{ pln, p, q float64 }{{0, 0, 0}, {0.2, 0.1, 0.105573}, {0.4, 0.2, 0.225403}, {0.6, 0.3, 0.367544}, {1, 0.5, 1}} {
		q, err := SLNFromEffective(c.p)
		if err != nil {
			t.Fatal(err)
		}
		testutil.Near(t, "q", q, c.q, 5e-7)
		testutil.Near(t, "P of q", SLNEffective(q), c.p, 1e-15)
		testutil.Near(t, "P of q~", PLNEffective(c.pln), c.p, 1e-15)
		pln, err := PLNFromEffective(c.p)
		if err != nil {
			t.Fatal(err)
		}
		testutil.Near(t, "q~", pln, c.pln, 1e-15)
		for _, k := range []int{2, 3, 10, 100} {
			testutil.Near(t, "q of the rate", SLNFromRate(SLNRate(q, k), k), q, 1e-15)
		}
	}
	testutil.Near(t, "rate", SLNRate(0.5, 10), 0.45, 1e-15)
	testutil.Near(t, "rate of one class", SLNRate(0.5, 1), 0, 0)
	testutil.Near(t, "q~ taken for q", SLNEffective(0.2), 0.18, 1e-15)
	if q, _ := SLNFromEffective(1e-18); q != 1e-18 {
		t.Errorf("a small effective noise comes of q = %v", q)
	}
}

func TestRatesOfBadInput(t *testing.T) {
	for name, got := range map[string]float64{
		"rate of q > 1": SLNRate(1.1, 10), "rate of NaN": SLNRate(math.NaN(), 10), "rate of no class": SLNRate(0.1, 0),
		"q of one class": SLNFromRate(0.1, 1), "q of a negative rate": SLNFromRate(-0.1, 4), "q of NaN": SLNFromRate(math.NaN(), 4),
		"P of q < 0": SLNEffective(-0.1), "P of NaN": SLNEffective(math.NaN()), "P of q~ > 1": PLNEffective(1.5), "P of q~ NaN": PLNEffective(math.NaN()),
	} {
		if !math.IsNaN(got) {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, p := range []float64{-0.1, 0.50001, 1, math.NaN(), math.Inf(1)} {
		if _, err := SLNFromEffective(p); err == nil || !strings.Contains(err.Error(), "from 0 to 0.5") {
			t.Errorf("sln, P = %v: %v", p, err)
		}
		if _, err := PLNFromEffective(p); err == nil || !strings.Contains(err.Error(), "from 0 to 0.5") {
			t.Errorf("pln, P = %v: %v", p, err)
		}
	}
}
