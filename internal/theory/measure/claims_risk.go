package measure

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
)

// t1 sets gaps beside Theorem 1, with the proven stability of the learner.
func t1(ctx context.Context, t *tester) error {
	descent, err := t.sgd(1, record.Scale{Factor: 1, Power: 1})
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		a    Learner
	}{
		{"RRM, sigma = 0.5", RRM{Loss: t.loss, Sigma: record.Scale{Factor: 0.5}}},
		{"SGD, T = n", descent},
	} {
		s := record.MetricSeries{Name: c.name, Quantity: "|gap|", Axis: "n", Learner: c.a.Describe()}
		vacuous, needed := 0, 0.0
		sizes, left := t.allowed(even(20, 40, 80, 160, 320, 640), t.held)
		s.LeftOut = left
		for _, n := range sizes {
			scratch := record.MetricSeries{Name: s.Name}
			g, err := t.gap(ctx, &scratch, float64(n.Pos), GapOptions{Learner: c.a, Sizes: n, Repeats: t.repeats(10)})
			if err != nil {
				return err
			}
			p := scratch.Points[0]
			p.Measured, p.Repeats = g.Absolute, g.Absolutes
			if p.Bounds, err = likelyBounds(c.a, t.Source.Radius(), g, t.Delta); err != nil {
				return err
			}
			best := p.Bounds[len(p.Bounds)-1]
			if *best.Vacuous {
				vacuous++
			}
			needed = t.needed(c.a, g)
			p.With = []record.Number{{Name: "largest |gap| over bound", Value: g.Absolute.Max / best.Value}, {Name: "M, measured", Value: g.MeanLoss}, {Name: "largest loss", Value: g.LargestLoss}}
			s.Points = append(s.Points, p)
		}
		t.add(s)
		t.within(s, c.name+": the gap is at most the bound in every run, with the smallest constants")
		if len(s.Points) == 0 {
			continue
		}
		from := fmt.Sprintf("from n = %.2g on", needed)
		if math.IsInf(needed, 1) {
			from = "at no n up to 2^50"
		}
		t.doc.Notes = append(t.doc.Notes, fmt.Sprintf("%s: the corrected bound with the smallest constants is above the largest measured loss at %d of %d sizes; with the same M it is below log 2, the logistic loss of w = 0 and zeta = 0, %s", c.name, vacuous, len(s.Points), from))
	}
	return nil
}

// needed is the n = n+ = n- from which the learner's bound with the smallest constants
// is below log 2, with M as measured; +Inf if it is not within 2^50.
func (t *tester) needed(l Learner, g *record.GapResult) float64 {
	below := func(n int) bool {
		at := *g
		at.Sizes = record.Sizes{Pos: n, Neg: n}
		b, err := likelyBounds(l, t.Source.Radius(), &at, t.Delta)
		return err == nil && len(b) > 0 && b[len(b)-1].Value < math.Ln2
	}
	high := 2
	for ; !below(high); high *= 2 {
		if high >= min(1<<50, math.MaxInt/2+1) {
			return math.Inf(1)
		}
	}
	low := high / 2
	for high-low > max(1, high/1000) {
		if mid := low + (high-low)/2; below(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return float64(high)
}

// t7 learns with both signs of the logistic loss (S4).
func t7(ctx context.Context, t *tester) error {
	printed, err := mahalanobis.NewLoss(mahalanobis.LogisticPrinted, t.Zeta, 0)
	if err != nil {
		return err
	}
	sizes, left := t.allowed(even(20, 50, 200), t.held)
	euclidean := record.MetricSeries{Name: "Euclidean", Quantity: "triplet error", Axis: "n", Learner: record.Learner{Name: "none"}}
	var wrong, right record.MetricSeries
	for _, l := range []mahalanobis.Loss{printed, t.loss} {
		a := RRM{Loss: l, Sigma: record.Scale{Factor: 0.001}}
		s := record.MetricSeries{Name: l.Name, Quantity: "triplet error", Axis: "n", Learner: a.Describe()}
		for _, n := range sizes {
			g, err := t.gap(ctx, &s, float64(n.Pos), GapOptions{Learner: a, Sizes: n, Repeats: t.repeats(10), Errors: true})
			if err != nil {
				return err
			}
			p := &s.Points[len(s.Points)-1]
			p.Measured, p.Repeats = g.Errors.Test, g.Errors.Values
			if l == t.loss {
				euclidean.Points = append(euclidean.Points, record.MetricPoint{X: p.X, Sizes: n, Measured: g.Errors.Euclidean, Repeats: g.Errors.EuclideanValues})
			}
		}
		if l == printed {
			wrong = s
		} else {
			right = s
		}
	}
	if len(sizes) == 0 {
		leaveOpen(t.doc, "there are sizes to measure at", "none")
		return nil
	}
	for i, n := range sizes {
		w := wrong.Points[i].Measured
		addCheck(t.doc, fmt.Sprintf("n = %d: logistic-printed errs on more than half of the test triplets", n.Pos), words(w), above(w, 0.5))
	}
	// The metric's d(d+1)/2 numbers need some samples: the largest size tells. Both err on
	// the same triplets, so that differences have intervals of their own.
	last := len(sizes) - 1
	e, r := euclidean.Points[last], right.Points[last]
	less := make([]float64, len(e.Repeats))
	for i := range less {
		less[i] = e.Repeats[i] - r.Repeats[i]
	}
	atLargest(t.doc, fmt.Sprintf("n = %d: logistic errs less than Euclidean distances", sizes[last].Pos),
		fmt.Sprintf("%.4f against %.4f, less by %s", r.Measured.Value, e.Measured.Value, words(EstimateOf(less))), above(EstimateOf(less), 0), left)
	for _, s := range []*record.MetricSeries{&wrong, &right, &euclidean} {
		s.LeftOut = left
	}
	t.doc.Series = append(t.doc.Series, wrong, right, euclidean)
	return nil
}
