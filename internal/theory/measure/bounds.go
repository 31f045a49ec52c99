package measure

import (
	"errors"
	"math"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/theory/stability"
)

// variant is a way to calculate a bound.
type variant struct{ form, constants string }

// variants: as printed; as printed with the smallest L and alpha, which no reading of
// the constants saves; corrected; corrected with all constants at their best.
var variants = []variant{
	{stability.Paper, stability.Paper}, {stability.Paper, stability.Tight},
	{stability.Corrected, stability.Paper}, {stability.Corrected, stability.Tight},
}

func (v variant) options() stability.Options {
	return stability.Options{Form: v.form, Constants: v.constants}
}

// of gives the constants of l on points in the ball of that radius; ok is false where one
// that is needed is infinite.
func (v variant) of(l mahalanobis.Loss, radius float64, lipschitz, smooth bool) (k stability.Loss, ok bool, err error) {
	c, err := l.Constants(radius, v.constants)
	if err != nil {
		return k, false, err
	}
	k = stability.Loss{L: c.L, Alpha: c.Alpha}
	return k, !(lipschitz && math.IsInf(c.L, 0) || smooth && math.IsInf(c.Alpha, 0)), nil
}

// errSkip leaves a variant of a bound out: the bound does not apply with its constants.
var errSkip = errors.New("left out")

// bounds calculates all variants of a bound; none for a loss without the constants.
func bounds(l mahalanobis.Loss, radius float64, lipschitz, smooth bool, f func(stability.Loss, stability.Options) (record.BoundValue, error)) ([]record.MetricBound, error) {
	var out []record.MetricBound
	for _, v := range variants {
		k, ok, err := v.of(l, radius, lipschitz, smooth)
		if err != nil || !ok {
			return nil, err
		}
		r, err := f(k, v.options())
		if errors.Is(err, errSkip) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, record.MetricBound{Source: r.Source, Form: v.form, Constants: v.constants, Value: r.Value})
	}
	return out, nil
}

// marked marks the bounds that a largest value crosses, and those above sup, the largest
// loss; 0 for none.
func marked(bounds []record.MetricBound, value, sup float64) []record.MetricBound {
	for i := range bounds {
		b := &bounds[i]
		b.Crossed = value > b.Value
		if sup > 0 {
			vacuous := b.Value > sup
			b.Vacuous = &vacuous
		}
	}
	return bounds
}

// markedMean does so for a mean: its whole interval crosses a bound, lies at or below it,
// or leaves it undecided.
func markedMean(bounds []record.MetricBound, e record.Estimate, sup float64) []record.MetricBound {
	marked(bounds, 0, sup)
	for i := range bounds {
		MarkMean(&bounds[i], e)
	}
	return bounds
}

// MarkMean says whether a mean crosses the bound.
func MarkMean(b *record.MetricBound, e record.Estimate) {
	above := above(e, b.Value)
	b.Undecided = above == nil
	b.Crossed = above != nil && *above
}

// expectedBounds are those on the expected gap, compared with its mean.
func expectedBounds(l Learner, radius float64, g *record.GapResult) ([]record.MetricBound, error) {
	out, err := l.expected(g, radius)
	return markedMean(out, g.Gap, g.LargestLoss), err
}

// likelyBounds are those on |R - R_S| that hold with probability 1 - delta. One is crossed
// where the largest repeat is above it; none is given for a loss without the constants.
func likelyBounds(l Learner, radius float64, g *record.GapResult, delta float64) ([]record.MetricBound, error) {
	out, err := l.likely(g, radius, delta)
	return marked(out, g.Absolute.Max, g.LargestLoss), err
}
