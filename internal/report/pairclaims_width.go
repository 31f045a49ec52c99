package report

import (
	"fmt"
	"math"
	"slices"
)

// The claims about curves over widths: C1 to C6.

// peakClaims are C1: every curve rises to a peak between its ends, and falls again.
func (s *PairStudy) peakClaims() []PairClaim {
	var out []PairClaim
	for _, p := range s.Peaks {
		for _, side := range []struct {
			what, end string
			height    *Estimate
		}{
			{"rise to the peak at " + p.top().sizeName(), "narrowest", p.Rise},
			{"fall from the peak at " + p.top().sizeName(), "widest", p.Fall},
		} {
			c := p.rows[0].about("C1")
			if side.height == nil {
				c.What, c.Rule, c.Verdict = "peak at the "+side.end, "a peak between the ends", refuted
			} else {
				c = c.estimate(side.what, *side.height).above0()
			}
			out = append(out, c)
		}
	}
	return out
}

// raisedPeaks are C2: noise raises the peak. Each curve's own peak decides; the
// difference at the peak of the clean curve is shown beside it.
func (s *PairStudy) raisedPeaks() []PairClaim {
	var out []PairClaim
	for _, p := range s.Peaks {
		if p.Noise == "none" {
			continue
		}
		clean := s.peakLike(p, func(q WidthPeak) bool { return q.Noise == "none" })
		if clean == nil {
			continue
		}
		grids := together(p.judged(), clean.judged())
		if grids == nil {
			continue
		}
		var own, there []float64
		for k := range grids[0][0] {
			at, ref := peakWithout(grids[0], k), peakWithout(grids[1], k)
			own = append(own, grids[0][at][k]-grids[1][ref][k])
			same := slices.IndexFunc(p.judged(), func(r *PairRow) bool { return r.Parameters == clean.judged()[ref].Parameters })
			if same >= 0 {
				there = append(there, grids[0][same][k]-grids[1][ref][k])
			}
		}
		c := p.rows[0].about("C2")
		out = append(out, c.over("peak's test error, less the clean curve's at its own peak", own).above0())
		if len(there) == len(own) {
			out = append(out, c.over("the same, both at the clean curve's peak", there))
		}
	}
	return out
}

// peakWithout is the place of the peak by the seeds but k; one seed chooses for itself.
func peakWithout(grid [][]float64, k int) int {
	if len(grid[0]) == 1 {
		k = -1
	}
	_, top, _ := largest(meansWithout(grid, k))
	return top
}

// fitClaims are C3: at the largest width the training error is that of contradictory
// pairs: 0 for clean pairs and wrong labels.
func (s *PairStudy) fitClaims() []PairClaim {
	var out []PairClaim
	for _, rows := range s.widthCurves() {
		row := rows[len(rows)-1]
		stream := len(rows) == 1 && slices.ContainsFunc(s.Rows, func(r *PairRow) bool {
			return r.Online && r.Data == row.Data && r.Model == row.Model && r.Classes == row.Classes && r.Parameters == row.Parameters
		})
		if row.Negatives == "random" || row.Order == "paper" || stream {
			continue // C9, C8
		}
		key, what := trainError, "training error"
		if row.Noise == "pln" {
			key, what = aboveFloor, "training error less floor_duplicates"
		}
		out = append(out, row.about("C3").estimate(what+" at "+row.sizeName(), row.Scores[key]).below(interpolated))
	}
	return out
}

// kindClaims are C4: noise on pairs against noise on labels at the largest width, alike
// where pairs are sparse; where they are dense the former stays worse and has its peak
// at more parameters.
func (s *PairStudy) kindClaims() []PairClaim {
	var out []PairClaim
	s.eachKinds(func(pln, sln *WidthPeak) {
		c := pln.rows[0].about("C4")
		c.Of = fmt.Sprintf("%s, PLN - SLN, %.4g %%", pln.Scenario, 100*pln.Wanted)
		if a, b := sameSizes(pln, sln); a != nil {
			row := a[len(a)-1]
			if d := differences(row, b[len(b)-1], testError); d != nil {
				q := c.over("test error at "+row.sizeName(), d)
				if pln.Scenario == "s1" {
					q = q.judge("interval holds 0, within 2 % of it", func(low, high float64) bool { return low <= 0 && high >= 0 && low >= -0.02 && high <= 0.02 },
						func(low, high float64) bool { return low > 0 || high < 0 })
				} else {
					q = q.above0()
				}
				out = append(out, q)
			}
		}
		if q, ok := c.moved(pln, sln); ok {
			if pln.Scenario != "s1" {
				q = q.count("above 0", *q.Value > 0, *q.Value < 0)
			}
			out = append(out, q)
		}
	})
	return out
}

// The small and middle widths of C5.
const smallWidth, middleWidth = 4, 16

// widthClaims are C5: at small and middle widths noise on labels is worse than noise on
// pairs. It is about dense pairs; sparse ones are shown beside them.
func (s *PairStudy) widthClaims() []PairClaim {
	var out []PairClaim
	s.eachKinds(func(pln, sln *WidthPeak) {
		a, b := sameSizes(sln, pln)
		small := func(r *PairRow) bool { return r.Width >= smallWidth && r.Width <= middleWidth }
		a, b = slices.DeleteFunc(a, func(r *PairRow) bool { return !small(r) }), slices.DeleteFunc(b, func(r *PairRow) bool { return !small(r) })
		grids := together(a, b)
		if grids == nil {
			return
		}
		c := pln.rows[0].about("C5")
		c.Of = fmt.Sprintf("%s, SLN - PLN, %.4g %%", pln.Scenario, 100*pln.Wanted)
		c = c.over(fmt.Sprintf("test error, mean over widths %d to %d (%d)", a[0].Width, a[len(a)-1].Width, len(a)), meanDifference(grids[0], grids[1]))
		if pln.Scenario != "s1" {
			c = c.above0()
		}
		out = append(out, c)
	})
	return out
}

// rateClaims are C6: more noise of a kind raises the test error at all widths and leaves
// the peak where it is.
func (s *PairStudy) rateClaims() []PairClaim {
	var out []PairClaim
	for i := range s.Peaks {
		less := &s.Peaks[i]
		var more *WidthPeak // the next rate
		for j := range s.Peaks {
			p := &s.Peaks[j]
			if less.Noise != "none" && p.Noise == less.Noise && p.Wanted > less.Wanted && p.rows[0].among(less.rows[0]) && (more == nil || p.Wanted < more.Wanted) {
				more = p
			}
		}
		if more == nil {
			continue
		}
		a, b := sameSizes(more, less)
		grids := together(a, b)
		if grids == nil {
			continue
		}
		c := less.rows[0].about("C6")
		c.Of = fmt.Sprintf("%s, %s - %.4g %%", less.Scenario, more.rows[0].noiseName(), 100*less.Wanted)
		out = append(out, c.over(fmt.Sprintf("test error, mean over %d widths", len(a)), meanDifference(grids[0], grids[1])))
		low, at := math.Inf(1), 0
		for k := range a {
			if d := meansWithout(grids[0], -1)[k] - meansWithout(grids[1], -1)[k]; d < low {
				low, at = d, k
			}
		}
		least := c.estimate("test error, least mean, at "+a[at].sizeName(), Estimate{Value: &low, N: len(grids[0][0])})
		out = append(out, least.count("above 0 at all widths", low > 0, false))
		if q, ok := c.moved(more, less); ok {
			out = append(out, q.count("within one step", math.Abs(*q.Value) <= 1, math.Abs(*q.Value) > 1))
		}
	}
	return out
}

// eachKinds calls f with the curves of noise on pairs and of noise on labels of one rate.
func (s *PairStudy) eachKinds(f func(pln, sln *WidthPeak)) {
	for i := range s.Peaks {
		pln := &s.Peaks[i]
		if pln.Noise != "pln" {
			continue
		}
		if sln := s.peakLike(*pln, func(q WidthPeak) bool { return q.Noise == "sln" && q.Wanted == pln.Wanted }); sln != nil {
			f(pln, sln)
		}
	}
}

// peakLike is the first curve of p's world that is wanted; nil where there is none.
func (s *PairStudy) peakLike(p WidthPeak, wanted func(WidthPeak) bool) *WidthPeak {
	i := slices.IndexFunc(s.Peaks, func(q WidthPeak) bool { return wanted(q) && q.rows[0].among(p.rows[0]) })
	if i < 0 {
		return nil
	}
	return &s.Peaks[i]
}

// moved is by how many steps of the widths that both curves have the peak of a is to
// the right of that of b; false where these do not have both peaks.
func (p PairClaim) moved(a, b *WidthPeak) (PairClaim, bool) {
	rows, _ := sameSizes(a, b)
	place := func(c *WidthPeak) int {
		return slices.IndexFunc(rows, func(r *PairRow) bool { return r.Parameters == c.Parameters })
	}
	i, j := place(a), place(b)
	if i < 0 || j < 0 {
		return p, false
	}
	steps := float64(i - j)
	p = p.estimate(fmt.Sprintf("peak at %s less peak at %s, in steps of the widths", a.top().sizeName(), b.top().sizeName()), Estimate{Value: &steps, N: min(a.N, b.N)})
	p.plain = true
	return p, true
}

// count judges a number without an interval, which more than one seed must tell.
func (p PairClaim) count(rule string, yes, no bool) PairClaim {
	p.Rule, p.Verdict = rule, openYet
	switch {
	case p.N < 2:
	case yes:
		p.Verdict = confirmed
	case no:
		p.Verdict = refuted
	}
	return p
}

// judged are the rows of a curve that have a test error.
func (p *WidthPeak) judged() []*PairRow {
	return slices.DeleteFunc(slices.Clone(p.rows), func(r *PairRow) bool { _, ok := r.Scores[testError]; return !ok })
}

// top is the row of the peak.
func (p *WidthPeak) top() *PairRow {
	return p.rows[slices.IndexFunc(p.rows, func(r *PairRow) bool { return r.Parameters == p.Parameters })]
}

// sameSizes are the rows of two curves for the sizes that both have.
func sameSizes(a, b *WidthPeak) (x, y []*PairRow) {
	for _, r := range a.judged() {
		if k := slices.IndexFunc(b.judged(), func(q *PairRow) bool { return q.Parameters == r.Parameters }); k >= 0 {
			x, y = append(x, r), append(y, b.judged()[k])
		}
	}
	return x, y
}

// together are the test errors (rows, seeds) of lists of rows for the seeds that all
// rows have; nil where there are none.
func together(lists ...[]*PairRow) (grids [][][]float64) {
	all := slices.Concat(lists...)
	if len(all) == 0 {
		return nil
	}
	seeds, values := inCommon(all)
	if len(seeds) == 0 {
		return nil
	}
	for _, l := range lists {
		grids = append(grids, values[:len(l)])
		values = values[len(l):]
	}
	return grids
}

// meanDifference is that of a - b over their rows, for each seed.
func meanDifference(a, b [][]float64) []float64 {
	out := make([]float64, len(a[0]))
	for i := range a {
		for k := range out {
			out[k] += (a[i][k] - b[i][k]) / float64(len(a))
		}
	}
	return out
}
