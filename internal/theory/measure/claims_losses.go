package measure

import (
	"context"
	"math"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
)

// huberDelta is where the Huber loss of t11 turns linear.
const huberDelta = 0.1

// t11 measures regularized risk minimization with the other losses that the paper names, as
// the other claims do with the logistic one: uniform stability where there is a finite L
// (Lemma 4), and the expected gap where there is a finite alpha (Theorem 4, Lemma 6). The
// hinge is not smooth, and least squares is not Lipschitz.
func t11(ctx context.Context, t *tester) error {
	for _, name := range []string{mahalanobis.Hinge, mahalanobis.Huber, mahalanobis.LeastSquares} {
		l, err := mahalanobis.NewLoss(name, t.Zeta, huberDelta)
		if err != nil {
			return err
		}
		if err := stabilityOfLoss(ctx, t, l); err != nil {
			return err
		}
		if err := gapOfLoss(ctx, t, l); err != nil {
			return err
		}
	}
	return nil
}

func stabilityOfLoss(ctx context.Context, t *tester, l mahalanobis.Loss) error {
	a := RRM{Loss: l, Sigma: record.Scale{Factor: 0.5}}
	s := record.MetricSeries{Name: l.Name + ", sigma = 0.5", Quantity: "gamma", Axis: "n", Learner: a.Describe(), Expected: &[2]float64{-1.15, -0.85}}
	if err := t.uniformOver(ctx, &s, even(20, 40, 80, 160), UniformOptions{Learner: a, Replaced: 2}); err != nil {
		return err
	}
	if k, err := l.Constants(t.Source.Radius(), mahalanobis.Tight); err != nil || math.IsInf(k.L, 0) {
		return err // Lemma 4 is about Lipschitz losses
	}
	t.within(s, s.Name+": gamma at most Lemma 4, corrected, with the smallest constants")
	return nil
}

// gapOfLoss has a sigma for which Theorem 4 holds from n = 20 on, with the smallest alpha.
// The hinge, of which no alpha is finite, has the same one and no bound.
func gapOfLoss(ctx context.Context, t *tester, l mahalanobis.Loss) error {
	k, err := l.Constants(t.Source.Radius(), mahalanobis.Tight)
	if err != nil {
		return err
	}
	smooth := !math.IsInf(k.Alpha, 0)
	a := RRM{Loss: l, Sigma: record.Scale{Factor: 6.4}}
	if smooth {
		a.Sigma.Factor = 8 * k.Alpha / 20
	}
	s := record.MetricSeries{Name: l.Name + ", sigma = " + a.Sigma.String(), Quantity: "gap", Axis: "n", Learner: a.Describe(), Expected: &[2]float64{-1.15, -0.85}}
	errors := record.MetricSeries{Name: s.Name + ", " + zeroOneName(a), Quantity: zeroOneGap, Axis: "n", Learner: a.Describe()}
	sizes, left := t.allowed(even(20, 40, 80, 160), t.held)
	s.LeftOut, errors.LeftOut = left, left
	for _, n := range sizes {
		g, err := t.gap(ctx, &s, float64(n.Pos), GapOptions{Learner: a, Sizes: n, Repeats: t.repeats(100), Moves: 1, Errors: true})
		if err != nil {
			return err
		}
		p := &s.Points[len(s.Points)-1]
		if smooth {
			if p.Bounds, err = gapBounds(a, t.Source.Radius(), g); err != nil {
				return err
			}
		}
		errors.Points = append(errors.Points, zeroOnePoint(float64(n.Pos), a, g))
	}
	t.add(s)
	t.add(errors)
	if smooth {
		t.within(s, s.Name+": the gap is at most Theorem 4 and Lemma 6, corrected, with the smallest alpha")
	}
	return nil
}
