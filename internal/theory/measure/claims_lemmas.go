package measure

import (
	"context"
	"fmt"

	"tercet/internal/record"
	"tercet/internal/theory/stability"
)

// t10 measures what Lemmas 1, 3 and 5 and Theorem 3 bound, of regularized risk
// minimization at sigma = 0.5.
func t10(ctx context.Context, t *tester) error {
	k, err := t.known()
	if err != nil {
		return err
	}
	a := RRM{Loss: t.loss, Sigma: record.Scale{Factor: 0.5}}
	sizes, left := t.allowed(even(20, 40, 80, 160, 320), some(2))
	series := make([]record.MetricSeries, len(ofLemmas))
	for i, of := range ofLemmas {
		series[i] = record.MetricSeries{Name: of.name, Quantity: of.quantity, Axis: "n", Learner: a.Describe(), LeftOut: left}
	}
	for _, n := range sizes {
		o := LemmaOptions{Source: k, Learner: a, Sizes: n, Repeats: t.repeats(50), Triplets: t.Triplets, Seed: t.Seed}
		m, err := recall(t.Keep, o.key(), func() (*record.LemmaResult, error) { return Lemmas(ctx, o) })
		if err != nil {
			return fmt.Errorf("n+ = %d, n- = %d: %w", n.Pos, n.Neg, err)
		}
		for i, of := range ofLemmas {
			p := of.point(m)
			if p.X = float64(n.Pos); i == 0 {
				p.Lemmas = m
			}
			if p.Bounds, err = of.bounds(a, k, m, t.Delta); err != nil {
				return err
			}
			if t.Done != nil {
				t.Done(of.name, n, p.Measured)
			}
			series[i].Points = append(series[i].Points, at(p, a, n))
		}
	}
	for i, of := range ofLemmas {
		t.add(series[i])
		t.within(series[i], of.says)
	}
	t.doc.Notes = append(t.doc.Notes,
		"Lemma 1 is with 3 gamma of Lemma 4; each step's largest change is a lower estimate of gamma, and so the change of all three is at most their sum if no larger one was missed",
		"Lemma 5 is measured at the triplet of the ball where the mean over repeats is farthest from 0, which is larger than the largest true mean by chance",
		"w* is the minimizer of F = R + sigma/2 ||w||^2 (S12); b and tau are those of its loss")
	return nil
}

// ofLemmas are the quantities of t10.
var ofLemmas = []struct {
	name, quantity, says string
	point                func(*record.LemmaResult) record.MetricPoint
	bounds               func(RRM, Known, *record.LemmaResult, float64) ([]record.MetricBound, error)
}{
	{
		"three samples replaced", "change", "Lemma 1: no change above 3 gamma of Lemma 4, corrected, with the smallest constants",
		func(m *record.LemmaResult) record.MetricPoint {
			return record.MetricPoint{Measured: m.Triple, Repeats: m.TripleValues, With: []record.Number{{Name: "sum of the three steps", Value: m.Steps.Value}, {Name: "share of that sum", Value: m.Triple.Value / m.Steps.Value}}}
		},
		func(a RRM, k Known, m *record.LemmaResult, _ float64) ([]record.MetricBound, error) {
			out, err := bounds(a.Loss, k.Radius(), true, false, func(l stability.Loss, o stability.Options) (record.BoundValue, error) {
				gamma, err := stability.Lemma4(stability.RRMInput{Loss: l, NPos: m.Pos, NNeg: m.Neg, Sigma: a.Sigma.At(Least(m.Sizes))}, o)
				if err != nil {
					return gamma, err
				}
				return stability.Lemma1(stability.Lemma1Input{Gamma: gamma.Value}, o)
			})
			return marked(out, m.Triple.Max, 0), err
		},
	},
	{
		"w*", "|R_S(w*) - R(w*)|", "Lemma 3: at most the bound, corrected, in every run",
		func(m *record.LemmaResult) record.MetricPoint {
			return record.MetricPoint{Measured: m.Deviation, Repeats: m.DeviationValues, With: []record.Number{{Name: "b", Value: m.B}, {Name: "tau", Value: m.Tau}}}
		},
		func(a RRM, k Known, m *record.LemmaResult, delta float64) ([]record.MetricBound, error) {
			out, err := bounds(a.Loss, k.Radius(), true, false, func(_ stability.Loss, o stability.Options) (record.BoundValue, error) {
				return stability.Lemma3(stability.Lemma3Input{NPos: m.Pos, NNeg: m.Neg, B: m.B, Tau: m.Tau, Delta: delta}, o)
			})
			return marked(out, m.Deviation.Max, m.B), err
		},
	},
	{
		"A(S) and w*", "|E_S[l(A(S)) - l(w*)]|", "Lemma 5: the mean is at most M, corrected, with the smallest constants",
		func(m *record.LemmaResult) record.MetricPoint {
			return record.MetricPoint{Measured: m.Mean, Repeats: m.MeanValues}
		},
		func(a RRM, k Known, m *record.LemmaResult, _ float64) ([]record.MetricBound, error) {
			out, err := bounds(a.Loss, k.Radius(), true, false, func(l stability.Loss, o stability.Options) (record.BoundValue, error) {
				return stability.Lemma5(stability.RRMInput{Loss: l, NPos: m.Pos, NNeg: m.Neg, Sigma: a.Sigma.At(Least(m.Sizes))}, o)
			})
			return markedMean(out, m.Mean, m.B), err
		},
	},
	{
		"A(S)", "|gap|", "Theorem 3: the gap is at most the bound, corrected, with the smallest constants, in every run",
		func(m *record.LemmaResult) record.MetricPoint {
			return record.MetricPoint{Measured: m.Gap, Repeats: m.GapValues}
		},
		func(a RRM, k Known, m *record.LemmaResult, delta float64) ([]record.MetricBound, error) {
			out, err := bounds(a.Loss, k.Radius(), true, false, func(l stability.Loss, o stability.Options) (record.BoundValue, error) {
				return stability.Theorem3(stability.Theorem3Input{Loss: l, NPos: m.Pos, NNeg: m.Neg, Sigma: a.Sigma.At(Least(m.Sizes)), B: m.B, Tau: m.Tau, Delta: delta}, o)
			})
			return marked(out, m.Gap.Max, m.B), err
		},
	},
}
