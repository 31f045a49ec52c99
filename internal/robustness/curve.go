package robustness

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"tercet/internal/lists"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
)

// Curve runs the attacks at each eps (0: the clean scores, nothing is crafted), given in
// any order, and returns the scores against it. A fixed step is that of o, or eps if that
// is smaller. Targets are the same at every eps.
func Curve(ctx context.Context, r *run.Run, checkpoint, set string, o record.AttackOptions, eps []float64, say progress.Say) (*record.Curve, error) {
	start := time.Now()
	all := len(o.Variants) == 0
	resolveAttack(&o)
	list, err := curvePoints(o, eps)
	if err != nil {
		return nil, err
	}
	o.Pictures, o.Eps = 0, list[len(list)-1].Eps
	e, g, err := gallery(ctx, r, checkpoint, set, say)
	if err != nil {
		return nil, err
	}
	o.Variants = settled(o.Variants, all, g)
	doc := &record.Curve{Schema: record.CurveSchema, Source: e.Source, Options: o, Gallery: searched(g), Points: list}
	for i := range doc.Points {
		p := &doc.Points[i]
		at := o
		at.Eps, at.Step = p.Eps, p.Step
		res, err := runAttacks(at, ctx, e, g, func(done, total int) { say("attack", i*total+done, len(list)*total) })
		if err != nil {
			return nil, fmt.Errorf("eps %.5g: %w", p.Eps, err)
		}
		p.Scores, p.Attacks = map[string]record.Scores{}, records(res)
		for k := range res.Scored {
			s := &res.Scored[k]
			if p.Scores[string(s.Variant)], err = scores(ctx, s, s.Adversarial, nil, at); err != nil {
				return nil, err
			}
		}
		doc.Queries, doc.Excluded = len(res.Queries), res.Excluded
		doc.Cost.Add(res.Cost)
		for _, w := range warnings(res, g.Apart()) {
			doc.Warnings = lists.AppendNew(doc.Warnings, w)
		}
	}
	doc.Warnings = append(doc.Warnings, r.Omitted()...)
	doc.Cost.Forward += int64(e.Data.Len())
	doc.Cost.Seconds = time.Since(start).Seconds()
	return doc, nil
}

// curvePoints lists the points of a curve, ascending, without scores.
func curvePoints(o record.AttackOptions, eps []float64) ([]record.CurvePoint, error) {
	if len(eps) == 0 {
		return nil, errors.New("a curve needs one eps or more")
	}
	eps = slices.Clone(eps)
	slices.Sort(eps)
	var list []record.CurvePoint
	for i, v := range eps {
		if !(v >= 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("curve: eps is %v, want a finite number >= 0", v)
		}
		if i > 0 && eps[i-1] == v {
			return nil, fmt.Errorf("curve: eps %v is given twice", v)
		}
		at := o
		if at.Eps = v; v > 0 {
			at.Step = min(o.Step, v)
		}
		if err := ValidateAttack(at); err != nil {
			return nil, err
		}
		list = append(list, record.CurvePoint{Eps: v, Step: at.Step})
	}
	return list, nil
}
