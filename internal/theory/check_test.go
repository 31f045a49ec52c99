package theory

import (
	"math"
	"testing"

	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/testutil"
	"tercet/internal/verdict"
)

// Student's t with three degrees of freedom has its 97.5 % point at 3.182446.
func TestMean(t *testing.T) {
	m := mean([]float64{1, 2, 3, 6})
	sd := math.Sqrt(14.0 / 3)
	if m.Value != 3 || !testutil.WithinRelative(*m.SD, sd, 1e-15) || !testutil.WithinRelative(m.CI95[1]-3, 3.182446*sd/2, 1e-6) || !testutil.WithinRelative(3-m.CI95[0], 3.182446*sd/2, 1e-6) {
		t.Errorf("%+v", m)
	}
	if m = mean([]float64{4}); m.Value != 4 || m.SD != nil || m.CI95 != nil {
		t.Errorf("%+v", m)
	}
}

func TestVerdicts(t *testing.T) {
	corollary := 0.25
	b := record.DIBSBounds{AbsoluteLower: 0.2, AbsoluteUpper: 0.3, ESim: 0.05, Corollary: &corollary}
	for _, c := range []struct {
		name      string
		low, high []float64
		want      printed.TheoremChecks
	}{
		{"between", []float64{0.24, 0.25, 0.26}, nil, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 3}, Upper: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 3}, Corollary: verdict.Contradicted}},
		{"below", []float64{0.14, 0.15, 0.16}, nil, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Contradicted, Draws: 0}, Upper: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 3}, Corollary: verdict.Contradicted}},
		{"above", []float64{0.34, 0.35, 0.36}, nil, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 3}, Upper: printed.TheoremCheck{Verdict: verdict.Contradicted, Draws: 0}, Corollary: verdict.Contradicted}},
		{"about the lower one", []float64{0.18, 0.2, 0.22}, nil, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Inconclusive, Draws: 2}, Upper: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 3}, Corollary: verdict.Contradicted}},
		{"about the upper one", []float64{0.28, 0.3, 0.32}, nil, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 3}, Upper: printed.TheoremCheck{Verdict: verdict.Inconclusive, Draws: 2}, Corollary: verdict.Inconclusive}},
		{"at the corollary, by less than its margin", []float64{0.299, 0.3, 0.301}, nil, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 3}, Upper: printed.TheoremCheck{Verdict: verdict.Inconclusive, Draws: 2}, Corollary: verdict.Supported}},
		{"one draw", []float64{0.25}, nil, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Inconclusive, Draws: 1}, Upper: printed.TheoremCheck{Verdict: verdict.Inconclusive, Draws: 1}, Corollary: verdict.Inconclusive}},
		// Few errors in few draws: their equality carries no information about the mean.
		{"no scatter", []float64{0, 0, 0}, nil, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Inconclusive, Draws: 0}, Upper: printed.TheoremCheck{Verdict: verdict.Inconclusive, Draws: 3}, Corollary: verdict.Inconclusive}},
		// What is not proven is neither below nor above until both ends are.
		{"unproven", []float64{0.24, 0.25, 0.26}, []float64{0.34, 0.35, 0.36}, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 3}, Upper: printed.TheoremCheck{Verdict: verdict.Inconclusive, Draws: 0}, Corollary: verdict.Inconclusive}},
		{"unproven below", []float64{0.14, 0.15, 0.16}, []float64{0.24, 0.25, 0.26}, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Inconclusive, Draws: 0}, Upper: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 3}, Corollary: verdict.Contradicted}},
	} {
		if c.high == nil {
			c.high = c.low
		}
		if got := check(b, c.low, c.high); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	b.Corollary = nil
	if c := check(b, []float64{1, 2}, []float64{1, 2}); c.Corollary != "" {
		t.Errorf("more than two classes: corollary %q", c.Corollary)
	}
}

// The duplicates' mean is known: it is the lower bound less E_sim, whatever was drawn.
func TestVerdictsByTheKnownMean(t *testing.T) {
	for _, c := range []struct {
		classes, perClass int
		p                 float64
		want              printed.TheoremChecks
	}{
		{10, 300, 0.1, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 1}, Upper: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 1}, Corollary: ""}},
		{10, 300, 0.05, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 1}, Upper: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 1}, Corollary: ""}},
		{10, 20, 0.1, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Contradicted, Draws: 1}, Upper: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 1}, Corollary: ""}}, // E_sim is as large as the bound
		{2, 200, 0.2, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 1}, Upper: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 1}, Corollary: verdict.Supported}},
		{2, 6, 0.2, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Contradicted, Draws: 1}, Upper: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 1}, Corollary: verdict.Contradicted}},
		{10, 2, 0.1, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 1}, Upper: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 1}, Corollary: ""}}, // chains of one pair, twice
		{10, 20, 0, printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 2}, Upper: printed.TheoremCheck{Verdict: verdict.Supported, Draws: 1}, Corollary: ""}},
	} {
		b := dibs(t, c.classes, c.perClass, c.p)
		if got := checkExpected(b, []float64{0, 1}, b.FloorDuplicates); got != c.want {
			t.Errorf("%d x %d, P=%v: %+v, want %+v", c.classes, c.perClass, c.p, got, c.want)
		}
	}
}
