package theory

import (
	"math"

	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/stat"
	"tercet/internal/verdict"
)

func mean(values []float64) record.Mean {
	m := record.Mean{Value: stat.Mean(values)}
	if len(values) < 2 {
		return m
	}
	n := float64(len(values))
	sd := math.Sqrt(stat.Squares(values, m.Value) / (n - 1))
	half := stat.T95(len(values)) * sd / math.Sqrt(n) // not the standard error's rounding: documents have these digits
	m.SD, m.CI95 = &sd, &[2]float64{m.Value - half, m.Value + half}
	return m
}

// corollaryMargin is by which share of it the corollary's value may be missed by a mean
// that draws estimate: without a margin no interval could support an equality.
const corollaryMargin = 0.1

// check compares errors with the bounds. Each is known to lie between low and high,
// which are equal where it is proven.
func check(b record.DIBSBounds, low, high []float64) printed.TheoremChecks {
	first, last := ends(low, b)[0], ends(high, b)[1]
	c := printed.TheoremChecks{
		Lower: printed.TheoremCheck{Verdict: verdict.AtLeast(b.AbsoluteLower).Of(&[2]float64{first, last})},
		Upper: printed.TheoremCheck{Verdict: verdict.AtMost(b.AbsoluteUpper).Of(&[2]float64{first, last})},
	}
	if b.Corollary != nil {
		want := b.ESim + *b.Corollary
		c.Corollary = verdict.Within(want, float64(corollaryMargin**b.Corollary)).Of(&[2]float64{first, last})
	}
	count(&c, b, low, high)
	return c
}

// checkExpected compares errors whose mean is known. What differs from a bound by less
// than a ten-thousandth of it, as an E_sim of long chains, counts as equal.
func checkExpected(b record.DIBSBounds, values []float64, expected float64) printed.TheoremChecks {
	const slack = 1e-4
	low, high := expected >= b.AbsoluteLower*(1-slack), expected <= b.AbsoluteUpper*(1+slack)
	c := printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.OfAnswer(&low)}, Upper: printed.TheoremCheck{Verdict: verdict.OfAnswer(&high)}}
	if b.Corollary != nil {
		want := b.ESim + *b.Corollary
		equal := math.Abs(expected-want) <= want*slack
		c.Corollary = verdict.OfAnswer(&equal)
	}
	count(&c, b, values, values)
	return c
}

// count counts the draws for which the bounds hold.
func count(c *printed.TheoremChecks, b record.DIBSBounds, low, high []float64) {
	for i := range low {
		if low[i] >= b.AbsoluteLower {
			c.Lower.Draws++
		}
		if high[i] <= b.AbsoluteUpper {
			c.Upper.Draws++
		}
	}
}

// ends returns the interval of the mean. Where there is none it is boundless, and so
// it is where all draws are equal although there is noise: few errors in few draws.
func ends(values []float64, b record.DIBSBounds) [2]float64 {
	m := mean(values)
	if m.CI95 == nil || *m.SD == 0 && b.AbsoluteUpper > 0 {
		return [2]float64{math.Inf(-1), math.Inf(1)}
	}
	return *m.CI95
}
