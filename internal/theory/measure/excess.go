package measure

import (
	"context"

	"tercet/internal/record"
	"tercet/internal/rng"
)

// ExcessOptions says how excess risks are measured.
type ExcessOptions struct {
	Source  Known
	Learner Learner
	Sizes   record.Sizes
	Repeats int
	Seed    uint64
	// Sigma is that of the w* that the risk is compared with; 0 for the least risk.
	Sigma float64
}

// Excess measures R(A(S)) - R(w*) and the three terms of eq. 4, which add up to it in each
// repeat.
//
// Errors: those of the source and the learner; fewer than one repeat.
func Excess(ctx context.Context, o ExcessOptions) (*record.ExcessResult, error) {
	loss := o.Learner.Criterion()
	best, err := o.Source.Minimizer(ctx, loss, o.Sigma)
	if err != nil {
		return nil, err
	}
	e := &record.ExcessResult{Sizes: o.Sizes, Least: o.Source.Risk(loss, best), Norm: distance(best, make([]float64, len(best)))}
	type run struct{ excess, estimation, optimization, deviation, certificate float64 }
	runs := make([]run, max(o.Repeats, 0))
	err = repeated(ctx, o.Repeats, func(rep int) error {
		r := rng.New(o.Seed, "measure/excess", uint64(rep))
		s, _, err := o.Source.Draw(o.Sizes, record.Sizes{Pos: 2, Neg: 1}, r)
		if err != nil {
			return err
		}
		learned, err := o.Learner.Learn(ctx, s, r.Uint64(), nil)
		if err != nil {
			return err
		}
		train, err := risk(s, loss)
		if err != nil {
			return err
		}
		test, at, of := o.Source.Risk(loss, learned.Theta), train(learned.Theta), train(best)
		runs[rep] = run{test - e.Least, test - at, at - of, of - e.Least, learned.Certificate}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var estimation, optimization, deviation []float64
	for _, r := range runs {
		e.Values = append(e.Values, r.excess)
		estimation, optimization, deviation = append(estimation, r.estimation), append(optimization, r.optimization), append(deviation, r.deviation)
		e.Certificate = max(e.Certificate, r.certificate)
	}
	e.Excess, e.Estimation, e.Optimization, e.Deviation = EstimateOf(e.Values), EstimateOf(estimation), EstimateOf(optimization), EstimateOf(deviation)
	return e, nil
}

func (o ExcessOptions) key() string {
	s := o.Source
	o.Source = nil
	return key("excess", s, o)
}

// excessPoint is a Point of the excess risk, with the terms of eq. 4.
func excessPoint(x float64, l Learner, e *record.ExcessResult) record.MetricPoint {
	return at(record.MetricPoint{X: x, Measured: e.Excess, Repeats: e.Values, Excess: e, With: []record.Number{
		{Name: "estimation error R(A(S)) - R_S(A(S))", Value: e.Estimation.Value},
		{Name: "optimization error R_S(A(S)) - R_S(w*)", Value: e.Optimization.Value},
		{Name: "R_S(w*) - R(w*)", Value: e.Deviation.Value},
		{Name: "R(w*)", Value: e.Least},
		{Name: "||w*||", Value: e.Norm},
	}}, l, e.Sizes)
}
