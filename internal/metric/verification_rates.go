package metric

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/stat"
)

// checkRates refuses false match rates that are none, or that stand twice.
func checkRates(rates []float64) error {
	for i, f := range rates {
		if !(f > 0 && f < 1) {
			return fmt.Errorf("%w: false match rate %v; want one above 0 and below 1", ErrInput, f)
		}
		if slices.Contains(rates[:i], f) {
			return fmt.Errorf("%w: false match rate %v is requested twice", ErrInput, f)
		}
	}
	return nil
}

// pointAt is that of a limit, by rungs of ascending distance.
func pointAt(curve []rung, limit float64, different int64) OperatingPoint {
	p := OperatingPoint{FMR: limit, Threshold: -1}
	most := limit * float64(different)
	for _, r := range curve {
		if float64(p.Falsely+r.different) > most {
			break
		}
		p.Threshold, p.Falsely, p.Matched = r.distance, p.Falsely+r.different, p.Matched+r.same
	}
	return p
}

// operate scores the errors at the false match rates, with their intervals.
func (v *Verification) operate(ctx context.Context, p *pairCounts, o VerificationOptions) error {
	for _, f := range o.FMR {
		v.Points = append(v.Points, pointAt(p.curve, f, v.Different))
	}
	missed := make(record.Scores, len(v.Points))
	for i, at := range v.Points {
		misses := v.Same - at.Matched
		ci := stat.Wilson(int(misses), int(v.Same))
		missed[i].Key = strconv.FormatFloat(at.FMR, 'g', -1, 64)
		missed[i].Value = record.Value{Value: float64(misses) / float64(v.Same), Definition: "fnmr@fmr(pairs)", CI95: &ci}
	}
	if o.Intervals.Classes != nil && len(missed) > 0 {
		if err := p.byClass(ctx, v.Points, missed, o.Intervals); err != nil {
			return err
		}
	}
	for _, s := range missed {
		tar := record.Value{Value: 1 - s.Value.Value, Definition: "tar@far(pairs)"}
		if ci := s.CI95; ci != nil {
			tar.CI95 = &[2]float64{1 - ci[1], 1 - ci[0]}
		}
		v.Scores = append(v.Scores, record.Score{Key: "fnmr@fmr=" + s.Key, Value: s.Value}, record.Score{Key: "tar@far=" + s.Key, Value: tar})
	}
	return nil
}

// byClass replaces the intervals by those of a bootstrap over the classes of queries, the
// thresholds as they are. A resample's value is that of all same pairs of its classes.
func (p *pairCounts) byClass(ctx context.Context, points []OperatingPoint, scores record.Scores, o Intervals) error {
	if len(o.Classes) != p.n {
		return fmt.Errorf("%w: %d queries, but classes of %d", ErrInput, p.n, len(o.Classes))
	}
	for i := range scores {
		scores[i].CI95 = nil
	}
	m := len(points)
	values, pairs := make([]float64, p.n*m), make([]float64, p.n)
	members := (&classes{of: p.of, size: p.size}).groups()
	par.For(p.n, 8, func(lo, hi int) {
		for q := lo; q < hi && ctx.Err() == nil; q++ {
			p.missed(q, &members, points, values[q*m:(q+1)*m], &pairs[q])
		}
	})
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("intervals stopped: %w", err)
	}
	return o.add(ctx, scores, values, pairs)
}

// missed counts the same pairs of query q, and those beyond each threshold. Within one set
// each pair counts for both of its rows.
func (p *pairCounts) missed(q int, members *groups, points []OperatingPoint, beyond []float64, pairs *float64) {
	if p.class[q] < 0 {
		return
	}
	left := p.except.of(q)
	for _, j := range members.of(int(p.class[q])) {
		for len(left) > 0 && left[0] < j {
			left = left[1:]
		}
		if len(left) > 0 && left[0] == j || p.self && int(j) == q {
			continue
		}
		*pairs++
		d := math.Sqrt(p.square(q, int(j)))
		for i, at := range points {
			if d > at.Threshold {
				beyond[i]++
			}
		}
	}
}
