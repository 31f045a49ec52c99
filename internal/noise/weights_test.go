package noise

import (
	"math"
	"testing"

	"tercet/internal/record"
	"tercet/internal/testutil"
)

func nearWeights(t *testing.T, name string, got, want record.TripletWeights, within float64) {
	t.Helper()
	g := [...]float64{got.Beta, got.Gamma, got.W11, got.W10, got.W01, got.W00}
	w := [...]float64{want.Beta, want.Gamma, want.W11, want.W10, want.W01, want.W00}
	for i := range g {
		if !(math.Abs(g[i]-w[i]) <= within) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
			return
		}
	}
}

// Made by testdata/golden.py: the sums over classes in closed form,
// checked there against 1.5 million sampled triplets.
func TestSLNTripletsGolden(t *testing.T) {
	for _, c := range []struct {
		classes int
		pln     float64
		want    record.TripletWeights
	}{
		{10, 0.2, record.TripletWeights{Beta: 0.82, Gamma: 0.98, W11: 0.8112433402239946, W10: 0.008756659776005383, W01: 0.16875665977600543, W00: 0.01124334022399462}},
		{10, 0.4, record.TripletWeights{Beta: 0.64, Gamma: 0.96, W11: 0.6251806401235912, W10: 0.0148193598764088, W01: 0.33481935987640876, W00: 0.0251806401235912}},
		{10, 0.6, record.TripletWeights{Beta: 0.46, Gamma: 0.94, W11: 0.4422385770250777, W10: 0.01776142297492237, W01: 0.4977614229749223, W00: 0.04223857702507762}},
		{2, 0.2, record.TripletWeights{Beta: 0.9, Gamma: 0.9, W11: 0.85, W10: 0.05, W01: 0.05, W00: 0.05}},
		{2, 0.4, record.TripletWeights{Beta: 0.8, Gamma: 0.8, W11: 0.7, W10: 0.1, W01: 0.1, W00: 0.1}},
		{3, 0.3, record.TripletWeights{Beta: 0.8, Gamma: 0.9, W11: 0.7539624465082058, W10: 0.04603755349179411, W01: 0.14603755349179415, W00: 0.05396244650820587}},
		{100, 0.4, record.TripletWeights{Beta: 0.604, Gamma: 0.996, W11: 0.6026346284151399, W10: 0.0013653715848600777, W01: 0.39336537158486007, W00: 0.002634628415139922}},
	} {
		q, err := SLNFromEffective(c.pln / 2)
		if err != nil {
			t.Fatal(err)
		}
		w := SLNTriplets(q, c.classes)
		nearWeights(t, "sln", w, c.want, 1e-12)
		testutil.Near(t, "contrast", w.Contrast(), 1-c.pln, 1e-12)
		testutil.Near(t, "beta", w.Beta, 1-c.pln*float64(c.classes-1)/float64(c.classes), 1e-12)
		testutil.Near(t, "gamma", w.Gamma, 1-c.pln/float64(c.classes), 1e-12)
	}
	// Independence, as the paper has it: .8036, .0036 and so on.
	for _, c := range []struct {
		classes       int
		pln, w11, w00 float64
	}{{10, 0.2, 0.8036, 0.0036}, {10, 0.4, 0.6144, 0.0144}, {2, 0.2, 0.81, 0.01}, {2, 0.4, 0.64, 0.04}} {
		q, _ := SLNFromEffective(c.pln / 2)
		w := Product(SLNTriplets(q, c.classes))
		testutil.Near(t, "product w11", w.W11, c.w11, 1e-12)
		testutil.Near(t, "product w00", w.W00, c.w00, 1e-12)
		testutil.Near(t, "contrast", w.Contrast(), 1-c.pln, 1e-12)
	}
}

// All true classes of anchor, positive and negative, weighed by their probabilities
// given the noisy ones.
func TestSLNTripletsByEnumeration(t *testing.T) {
	for k := 2; k <= 6; k++ {
		for _, q := range []float64{0, 0.1, 0.5, 0.9, 1, float64(k) / float64(k-1)} {
			given := func(truth, seen int) float64 { // classes are equally large
				p := q / float64(k)
				if truth == seen {
					p += 1 - q
				}
				return p
			}
			var want record.TripletWeights
			for seenN := 1; seenN < k; seenN++ { // the anchor's and the positive's is 0
				for a := range k {
					for p := range k {
						for n := range k {
							w := given(a, 0) * given(p, 0) * given(n, seenN) / float64(k-1)
							switch {
							case p == a && n != a:
								want.W11 += w
							case p == a:
								want.W10 += w
							case n != a:
								want.W01 += w
							default:
								want.W00 += w
							}
						}
					}
				}
			}
			want.Beta, want.Gamma = want.W11+want.W10, want.W11+want.W01
			nearWeights(t, "sln", SLNTriplets(q, k), want, 1e-12)
		}
	}
}

func TestPLNTriplets(t *testing.T) {
	testutil.Near(t, "gamma of all pairs", PLNTriplets(0.1, 0.1).Gamma, 0.9878048780487805, 1e-12)
	testutil.Near(t, "beta of all pairs", PLNTriplets(0.1, 0.1).Beta, 0.5, 1e-12)
	nearWeights(t, "balanced", PLNTriplets(0.1, 0.5), record.TripletWeights{Beta: 0.9, Gamma: 0.9, W11: 0.81, W10: 0.09, W01: 0.09, W00: 0.01}, 1e-12)
	nearWeights(t, "pi .3", PLNTriplets(0.25, 0.3), record.TripletWeights{Beta: 0.5625, Gamma: 0.875, W11: 0.4921875, W10: 0.0703125, W01: 0.3828125, W00: 0.0546875}, 1e-12)
	nearWeights(t, "clean", PLNTriplets(0, 0.3), record.TripletWeights{Beta: 1, Gamma: 1, W11: 1, W10: 0, W01: 0, W00: 0}, 0)
	testutil.Near(t, "contrast", PLNTriplets(0.2, 0.5).Contrast(), 0.6, 1e-12)
}

func TestOtherWeights(t *testing.T) {
	nearWeights(t, "flips", OrderFlips(0.2), record.TripletWeights{Beta: 0.8, Gamma: 0.8, W11: 0.8, W10: 0, W01: 0, W00: 0.2}, 1e-15)
	testutil.Near(t, "contrast of flips", OrderFlips(0.2).Contrast(), 0.6, 1e-15)
}

func TestWeightsOfBadInput(t *testing.T) {
	for name, w := range map[string]record.TripletWeights{
		"one class": SLNTriplets(0.1, 1), "q < 0": SLNTriplets(-0.1, 3), "q above all": SLNTriplets(1.6, 3), "q NaN": SLNTriplets(math.NaN(), 3),
		"p > 1": PLNTriplets(1.1, 0.5), "similar < 0": PLNTriplets(0.1, -0.5), "no similar pair": PLNTriplets(0, 0), "no different pair": PLNTriplets(0, 1), "p NaN": PLNTriplets(math.NaN(), 0.5),
		"rho > 1": OrderFlips(1.5), "rho NaN": OrderFlips(math.NaN()),
	} {
		for _, v := range []float64{w.Beta, w.Gamma, w.W11, w.W10, w.W01, w.W00, w.Contrast()} {
			if !math.IsNaN(v) {
				t.Errorf("%s: %+v", name, w)
				break
			}
		}
	}
}
