package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/rundir"
	"tercet/internal/study/observe"
	"tercet/internal/verdict"
)

// bySeed are the differences of two rows of a score, by seed. What the runs do not measure
// alike has none.
func bySeed(a, b *Row, s observe.Score) map[uint64]float64 {
	out := map[uint64]float64{}
	if a == nil || b == nil {
		return out
	}
	key, isKey := strings.CutPrefix(s.From, "score.")
	for _, x := range a.obs {
		for _, y := range b.obs {
			if x.Run.Manifest.Seed != y.Run.Manifest.Seed || isKey && x.Part == y.Part && len(rundir.Unlike([]*rundir.Run{x.Run, y.Run}, []string{key})) > 0 {
				continue
			}
			v, ok := x.Values[s.Name]
			if w, too := y.Values[s.Name]; ok && too {
				out[x.Run.Manifest.Seed] = v - w
			}
		}
	}
	return out
}

// over is the mean of differences over their seeds, in ascending order.
func over(d map[uint64]float64) (Estimate, bool) {
	values := lists.Map(slices.Sorted(maps.Keys(d)), func(seed uint64) float64 { return d[seed] })
	if values == nil {
		return Estimate{}, false
	}
	return EstimateOf(values), true
}

// better is the verdict on a difference being to the good.
func better(e Estimate, lower bool) string {
	if lower {
		return verdict.Below(0).Of(e.deciding())
	}
	return verdict.Above(0).Of(e.deciding())
}

// compare sets each row against what Against says, and says in notes where several would
// do.
func (t *Table) compareAgainst(rows []*Row) (notes []string) {
	if t.Against == nil {
		return nil
	}
	for _, row := range rows {
		base := slices.DeleteFunc(slices.Clone(rows), func(other *Row) bool {
			return !t.Against.Of.Fits(row.text) || !t.Against.Base.Fits(other.text) || !agree(row, other, t.Against.Same)
		})
		for _, source := range t.Against.Prefer {
			if closer := slices.DeleteFunc(slices.Clone(base), func(r *Row) bool { return r.text(source) != row.text(source) }); len(closer) > 0 {
				base = closer
			}
		}
		if len(base) > 1 {
			notes = append(notes, fmt.Sprintf("%s is compared with none: %s and %s would both do", t.title(row), t.title(base[0]), t.title(base[1])))
		}
		if len(base) == 1 {
			row.Against = t.title(base[0])
			d := Difference{Scores: map[string]Estimate{}, Verdicts: map[string]string{}}
			for _, s := range t.comparedScores() {
				e, ok := less(row, base[0], s)
				d.put(s, e, ok)
			}
			row.Differences, row.Verdicts = d.Scores, d.Verdicts
		}
	}
	return notes
}

// agree says whether two rows have the same at all sources.
func agree(a, b *Row, sources []string) bool {
	return !slices.ContainsFunc(sources, func(s string) bool { return a.text(s) != b.text(s) })
}

// comparedScores are those of shownScores that a comparison may rest on: not the one by which
// Best chose runs, which is too good for what was chosen by it.
func (t *Table) comparedScores() []observe.Score {
	return slices.DeleteFunc(t.shownScores(), func(s observe.Score) bool { return t.Best != nil && s.Name == t.Best.By })
}

// shownScores are the scores that columns show.
func (t *Table) shownScores() []observe.Score {
	var out []observe.Score
	for _, s := range t.Scores {
		if slices.ContainsFunc(t.columns, func(c column) bool { return c.what == s.Name || c.what == "d "+s.Name }) {
			out = append(out, s)
		}
	}
	return out
}

// Over is a field, such as the noise rate, along which contrasts are listed and averaged.
type Over struct {
	Field string `yaml:"field"`
	// Above is the value above which each seed's mean is taken, if there are two such.
	Above float64 `yaml:"above"`
}

// Against compares each row with one other row, its base.
type Against struct {
	Words  string        `yaml:"words"`
	Of     observe.Where `yaml:"of"`
	Base   observe.Where `yaml:"base"`
	Same   []string      `yaml:"same"`
	Prefer []string      `yaml:"prefer"` // sources that choose between several
}

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
