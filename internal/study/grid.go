package study

import "slices"

// grid are the values of a score (rows, seeds) for the seeds that all rows have.
func grid(rows []*Row, score string) (seeds []uint64, values [][]float64) {
	if len(rows) == 0 {
		return nil, nil
	}
	for _, seed := range rows[0].Seeds {
		if !slices.ContainsFunc(rows, func(r *Row) bool { return !slices.Contains(r.Seeds, seed) }) {
			seeds = append(seeds, seed)
		}
	}
	for _, r := range rows {
		var v []float64
		for _, seed := range seeds {
			v = append(v, r.obs[slices.Index(r.Seeds, seed)].values[score])
		}
		values = append(values, v)
	}
	return seeds, values
}

// scored are the rows of a curve that have a score.
func scored(rows []*Row, score string) []*Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r *Row) bool { _, ok := r.Scores[score]; return !ok })
}

// matched are the rows of two curves that have a score at the same x, and their values for
// the seeds that all of them have; nil where there is nothing in common.
func matched(a, b []*Row, x, score string) (rows, others []*Row, grids [2][][]float64) {
	for _, r := range scored(a, score) {
		own := scored(b, score)
		if k := slices.IndexFunc(own, func(q *Row) bool { return q.Fields[x] == r.Fields[x] }); k >= 0 {
			rows, others = append(rows, r), append(others, own[k])
		}
	}
	seeds, values := grid(slices.Concat(rows, others), score)
	if len(seeds) == 0 {
		return nil, nil, grids
	}
	return rows, others, [2][][]float64{values[:len(rows)], values[len(rows):]}
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
