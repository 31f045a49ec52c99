package measure

import (
	"math"

	"tercet/internal/record"
	"tercet/internal/stat"
)

// result joins the repeats.
func (o UniformOptions) result(runs []uniformRun) (*record.UniformResult, error) {
	u := &record.UniformResult{Sizes: o.Sizes}
	var data, typical, moved, squaredPos, squaredNeg []float64
	for _, run := range runs {
		var most, onData, far float64
		var squares [2][]float64
		for _, c := range run.changes {
			most, onData, far = max(most, c.all), max(onData, c.data), max(far, c.moved)
			if c.by == fresh {
				squares[c.side] = append(squares[c.side], c.moved*c.moved)
			}
		}
		u.Values = append(u.Values, most)
		data, moved, typical = append(data, onData), append(moved, far), append(typical, run.typical())
		if squares[0] != nil {
			squaredPos = append(squaredPos, stat.Mean(squares[0]))
		}
		if squares[1] != nil {
			squaredNeg = append(squaredNeg, stat.Mean(squares[1]))
		}
		u.Replaced += len(run.changes)
		u.Certificate = max(u.Certificate, run.certificate)
	}
	u.Gamma, u.OnData, u.Typical, u.Moved = EstimateOf(u.Values), EstimateOf(data), EstimateOf(typical), EstimateOf(moved)
	u.SquaredPos, u.SquaredNeg = optional(squaredPos), optional(squaredNeg)
	u.By = byReplacement(runs)
	c, err := o.Learner.Criterion().Constants(o.Source.Radius(), "tight")
	if err != nil {
		return nil, err
	}
	if !math.IsInf(c.L, 0) {
		for i := range moved {
			moved[i] *= c.L
		}
		u.Ceiling = optional(moved)
	}
	if u.Bounds, err = o.Learner.Stability(o.Sizes, o.Source.Radius()); err != nil {
		return nil, err
	}
	marked(u.Bounds, u.Gamma.Max, 0)
	u.Lemma2, err = o.Learner.perStep(o.Sizes, runs)
	if err != nil {
		return nil, err
	}
	return u, nil
}

func optional(values []float64) *record.Estimate {
	if len(values) == 0 {
		return nil
	}
	e := EstimateOf(values)
	return &e
}

// typical is the median over replaced samples of their largest change.
func (run uniformRun) typical() float64 {
	type sample struct{ side, index int }
	at := map[sample]int{}
	var most []float64
	for _, c := range run.changes {
		k := sample{c.side, c.sample}
		i, ok := at[k]
		if !ok {
			i = len(most)
			at[k], most = i, append(most, 0)
		}
		most[i] = max(most[i], c.all)
	}
	return stat.Median(most)
}

func byReplacement(runs []uniformRun) []record.ByReplacement {
	var out []record.ByReplacement
	for side, name := range []string{Positives, Negatives} {
		for by, what := range Replacements {
			var values []float64
			for _, run := range runs {
				most := -1.0
				for _, c := range run.changes {
					if c.side == side && c.by == by {
						most = max(most, c.all)
					}
				}
				if most >= 0 {
					values = append(values, most)
				}
			}
			if values != nil {
				out = append(out, record.ByReplacement{Side: name, By: what, Gamma: EstimateOf(values)})
			}
		}
	}
	return out
}

// perStep compares each replacement with Lemma 2; nil where the lemma does not speak of
// the loss.
func (a SGD) perStep(n record.Sizes, runs []uniformRun) (*record.Lemma2, error) {
	unit, err := a.lemma2(n, 1)
	if err != nil || unit == nil {
		return nil, err
	}
	r := &record.Lemma2{}
	for _, b := range unit {
		r.Violations = append(r.Violations, record.Violations{Constants: b.Constants})
	}
	for _, run := range runs {
		for _, c := range run.changes {
			r.Replacements++
			r.MostUses = max(r.MostUses, c.uses)
			if c.all > r.Largest {
				r.Largest, r.Uses = c.all, c.uses
			}
			if c.uses == 0 {
				r.Unused++
				if c.moved > 0 {
					r.UnusedMoved++
				}
				continue
			}
			for i, b := range unit {
				ratio := c.all / (b.Value * float64(c.uses))
				r.Violations[i].Ratio = max(r.Violations[i].Ratio, ratio)
				if ratio > 1 {
					r.Violations[i].Count++
				}
			}
		}
	}
	if r.Bounds, err = a.lemma2(n, r.MostUses); err != nil {
		return nil, err
	}
	marked(r.Bounds, r.Largest, 0)
	return r, nil
}
