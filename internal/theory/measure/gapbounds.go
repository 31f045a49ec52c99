package measure

import (
	"tercet/internal/record"
	"tercet/internal/theory/stability"
)

// expectedBounds are those on the expected gap: Theorem 4 for regularized risk
// minimization with sigma min(n+, n-) >= 8 alpha, in the forms whose alpha is so small.
func expectedBounds(l Learner, radius float64, g *record.GapResult) ([]record.MetricBound, error) {
	a, ok := l.(RRM)
	if !ok {
		return nil, nil
	}
	sigma := a.Sigma.At(Least(g.Sizes))
	var out []record.MetricBound
	for _, v := range variants {
		k, ok, err := v.of(a.Loss, radius, false, true)
		if err != nil || !ok {
			return nil, err
		}
		if sigma*float64(Least(g.Sizes)) < 8*k.Alpha {
			continue // Theorem 4 does not apply
		}
		r, err := stability.Theorem4(stability.Theorem4Input{Loss: k, NPos: g.Pos, NNeg: g.Neg, Sigma: sigma, Risk: g.Train.Value}, v.options())
		if err != nil {
			return nil, err
		}
		out = append(out, record.MetricBound{Source: r.Source, Form: v.form, Constants: v.constants, Value: r.Value})
	}
	return markedMean(out, g.Gap, g.LargestLoss), nil
}

// likelyBounds are those on |R - R_S| that hold with probability 1 - delta, with M as it
// was measured (S8): Theorem 1 with gamma of Lemma 4, or Theorem 2. One is crossed where
// the largest repeat is above it; none is given for a loss without the constants.
func likelyBounds(l Learner, radius float64, g *record.GapResult, delta float64) ([]record.MetricBound, error) {
	var out []record.MetricBound
	var err error
	switch a := l.(type) {
	case RRM:
		out, err = bounds(a.Loss, radius, true, false, func(k stability.Loss, o stability.Options) (record.BoundValue, error) {
			gamma, err := stability.Lemma4(stability.RRMInput{Loss: k, NPos: g.Pos, NNeg: g.Neg, Sigma: a.Sigma.At(Least(g.Sizes))}, o)
			if err != nil {
				return gamma, err
			}
			return stability.Theorem1(stability.Theorem1Input{NPos: g.Pos, NNeg: g.Neg, Gamma: gamma.Value, M: g.MeanLoss, Delta: delta}, o)
		})
	case SGD:
		for _, v := range variants {
			k, ok, err := v.of(a.Loss, radius, true, true)
			if err != nil || !ok {
				return nil, err
			}
			if a.C > 2/k.Alpha*(1+1e-12) {
				continue // the printed alpha allows smaller steps only
			}
			r, err := stability.Theorem2(stability.Theorem2Input{Loss: k, NPos: g.Pos, NNeg: g.Neg, C: a.C, Steps: a.T(g.Sizes), M: g.MeanLoss, Delta: delta}, v.options())
			if err != nil {
				return nil, err
			}
			out = append(out, record.MetricBound{Source: r.Source, Form: v.form, Constants: v.constants, Value: r.Value})
		}
	}
	if err != nil {
		return nil, err
	}
	return marked(out, g.Absolute.Max, g.LargestLoss), nil
}
