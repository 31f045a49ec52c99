package measure

import (
	"context"
	"fmt"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/theory/stability"
)

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
	t.within(s, stability.Corrected, stability.Tight, "the gap is at most Lemma 6 and Theorem 4, corrected, with the smallest alpha")
	return nil
}
