package measure

import (
	"context"
	"fmt"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/theory/stability"
)

// t3 measures the uniform stability of regularized risk minimization over n.
func t3(ctx context.Context, t *tester) error {
	for _, c := range []struct {
		sigma    record.Scale
		expected [2]float64
	}{
		{record.Scale{Factor: 0.5}, [2]float64{-1.15, -0.85}},
		// Lemma 4 has n^-1/2; at small n the loss itself holds w back.
		{record.Scale{Factor: 1, Power: -0.5}, [2]float64{-0.6, -0.25}},
	} {
		a := RRM{Loss: t.loss, Sigma: c.sigma}
		s := record.MetricSeries{Name: "sigma = " + c.sigma.String(), Quantity: "gamma", Axis: "n", Learner: a.Describe(), Expected: &c.expected}
		if err := t.uniformOver(ctx, &s, even(20, 40, 80, 160, 320), UniformOptions{Learner: a, Replaced: 2}); err != nil {
			return err
		}
		t.within(s, s.Name+": gamma at most Lemma 4, corrected, with the smallest constants")
	}
	return nil
}

// t4 replaces one of four positives while negatives grow in number (S1).
func t4(ctx context.Context, t *tester) error {
	a := RRM{Loss: t.loss, Sigma: record.Scale{Factor: 4}}
	s := record.MetricSeries{Name: "one of 4 positives replaced, sigma = 4", Quantity: "gamma", Axis: "n-", Learner: a.Describe()}
	var last record.MetricPoint
	sizes, left := t.allowed([]record.Sizes{{Pos: 4, Neg: 8}, {Pos: 4, Neg: 32}, {Pos: 4, Neg: 125}, {Pos: 4, Neg: 500}, {Pos: 4, Neg: 900}, {Pos: 4, Neg: 1500}}, func(record.Sizes) record.Sizes { return record.Sizes{Pos: 4, Neg: 1} })
	s.LeftOut = left
	for _, n := range sizes {
		if _, err := t.uniform(ctx, &s, float64(n.Neg), UniformOptions{Learner: a, Sizes: n, Repeats: t.repeats(10), Fresh: 1, Side: Positives}); err != nil {
			return err
		}
		last = s.Points[len(s.Points)-1]
	}
	t.add(s)
	for _, b := range last.Bounds {
		found := fmt.Sprintf("gamma %.4g, bound %.4g", last.Measured.Max, b.Value)
		where := fmt.Sprintf("n+ = %d, n- = %d, %s constants", last.Pos, last.Neg, b.Constants)
		if printed(b) { // it falls as 1/n-: more negatives may cross it
			atLargest(t.doc, "the printed min is violated at "+where, found, &b.Crossed, left)
		} else {
			check(t.doc, "the corrected max is not violated at "+where, found, !b.Crossed)
		}
	}
	return nil
}

// t6 measures the expected gap of regularized risk minimization over n at a sigma for
// which Theorem 4 speaks from n = 20 on, with the smallest alpha: 8 alpha / 20.
func t6(ctx context.Context, t *tester) error {
	k, err := t.loss.Constants(t.Source.Radius(), mahalanobis.Tight)
	if err != nil {
		return err
	}
	a := RRM{Loss: t.loss, Sigma: record.Scale{Factor: 8 * k.Alpha / 20}}
	s := record.MetricSeries{Name: "sigma = " + a.Sigma.String(), Quantity: "gap", Axis: "n", Learner: a.Describe(), Expected: &[2]float64{-1.15, -0.85}}
	sizes, left := t.allowed(even(20, 40, 80, 160, 320), t.held)
	s.LeftOut = left
	for _, n := range sizes {
		g, err := t.gap(ctx, &s, float64(n.Pos), GapOptions{Learner: a, Sizes: n, Repeats: t.repeats(100), Moves: 1})
		if err != nil {
			return err
		}
		p := &s.Points[len(s.Points)-1]
		if p.Bounds, err = gapBounds(a, t.Source.Radius(), g); err != nil {
			return err
		}
		p.With = []record.Number{{Name: "n sigma gap", Value: float64(n.Pos) * a.Sigma.Factor * g.Gap.Value}, {Name: "R_S", Value: g.Train.Value}}
	}
	t.add(s)
	t.within(s, "the gap is at most Theorem 4 and Lemma 6, corrected, with the smallest alpha")
	return nil
}

// gapBounds are Theorem 4 and Lemma 6.
func gapBounds(a RRM, radius float64, g *record.GapResult) ([]record.MetricBound, error) {
	four, err := expectedBounds(a, radius, g)
	if err != nil {
		return nil, err
	}
	six, err := lemma6(a.Loss, radius, g)
	return append(four, six...), err
}

// lemma6 bounds the expected gap by the measured moves of w.
func lemma6(l mahalanobis.Loss, radius float64, g *record.GapResult) ([]record.MetricBound, error) {
	out, err := bounds(l, radius, false, true, func(k stability.Loss, o stability.Options) (record.BoundValue, error) {
		return stability.Lemma6(stability.Lemma6Input{Loss: k, NPos: g.Pos, Risk: g.Train.Value, MovedPos: g.MovedPos.Value, MovedNeg: g.MovedNeg.Value}, o)
	})
	return markedMean(out, g.Gap, g.LargestLoss), err
}

// s2 measures the expected gap under strong regularization, where A(S) is all but
// -grad R_S(0)/sigma: it falls as 1/n, and the printed bound of Lemma 6 as n^-3/2. The
// gap grows with the fourth power of the points' lengths and the bound with the second, so
// that points of a pool are brought to the sphere: they cross at smaller n.
func s2(ctx context.Context, t *tester) error {
	if p, ok := t.Source.(*Pool); ok {
		on := p.OnSphere()
		t.Source = on
		t.doc.Notes = append(t.doc.Notes, "S2: all points are scaled to length B")
	}
	loss, err := mahalanobis.NewLoss(mahalanobis.Logistic, 0, 0)
	if err != nil {
		return err
	}
	_, known := t.Source.(Population)
	a := RRM{Loss: loss, Sigma: record.Scale{Factor: 1000}}
	s := record.MetricSeries{Name: "sigma = 1000", Quantity: "gap", Axis: "n", Learner: a.Describe(), Expected: &[2]float64{-1.15, -0.85}}
	var last record.MetricPoint
	sizes, left := t.allowed(even(125, 250, 500, 1000), func(n record.Sizes) record.Sizes {
		if known {
			return record.Sizes{Pos: 2, Neg: 2}
		}
		return n
	})
	s.LeftOut = left
	for _, n := range sizes {
		o := GapOptions{Learner: a, Sizes: n, Held: n, Repeats: t.repeats(100), Moves: 1}
		if known { // w = 0 is the best, and its risk is log 2 on any sample
			o.Held, o.Fixed = record.Sizes{Pos: 2, Neg: 2}, make([]float64, 3)
		}
		g, err := t.gap(ctx, &s, float64(n.Pos), o)
		if err != nil {
			return err
		}
		p := &s.Points[len(s.Points)-1]
		if p.Bounds, err = lemma6(loss, t.Source.Radius(), g); err != nil {
			return err
		}
		four, err := expectedBounds(a, t.Source.Radius(), g)
		if err != nil {
			return err
		}
		p.Bounds = append(p.Bounds, four...)
		p.With = []record.Number{{Name: "n sigma gap", Value: float64(n.Pos) * 1000 * g.Gap.Value}, {Name: "R_S", Value: g.Train.Value}}
		last = *p
	}
	t.add(s)
	for _, b := range last.Bounds {
		if b.Source == "Lemma 6" && printed(b) && b.Constants == stability.Tight {
			atLargest(t.doc, fmt.Sprintf("the printed Lemma 6 is violated at n = %d, with the smallest alpha", last.Pos), fmt.Sprintf("gap %s, bound %.3g", words(last.Measured), b.Value), isCrossed(b), left)
		}
	}
	t.within(s, "the gap is at most Lemma 6 and Theorem 4, corrected, with the smallest alpha")
	return nil
}
