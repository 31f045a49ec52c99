package measure

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/stat"
	"tercet/internal/theory/stability"
)

// excess adds a point of the excess risk to the series.
func (t *tester) excess(ctx context.Context, s *record.MetricSeries, k Known, o ExcessOptions) (*record.ExcessResult, error) {
	o.Source, o.Seed = k, t.Seed
	e, err := recall(t.Keep, o.key(), func() (*record.ExcessResult, error) { return Excess(ctx, o) })
	if err != nil {
		return nil, fmt.Errorf("n+ = %d, n- = %d: %w", o.Sizes.Pos, o.Sizes.Neg, err)
	}
	if t.Done != nil {
		t.Done(s.Name, o.Sizes, e.Excess)
	}
	s.Points = append(s.Points, excessPoint(float64(Least(o.Sizes)), o.Learner, e))
	return e, nil
}

// excessSizes are those of the claims on excess risks.
var excessSizes = []int{20, 40, 80, 160, 320, 640}

// steepest is the least slope that counts as one: a slope that is steeper than a bound's
// agrees with the bound.
const steepest = -3

// noSlower are the slopes of what falls at least as fast as f does over those sizes, by the
// same least squares as slopes are fitted with.
func noSlower(sizes []int, f func(n float64) float64) *[2]float64 {
	var x, y []float64
	for _, n := range sizes {
		x, y = append(x, math.Log(float64(n))), append(y, math.Log(f(float64(n))))
	}
	slope, _ := stat.Line(x, y)
	return &[2]float64{steepest, math.Round(1000*slope) / 1000}
}

// t8 measures the excess risk R(A(S)) - min R over n (Remarks 3 and 5, Corollary 2). An
// upper bound of the order n^-1/2 log(n) says that a slope is at most that function's.
func t8(ctx context.Context, t *tester) error {
	k, err := t.known()
	if err != nil {
		return err
	}
	order := noSlower(excessSizes, func(n float64) float64 { return math.Log(n) / math.Sqrt(n) })
	descent, err := t.sgd(1, record.Scale{Factor: 1, Power: 1})
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name    string
		a       Learner
		repeats int
	}{
		{"RRM, sigma = n^-0.5", RRM{Loss: t.loss, Sigma: record.Scale{Factor: 1, Power: -0.5}}, 40},
		{"RRM, sigma = 0.1 n^-0.5", RRM{Loss: t.loss, Sigma: record.Scale{Factor: 0.1, Power: -0.5}}, 40},
		{"RRM, sigma = 0.01 n^-0.5", RRM{Loss: t.loss, Sigma: record.Scale{Factor: 0.01, Power: -0.5}}, 40},
		{"SGD, T = n", descent, 100},
	} {
		s := record.MetricSeries{Name: c.name, Quantity: "excess risk", Axis: "n", Learner: c.a.Describe(), Expected: order}
		sizes, left := t.allowed(even(excessSizes...), some(2))
		s.LeftOut = left
		for _, n := range sizes {
			e, err := t.excess(ctx, &s, k, ExcessOptions{Learner: c.a, Sizes: n, Repeats: t.repeats(c.repeats)})
			if err != nil {
				return err
			}
			p := &s.Points[len(s.Points)-1]
			if a, ok := c.a.(RRM); ok {
				if p.Bounds, err = corollary2(ctx, k, a, e, t.Delta); err != nil {
					return err
				}
			}
		}
		t.add(s)
		if _, ok := c.a.(RRM); ok {
			t.within(s, c.name+": the excess risk is at most Corollary 2, corrected, with the smallest constants, in every run")
		}
	}
	t.doc.Notes = append(t.doc.Notes,
		fmt.Sprintf("expected slopes: at most that of n^-1/2 log(n) over these sizes, %g", order[1]),
		"Corollary 2 has the w* of least risk in R_S(w*) - R(w*) and r(w*), and the larger b and tau of it and of the minimizer of F",
		"SGD has no bound with constants: the one on its optimization error (Harvey et al. 2019) assumes a bounded domain")
	return nil
}

// corollary2 bounds the excess risk over the least risk.
func corollary2(ctx context.Context, k Known, a RRM, e *record.ExcessResult, delta float64) ([]record.MetricBound, error) {
	sigma := a.Sigma.At(Least(e.Sizes))
	b, tau := 0.0, 0.0
	for _, v := range []float64{0, sigma} {
		w, err := k.Minimizer(ctx, a.Loss, v)
		if err != nil {
			return nil, err
		}
		bw, tw, err := k.Spread(a.Loss, w)
		if err != nil {
			return nil, err
		}
		b, tau = max(b, bw), max(tau, tw)
	}
	in := stability.Corollary2Input{Radius: k.Radius(), NPos: e.Pos, NNeg: e.Neg, Sigma: sigma, B: b, Tau: tau, Norm: e.Norm, Delta: delta}
	out, err := bounds(a.Loss, k.Radius(), true, false, func(_ stability.Loss, o stability.Options) (record.BoundValue, error) {
		return stability.Corollary2(in, o)
	})
	return marked(out, e.Excess.Max, b), err
}

// t9 measures the excess risk at low noise (Remark 6, Corollary 3), of points whose
// triplets are all in order for some w: R has no least value, and tends to 0.
func t9(ctx context.Context, t *tester) error {
	const radius, m = 0.2, 60
	f := NewSeparated(m, radius)
	t.drawFrom(f, record.MetricData{
		Name: "two circles", Positives: fmt.Sprintf("%d points at equal steps on a circle of radius %g around (%g, 0)", m, radius, 1-radius),
		Negatives: "the opposite points", Dims: 2, Radius: f.Radius(),
	})
	k, err := t.loss.Constants(f.Radius(), mahalanobis.Tight)
	if err != nil {
		return err
	}
	a := RRM{Loss: t.loss, Sigma: record.Scale{Factor: 8 * k.Alpha, Power: -1}}
	sizes := []int{40, 80, 160, 320, 640}
	order := noSlower(sizes, func(n float64) float64 { return math.Pow(math.Log(n), 2) / n })
	s := record.MetricSeries{Name: "sigma = 8 alpha/n", Quantity: "risk", Axis: "n", Learner: a.Describe(), Expected: order}
	allowed, left := t.allowed(even(sizes...), some(2))
	s.LeftOut = left
	for _, n := range allowed {
		sigma := a.Sigma.At(n.Pos)
		e, err := t.excess(ctx, &s, f, ExcessOptions{Learner: a, Sizes: n, Repeats: t.repeats(20), Sigma: sigma})
		if err != nil {
			return err
		}
		p := &s.Points[len(s.Points)-1]
		// Over the infimum 0 the excess risk is the risk itself; the bound is on that over w*.
		p.Repeats = nil
		for _, v := range e.Values {
			p.Repeats = append(p.Repeats, v+e.Least)
		}
		p.Measured = EstimateOf(p.Repeats)
		if p.Bounds, err = corollary3(a, f, e, sigma); err != nil {
			return err
		}
	}
	t.add(s)
	t.within(s, "the risk is at most R(w*) and Corollary 3, corrected, with the smallest alpha")
	t.doc.Notes = append(t.doc.Notes,
		fmt.Sprintf("expected slope: at most that of log(n)^2 / n over these sizes, %g: with R(w*) about sigma ||w*||, the w* of least F has ||w*|| of the order log(n), and ||w*||^2/n is Corollary 3's order", order[1]),
		"w* is the minimizer of F = R + sigma/2 ||w||^2; the bounds are Corollary 3 and R(w*)")
	return nil
}

// corollary3 bounds the expected risk by R(w*) and the excess risk over w*, in the forms
// whose sigma is the learner's.
func corollary3(a RRM, f *Finite, e *record.ExcessResult, sigma float64) ([]record.MetricBound, error) {
	out, err := bounds(a.Loss, f.Radius(), false, true, func(k stability.Loss, o stability.Options) (record.BoundValue, error) {
		r, err := stability.Corollary3(stability.Corollary3Input{Loss: k, NPos: e.Pos, NNeg: e.Neg, Norm: e.Norm, Risk: e.Least}, o)
		if err != nil || !chose(r, sigma) { // another sigma, or too small a one for Theorem 4
			return r, errSkip
		}
		r.Value += e.Least
		return r, nil
	})
	shifted := e.Excess
	if c := e.Excess.CI95; c != nil {
		shifted.CI95 = &[2]float64{c[0] + e.Least, c[1] + e.Least}
	}
	shifted.Value += e.Least
	return markedMean(out, shifted, 0), err
}

// chose says whether the corollary's sigma is that one.
func chose(r record.BoundValue, sigma float64) bool {
	for _, with := range r.With {
		if with.Name == "sigma" {
			return math.Abs(with.Value/sigma-1) < 1e-9
		}
	}
	return false
}
