package measure

import (
	"context"
	"math"
	"testing"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/testutil"
	"tercet/internal/theory/stability"
)

// Least squares in one dimension, n+ = 2, n- = 1: A(S) and the minimizer of F are in closed
// form, and all expectations are sums over the eight samples.
func TestLemmasAgainstEnumeration(t *testing.T) {
	const sigma, zeta = .4, .5
	f, l := twoCoins(t), lossOf(t, mahalanobis.LeastSquares, zeta)
	v := func(x, y, z float64) float64 { return (x-y)*(x-y) - (x-z)*(x-z) }
	phi := func(u float64) float64 { return u * u / 2 }
	type sample struct{ x, y, z float64 }
	var all []sample
	mean, square := 0.0, 0.0
	for n := range 8 {
		s := sample{heads[0][n&1], heads[0][n>>1&1], heads[1][n>>2&1]}
		u := v(s.x, s.y, s.z)
		mean, square, all = mean+u/8, square+u*u/8, append(all, s)
	}
	star := -zeta * mean / (square + sigma)
	b, at, risk := 0.0, 0.0, 0.0
	for _, s := range all {
		value := phi(star*v(s.x, s.y, s.z) + zeta)
		b, at, risk = max(b, value), at+value*value/8, risk+value/8
	}
	deviation, gap := 0.0, 0.0
	learned := make([]float64, 8)
	for i, s := range all {
		p, q := v(s.x, s.y, s.z), v(s.y, s.x, s.z)
		w := -zeta * (p + q) / 2 / ((p*p+q*q)/2 + sigma)
		learned[i] = w
		deviation += math.Abs((phi(star*p+zeta)+phi(star*q+zeta))/2-risk) / 8
		gap += math.Abs((phi(w*p+zeta)+phi(w*q+zeta))/2-f.Risk(l, []float64{w})) / 8
	}
	m, err := Lemmas(context.Background(), LemmaOptions{Source: f, Learner: RRM{Loss: l, Sigma: record.Scale{Factor: sigma}}, Sizes: record.Sizes{Pos: 2, Neg: 1}, Repeats: 1500, Triplets: 60, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	testutil.Near(t, "R(w*)", m.Risk, risk, 1e-9)
	testutil.Near(t, "b", m.B, b, 1e-9)
	testutil.Near(t, "tau", m.Tau, at-risk*risk, .02*(at-risk*risk))
	testutil.Near(t, "|R_S(w*) - R(w*)|", m.Deviation.Value, deviation, 3**m.Deviation.SE)
	testutil.Near(t, "|gap|", m.Gap.Value, gap, 3**m.Gap.SE)
	// v lies in [-4, 4] for points of the ball: the mean change is at most its largest there.
	most := 0.0
	for i := range 2001 {
		u := -4 + 8*float64(i)/2000
		sum := 0.0
		for _, w := range learned {
			sum += (phi(w*u+zeta) - phi(star*u+zeta)) / 8
		}
		most = max(most, math.Abs(sum))
	}
	if v := m.Mean.Value; v > most+4**m.Mean.SE || v < .5*most {
		t.Errorf("largest mean change %g +- %g, on the ball %g", v, *m.Mean.SE, most)
	}
	for i, v := range m.TripleValues {
		if v < 0 || i == 0 && v == 0 {
			t.Errorf("change %g", v)
		}
	}
	if m.Triple.Value > m.Steps.Value*(1+1e-9) {
		t.Errorf("three samples changed a loss by %g, one by one by %g", m.Triple.Value, m.Steps.Value)
	}
}

func TestLemmaClaim(t *testing.T) {
	t.Parallel()
	d := testClaim(t, "T10", Study{Source: mustFinite(t, 20), Repeats: 4, Triplets: 300, Most: record.Sizes{Pos: 40, Neg: 40}})
	if len(d.Series) != 4 || len(d.Checks) != 4 {
		t.Fatalf("%d series, %d checks", len(d.Series), len(d.Checks))
	}
	verdictIs(t, d, "supported")
	for i, source := range []string{"Lemma 1", "Lemma 3", "Lemma 5", "Theorem 3"} {
		for _, b := range d.Series[i].Points[0].Bounds {
			if b.Source != source {
				t.Errorf("series %d has %s", i, b.Source)
			}
			if source == "Lemma 1" && b.Form == stability.Corrected && b.Constants == stability.Tight { // 3 max{4/n+, 2/n-} L^2/sigma
				testutil.Near(t, source, b.Value, 3*4./20*16/.5, 1e-12)
			}
		}
	}
}
