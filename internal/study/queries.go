package study

import (
	"slices"

	"tercet/internal/study/observe"
)

// less is a score of a row less that of another, seed by seed. Rows that share one seed
// alone are compared query by query, where their results store the values of queries.
func less(a, b *Row, s observe.Score) (Estimate, bool) {
	d := bySeed(a, b, s)
	e, ok := over(d)
	if len(d) != 1 || s.Queries == "" {
		return e, ok
	}
	for seed := range d {
		x, y := a.at(seed), b.at(seed)
		if e.CI95 = observe.LessByQuery(x.Queries[s.Name], y.Queries[s.Name]); e.CI95 != nil {
			e.Queries = len(x.Queries[s.Name].Values)
		}
	}
	return e, ok
}

// at is the row's observation of a seed, which it has.
func (row *Row) at(seed uint64) *observe.Observation {
	return row.obs[slices.IndexFunc(row.obs, func(o *observe.Observation) bool { return o.Run.Manifest.Seed == seed })]
}

// byQuery is the note on intervals over queries.
const byQuery = "differences of one seed: 95 % intervals by a paired bootstrap over its queries (1,000 resamples), which do not cover the spread between seeds"

// pairedByQuery says whether a difference has an interval over queries.
func (d *Document) pairedByQuery() bool {
	of := func(scores map[string]Estimate) bool {
		for _, e := range scores {
			if e.Queries > 0 {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(d.Contrasts, func(c Difference) bool { return of(c.Scores) }) ||
		slices.ContainsFunc(d.Rows, func(r *Row) bool { return of(r.Differences) })
}
