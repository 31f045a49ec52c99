package measure

import (
	"fmt"
	"math"
	"slices"

	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/stat"
)

// Resamples is the usual number of a slope's bootstrap.
const Resamples = 2000

// Slope fits log mean(groups[i]) against log x[i] by ordinary least squares, and finds
// the slope's interval by drawing each group's values again, with replacement, within the
// group. The interval is left out where more than 1 in 100 resamples has a mean that is
// not positive: what is left of them would make it too narrow.
//
// Errors: fewer than two sizes or lists that do not fit, sizes that are not positive or
// all equal, an empty group, values that are not finite, a mean that is not positive.
func Slope(x []float64, groups [][]float64, resamples int, seed uint64) (record.Rate, error) {
	if len(x) < 2 || len(x) != len(groups) {
		return record.Rate{}, fmt.Errorf("%w: a slope needs two sizes or more and values for each; there are %d sizes and %d groups of values", ErrInput, len(x), len(groups))
	}
	logs, means, single := make([]float64, len(x)), make([]float64, len(x)), false
	for i, v := range x {
		if !(v > 0) || math.IsInf(v, 0) {
			return record.Rate{}, fmt.Errorf("%w: size %d is %g; a slope on logarithms needs positive sizes", ErrInput, i, v)
		}
		if len(groups[i]) == 0 {
			return record.Rate{}, fmt.Errorf("%w: size %g has no values", ErrInput, v)
		}
		for k, y := range groups[i] {
			if math.IsNaN(y) || math.IsInf(y, 0) {
				return record.Rate{}, fmt.Errorf("%w: value %d of size %g is %g", ErrInput, k, v, y)
			}
		}
		m := stat.Mean(groups[i])
		if m <= 0 {
			return record.Rate{}, fmt.Errorf("%w: the mean at size %g is %.3g and has no logarithm; more repeats may help", ErrInput, v, m)
		}
		logs[i], means[i] = math.Log(v), math.Log(m)
		single = single || len(groups[i]) < 2
	}
	if slices.Min(logs) == slices.Max(logs) {
		return record.Rate{}, fmt.Errorf("%w: all sizes are %g; a slope needs two different ones", ErrInput, x[0])
	}
	r := record.Rate{}
	r.Slope, r.Intercept = stat.Line(logs, means)
	if single || resamples < 1 {
		return r, nil
	}
	stream := rng.New(seed, "slope")
	slopes := make([]float64, 0, resamples)
	for range resamples {
		if !resampled(means, groups, stream) {
			r.Undefined++
			continue
		}
		s, _ := stat.Line(logs, means)
		slopes = append(slopes, s)
	}
	r.Resamples = resamples
	if 100*r.Undefined > resamples {
		return r, nil
	}
	ci := stat.Interval95(slopes)
	r.CI95 = &ci
	return r, nil
}

// resampled puts the logs of the means of resampled groups into means; false where one
// has none. All groups are drawn from in any case, so that the stream stays in step.
func resampled(means []float64, groups [][]float64, r *rng.Stream) bool {
	ok := true
	for i, g := range groups {
		sum := 0.0
		for range g {
			sum += g[r.IntN(len(g))]
		}
		ok = ok && sum > 0
		means[i] = math.Log(sum / float64(len(g)))
	}
	return ok
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
