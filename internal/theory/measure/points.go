package measure

import (
	"fmt"
	"slices"

	"tercet/internal/record"
	"tercet/internal/stat"
)

// fitRate adds the rate of the points.
func fitRate(s *record.MetricSeries, seed uint64) {
	var x []float64
	var groups [][]float64
	for _, p := range s.Points {
		x, groups = append(x, p.X), append(groups, p.Repeats)
	}
	r, err := stat.Slope(x, groups, stat.Resamples, seed)
	if err != nil {
		s.RateNote = fmt.Sprintf("%v: %v", ErrInput, err)
		return
	}
	s.Rate = new(record.Rate(r))
	switch {
	case r.CI95 == nil && r.Resamples == 0:
		s.RateNote = "no interval: a size has one repeat"
	case r.CI95 == nil:
		s.RateNote = "no interval: means of resamples are not positive; more repeats are needed"
	}
}

// at fills what the learner is at these sizes.
func at(p record.MetricPoint, l Learner, n record.Sizes) record.MetricPoint {
	p.Sizes = n
	l.mark(&p)
	return p
}

// uniformPoint is a Point of gamma.
func uniformPoint(x float64, l Learner, u *record.UniformResult) record.MetricPoint {
	b := u.Bounds
	if u.Lemma2 != nil {
		b = u.Lemma2.Bounds
	}
	return at(record.MetricPoint{X: x, Measured: u.Gamma, Repeats: u.Values, Bounds: b, Uniform: u}, l, u.Sizes)
}

// gapPoint is a Point of the expected gap.
func gapPoint(x float64, l Learner, g *record.GapResult) record.MetricPoint {
	return at(record.MetricPoint{X: x, Measured: g.Gap, Repeats: g.Values, Gap: g}, l, g.Sizes)
}

// EstimateOf is the estimate from repeats, of which there is at least one.
func EstimateOf(values []float64) record.Estimate {
	m, se := stat.MeanError(values)
	e := record.Estimate{Value: m, N: len(values), Max: slices.Max(values)}
	if len(values) < 2 {
		return e
	}
	half := float64(stat.T95(len(values)) * se)
	e.SE, e.CI95 = &se, &[2]float64{m - half, m + half}
	return e
}
