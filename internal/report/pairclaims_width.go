package report

import (
	"fmt"
	"slices"
)

// The claims about curves over widths: C1 to C6.

// peakClaims are C1: every curve rises to a peak between its ends, and falls again.
func (s *PairStudy) peakClaims() []PairClaim {
	var out []PairClaim
	for _, p := range s.Peaks {
		for _, side := range []struct {
			what   string
			height *Estimate
		}{
			{p.riseName(), p.Rise},
			{p.fallName(), p.Fall},
		} {
			c := p.rows[0].about("C1")
			if side.height == nil {
				continue // two widths have nothing between them
			}
			out = append(out, c.estimate(side.what, *side.height).above0())
		}
	}
	return out
}

// riseName and fallName say what Rise and Fall are: where the largest mean is at an end,
// from or to the largest one between the ends.
func (p WidthPeak) riseName() string {
	if p.Width == p.judged()[0].Width && p.Parameters == p.judged()[0].Parameters {
		return "rise from the narrowest, which has the largest mean, to the largest between the ends"
	}
	return "rise to the peak at " + p.top().sizeName()
}

func (p WidthPeak) fallName() string {
	if rows := p.judged(); p.Parameters == rows[len(rows)-1].Parameters {
		return "fall to the widest, which has the largest mean, from the largest between the ends"
	}
	return "fall from the peak at " + p.top().sizeName()
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

// sameKinds is the margin within which noise on pairs and on labels count as equal.
const sameKinds = 0.02

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
					q = q.within(0, sameKinds)
				} else {
					q = q.above0()
				}
				out = append(out, q)
			}
		}
		if q, ok := c.moved(pln, sln); ok {
			if pln.Scenario != "s1" {
				q = q.above0()
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
		least, at := leastDifference(grids[0], grids[1])
		out = append(out, c.estimate("test error, lowest interval of all widths, at "+a[at].sizeName(), least).above0())
		if q, ok := c.moved(more, less); ok {
			out = append(out, q.within(0, 1))
		}
	}
	return out
}

// leastDifference is, of the differences a - b at each place, the one that is most against
// a > b: of intervals below 0 the lowest, else the one that begins lowest. It is above 0
// only where all are.
func leastDifference(a, b [][]float64) (least Estimate, at int) {
	for i := range a {
		if e := estimateOf(meanDifference(a[i:i+1], b[i:i+1])); i == 0 || e.lower(least) {
			least, at = e, i
		}
	}
	return least, at
}

// lower says whether an interval speaks more for values below 0 than another one.
func (e Estimate) lower(than Estimate) bool {
	switch {
	case e.CI95 == nil || than.CI95 == nil:
		return *e.Value < *than.Value
	case e.CI95[1] < 0 || than.CI95[1] < 0:
		return e.CI95[1] < than.CI95[1]
	}
	return e.CI95[0] < than.CI95[0]
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

// moved is by how many steps of the widths that both curves have the peak of a is to the
// right of that of b, each seed's own peaks; false where no seed has both curves.
func (p PairClaim) moved(a, b *WidthPeak) (PairClaim, bool) {
	x, y := sameSizes(a, b)
	grids := together(x, y)
	if grids == nil {
		return p, false
	}
	var steps []float64
	for k := range grids[0][0] {
		steps = append(steps, float64(ownPeak(grids[0], k)-ownPeak(grids[1], k)))
	}
	p = p.over(fmt.Sprintf("difference of each seed's own peaks, in steps of the widths (of the means: %s, %s)", a.top().sizeName(), b.top().sizeName()), steps)
	p.plain = true
	return p, true
}

// ownPeak is the place of the largest value of one seed.
func ownPeak(grid [][]float64, seed int) int {
	top := 0
	for i := range grid {
		if grid[i][seed] > grid[top][seed] {
			top = i
		}
	}
	return top
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
