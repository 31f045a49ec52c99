package measure

import (
	"context"
	"fmt"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/stat"
)

// t12 measures the notions of stability of Table 4, of regularized risk minimization at a
// fixed sigma, and which of them are larger than which.
func t12(ctx context.Context, t *tester) error {
	a := RRM{Loss: t.loss, Sigma: record.Scale{Factor: 0.5}}
	const replaced = 5
	series := notionSeries(a)
	gamma := record.MetricSeries{Name: "uniform stability", Quantity: "gamma", Axis: "n", Learner: a.Describe()}
	moved := record.MetricSeries{Name: "uniform augment stability", Quantity: "||w - w'||", Axis: "n", Learner: a.Describe()}
	sizes, left := t.allowed(even(20, 40, 80, 160, 320), func(n record.Sizes) record.Sizes { return NotionsOptions{Sizes: n, Replaced: replaced}.fresh() })
	k, err := a.Loss.Constants(t.Source.Radius(), mahalanobis.Tight)
	if err != nil {
		return err
	}
	var last *record.NotionsResult
	for _, n := range sizes {
		u, err := t.uniform(ctx, &gamma, float64(n.Pos), UniformOptions{Learner: a, Sizes: n, Repeats: t.repeats(10), Replaced: 2, Fresh: 1})
		if err != nil {
			return err
		}
		moved.Points = append(moved.Points, at(record.MetricPoint{X: float64(n.Pos), Measured: u.Moved}, a, n))
		o := NotionsOptions{Source: t.Source, Learner: a, Sizes: n, Repeats: t.repeats(20), Replaced: replaced, Triplets: t.Triplets, Seed: t.Seed}
		m, err := recall(t.Keep, o.key(), func() (*record.NotionsResult, error) { return Notions(ctx, o) })
		if err != nil {
			return fmt.Errorf("n+ = %d, n- = %d: %w", n.Pos, n.Neg, err)
		}
		if t.Done != nil {
			t.Done("notions of stability", n, m.Hypothesis)
		}
		addNotions(series, a, m)
		last = m
		check(t.doc, fmt.Sprintf("n = %d: hypothesis and error stability are at most the uniform one", n.Pos),
			fmt.Sprintf("%.3g and %.3g, gamma %.3g", m.Hypothesis.Max, m.Error.Max, u.Gamma.Max), max(m.Hypothesis.Max, m.Error.Max) <= u.Gamma.Max)
		check(t.doc, fmt.Sprintf("n = %d: L times the on-average augment stability is at least the hypothesis stability", n.Pos),
			fmt.Sprintf("%.3g and %.3g", k.L*m.Moved.Value, m.Hypothesis.Value), k.L*m.Moved.Value >= m.Hypothesis.Value)
	}
	for _, s := range append([]record.MetricSeries{gamma}, series...) {
		s.LeftOut, s.Expected = left, &[2]float64{-1.15, -0.85}
		t.add(s)
	}
	if last == nil {
		return nil
	}
	moved.LeftOut = left
	fitMeans(&moved)
	t.doc.Series = append(t.doc.Series, moved)
	less := make([]float64, len(last.NearValues))
	for i, v := range last.NearValues {
		less[i] = v - last.FarValues[i]
	}
	atLargest(t.doc, fmt.Sprintf("n = %d: losses of triplets near the replaced point change more than of those far from it (locally elastic)", last.Pos),
		fmt.Sprintf("%.3g against %.3g, more by %s", last.Near.Value, last.Far.Value, words(EstimateOf(less))), above(EstimateOf(less), 0), left)
	t.doc.Notes = append(t.doc.Notes,
		"hypothesis stability has the absolute value, without which it is 0 for any algorithm",
		"on-average stability is that of Definition 2, measured without a claim")
	return nil
}

// fitMeans fits the rate to means of which there are no repeats.
func fitMeans(s *record.MetricSeries) {
	groups, x := make([][]float64, len(s.Points)), make([]float64, len(s.Points))
	for i, p := range s.Points {
		groups[i], x[i] = []float64{p.Measured.Value}, p.X
	}
	r, err := stat.Slope(x, groups, 0, 0)
	if err != nil {
		s.RateNote = fmt.Sprintf("%v: %v", ErrInput, err)
		return
	}
	s.Rate, s.RateNote = new(record.Rate(r)), "no interval: the repeats are not kept"
}
