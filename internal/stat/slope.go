package stat

import (
	"fmt"
	"math"
	"slices"

	"tercet/internal/rng"
)

// Rate is a power law through means: a line on logarithms.
type Rate struct {
	Slope     float64     // exponent
	Intercept float64     // logarithm of the value at x = 1
	CI95      *[2]float64 // of the slope, by the bootstrap; nil for none
	Resamples int
	Undefined int // resamples whose mean is not positive
}

// Resamples is the usual number of a slope's bootstrap.
const Resamples = 2000

// Slope fits log mean(groups[i]) against log x[i] by ordinary least squares, and finds
// the slope's interval by drawing each group's values again, with replacement, within the
// group. The interval is left out where more than 1 in 100 resamples has a mean that is
// not positive: what is left of them would make it too narrow.
//
// Errors: fewer than two sizes or lists that do not fit, sizes that are not positive or
// all equal, an empty group, values that are not finite, a mean that is not positive.
func Slope(x []float64, groups [][]float64, resamples int, seed uint64) (Rate, error) {
	if len(x) < 2 || len(x) != len(groups) {
		return Rate{}, fmt.Errorf("a slope needs two sizes or more and values for each; there are %d sizes and %d groups of values", len(x), len(groups))
	}
	logs, means, single := make([]float64, len(x)), make([]float64, len(x)), false
	for i, v := range x {
		if !(v > 0) || math.IsInf(v, 0) {
			return Rate{}, fmt.Errorf("size %d is %g; a slope on logarithms needs positive sizes", i, v)
		}
		if len(groups[i]) == 0 {
			return Rate{}, fmt.Errorf("size %g has no values", v)
		}
		for k, y := range groups[i] {
			if math.IsNaN(y) || math.IsInf(y, 0) {
				return Rate{}, fmt.Errorf("value %d of size %g is %g", k, v, y)
			}
		}
		m := Mean(groups[i])
		if m <= 0 {
			return Rate{}, fmt.Errorf("the mean at size %g is %.3g and has no logarithm; more repeats may help", v, m)
		}
		logs[i], means[i] = math.Log(v), math.Log(m)
		single = single || len(groups[i]) < 2
	}
	if slices.Min(logs) == slices.Max(logs) {
		return Rate{}, fmt.Errorf("all sizes are %g; a slope needs two different ones", x[0])
	}
	r := Rate{}
	r.Slope, r.Intercept = Line(logs, means)
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
		s, _ := Line(logs, means)
		slopes = append(slopes, s)
	}
	r.Resamples = resamples
	if 100*r.Undefined > resamples {
		return r, nil
	}
	ci := Interval95(slopes)
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
