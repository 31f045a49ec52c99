package study

import (
	"slices"
	"tercet/internal/verdict"
)

// A peak that is sought among many places is found in noise, too. What it stands above its
// sides is therefore measured, for each seed, at the places that the other seeds choose.

// peakFinder names the places of a peak among means and of what it is compared with on
// either side, -1 where there is none.
type peakFinder func(means []float64) (before, top, after int)

// findPeak returns the places by the means of all seeds of values, which are (places,
// seeds), and how far the peak stands above either side: by the places of the other seeds
// for each seed, 0 where these have no peak or no such side. One seed chooses for itself.
// An estimate is nil where all seeds together find no such place.
func findPeak(values [][]float64, find peakFinder) (before, top, after int, rise, fall *Estimate) {
	before, top, after = find(meansWithout(values, -1))
	if top < 0 {
		return before, top, after, nil, nil
	}
	seeds := len(values[0])
	var up, down []float64
	for k := range seeds {
		b, t, a := before, top, after
		if seeds > 1 {
			b, t, a = find(meansWithout(values, k))
		}
		height := func(side int) float64 {
			if t < 0 || side < 0 {
				return 0
			}
			return values[t][k] - values[side][k]
		}
		up, down = append(up, height(b)), append(down, height(a))
	}
	if before >= 0 {
		e := EstimateOf(up)
		rise = &e
	}
	if after >= 0 {
		e := EstimateOf(down)
		fall = &e
	}
	return before, top, after, rise, fall
}

// meansWithout are the means over the seeds but one, -1 for none.
func meansWithout(values [][]float64, out int) []float64 {
	means := make([]float64, len(values))
	for i, v := range values {
		n := 0.0
		for k, x := range v {
			if k != out {
				means[i] += x
				n++
			}
		}
		means[i] /= n
	}
	return means
}

// largest finds the largest mean, and beside it the least before it and the last one.
func largest(means []float64) (before, top, after int) {
	for i, m := range means {
		if m > means[top] {
			top = i
		}
	}
	before = -1
	for i := range top {
		if before < 0 || means[i] < means[before] {
			before = i
		}
	}
	if after = len(means) - 1; after == top {
		after = -1
	}
	return before, top, after
}

// prominent finds the mean that stands highest above the least before it and the least
// after it; -1 where means only fall, or only rise.
func prominent(means []float64) (before, top, after int) {
	n := len(means)
	left, right := make([]int, n), make([]int, n) // places of the least mean up to there, from there
	for i := range n {
		if left[i] = i; i > 0 && means[left[i-1]] <= means[i] {
			left[i] = left[i-1]
		}
	}
	for i := n - 1; i >= 0; i-- {
		if right[i] = i; i < n-1 && means[right[i+1]] <= means[i] {
			right[i] = right[i+1]
		}
	}
	before, top, after = -1, -1, -1
	height := 0.0
	for i, m := range means {
		if h := m - max(means[left[i]], means[right[i]]); h > height {
			before, top, after, height = left[i], i, right[i], h
		}
	}
	return before, top, after
}

// between measures the ends of a curve against the largest mean between them, chosen for
// each seed by the others: that less the first, and less the last. Both are nil where
// nothing is between.
func between(values [][]float64) (rise, fall *Estimate) {
	last := len(values) - 1
	if last < 2 {
		return nil, nil
	}
	var up, down []float64
	for k := range values[0] {
		out := k
		if len(values[0]) == 1 {
			out = -1
		}
		_, top, _ := largest(meansWithout(values[1:last], out))
		up, down = append(up, values[1+top][k]-values[0][k]), append(down, values[1+top][k]-values[last][k])
	}
	a, b := EstimateOf(up), EstimateOf(down)
	return &a, &b
}

// peakVerdict is that on a score that rises and falls again, by more than seeds differ.
func peakVerdict(rise, fall *Estimate) string {
	side := func(height *Estimate) string {
		if height == nil {
			return verdict.Inconclusive
		}
		return verdict.Above(0).Of(height.deciding())
	}
	return verdict.All(side(rise), side(fall))
}

// peakSide is a side of the curve's peak.
func peakSide(name, end string) estimator {
	return func(i *item, q *ClaimQuantity) []measured {
		row := peakRow(i.a, i.d.table.Reduce.Score)
		if row == nil {
			return nil
		}
		e, ok := row.Scores[name]
		if !ok {
			return nil // two widths have nothing between them
		}
		m := measured{estimate: e, words: map[string]string{"at": row.Fields["size"]}}
		m.atEnd = row.Fields[end] == "true"
		return []measured{m}
	}
}

// place is that of the peak by the seeds but k; one seed chooses for itself.
func place(grid [][]float64, k int) int {
	if len(grid[0]) == 1 {
		k = -1
	}
	_, top, _ := largest(meansWithout(grid, k))
	return top
}

// peaksOf are the scores of two curves at their own peaks: of the first less the second,
// and the first less the second both at the second's peak, if the first has that size.
func peaksOf(i *item) (own, there []float64) {
	x, score := i.d.table.Reduce.X, i.d.table.Reduce.Score
	a, b := scored(i.a, score), scored(i.b, score)
	if len(b) < 2 {
		return nil, nil
	}
	seeds, values := grid(slices.Concat(a, b), score)
	if len(seeds) == 0 {
		return nil, nil
	}
	first, second := values[:len(a)], values[len(a):]
	for k := range seeds {
		at, ref := place(first, k), place(second, k)
		own = append(own, first[at][k]-second[ref][k])
		if same := slices.IndexFunc(a, func(r *Row) bool { return r.Fields[x] == b[ref].Fields[x] }); same >= 0 {
			there = append(there, first[same][k]-second[ref][k])
		}
	}
	return own, there
}

func peakDifference(i *item, _ *ClaimQuantity) []measured {
	own, _ := peaksOf(i)
	return overSeeds(own, nil)
}

func atOtherPeak(i *item, _ *ClaimQuantity) []measured {
	if own, there := peaksOf(i); own != nil && len(there) == len(own) {
		return []measured{{estimate: EstimateOf(there)}}
	}
	return nil
}
