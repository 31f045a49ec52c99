package study

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/rundir"
	"tercet/internal/study/observe"
)

// Row holds the runs of one setting: their fields and their mean scores.
type Row struct {
	Fields map[string]string   `json:"fields"`
	N      int                 `json:"n"`
	Runs   []string            `json:"runs"`
	Seeds  []uint64            `json:"seeds"`
	Scores map[string]Estimate `json:"scores"`
	// Against is what the row is compared with; Differences are the row less that, seed by
	// seed, Verdicts those on the claim that the row is better.
	Against     string              `json:"against,omitempty"`
	Differences map[string]Estimate `json:"differences,omitempty"`
	Verdicts    map[string]string   `json:"verdicts,omitempty"`
	Caution     string              `json:"caution,omitempty"` // what is to be said of the runs
	Points      []Point             `json:"points,omitempty"`  // during training
	// Word stands where a row has no numbers, such as *collapse*.
	Word string `json:"word,omitempty"`

	obs   []*observe.Observation
	curve []*Row // the rows that a reduced row is made from
	lines [][]float64
	// lessOf are the differences of an offline row to its online one, by seed.
	lessOf map[uint64]float64
	Paper  bool `json:"-"` // has numbers that a paper prints
}

// text is a field of the row, or what its first observation has at a source.
func (row *Row) text(source string) string {
	if v, ok := row.Fields[source]; ok {
		return v
	}
	if len(row.obs) == 0 {
		return ""
	}
	return row.obs[0].Text(source)
}

// Of adds runs to the row.
func (row *Row) Of(runs ...*rundir.Run) {
	for _, r := range runs {
		row.Runs, row.Seeds = append(row.Runs, r.Dir), append(row.Seeds, r.Manifest.Seed)
		row.obs = append(row.obs, &observe.Observation{Run: r})
	}
}

// Dirs are the row's runs.
func (row *Row) Dirs() []*rundir.Run {
	return lists.Map(row.obs, func(o *observe.Observation) *rundir.Run { return o.Run })
}

// group makes the rows. Two observations of one setting and one seed are an error, unless
// the table has repeats.
func (t *Table) group(all []*observe.Observation) ([]*Row, error) {
	groups, order := observe.GroupBy(all, func(o *observe.Observation) string {
		var b strings.Builder
		for _, name := range t.Rows {
			fmt.Fprintf(&b, "%q ", o.Fields[name])
		}
		if t.Config {
			for _, l := range o.Run.Labels {
				if l.Key != "name" && l.Key != "seed" {
					fmt.Fprintf(&b, "%q=%q ", l.Key, l.Value)
				}
			}
		}
		return b.String()
	})
	var rows []*Row
	for _, id := range order {
		row := &Row{Fields: groups[id][0].Fields, obs: groups[id], N: len(groups[id])}
		for _, o := range row.obs {
			if i := slices.Index(row.Seeds, o.Run.Manifest.Seed); i >= 0 && !t.Repeats {
				return nil, fmt.Errorf("%s and %s are one setting with one seed, %d: name one of them", row.Runs[i], o.Run.Dir, o.Run.Manifest.Seed)
			}
			if !t.Repeats || !slices.Contains(row.Runs, o.Run.Dir) {
				row.Runs, row.Seeds = append(row.Runs, o.Run.Dir), append(row.Seeds, o.Run.Manifest.Seed)
			}
		}
		rows = append(rows, row)
	}
	sortBy := t.Sort
	if sortBy == nil {
		sortBy = t.Rows
	}
	slices.SortStableFunc(rows, func(a, b *Row) int { return t.compare(a, b, sortBy) })
	return rows, nil
}

func (t *Table) compare(a, b *Row, names []string) int {
	for _, name := range names {
		if c := t.Field(name).Compare(a.Fields[name], b.Fields[name]); c != 0 {
			return c
		}
	}
	return 0
}

// estimate takes the means of a row. Scores that its runs do not measure alike have none.
func (t *Table) estimate(row *Row) (notes []string) {
	keys := t.documentScores()
	why := rundir.Unlike(row.Dirs(), keys)
	for _, o := range row.obs {
		for _, s := range t.Scores {
			key, isKey := strings.CutPrefix(s.From, "score.")
			if why[key] != "" || len(why) > 0 && !isKey {
				delete(o.Values, s.Name)
			}
		}
	}
	row.Scores = map[string]Estimate{}
	for _, s := range t.Scores {
		if v := row.values(s.Name); len(v) > 0 && !(s.Whole && len(v) < row.N) {
			row.Scores[s.Name] = interval(s, row, EstimateOf(v))
		}
	}
	return rundir.LeftOut(t.title(row), keys, why)
}

// interval is the estimate of a row, with the interval that the result of its one run stores
// where the score asks for it.
func interval(s observe.Score, row *Row, e Estimate) Estimate {
	key, isKey := strings.CutPrefix(s.From, "score.")
	if s.Stored && isKey && len(row.obs) == 1 {
		if v, ok := row.obs[0].Run.Scores().Get(key); ok {
			e.CI95 = v.CI95
		}
	}
	return e
}

// values are those of a score, in the order of the observations.
func (row *Row) values(score string) []float64 {
	var out []float64
	for _, o := range row.obs {
		if v, ok := o.Values[score]; ok {
			out = append(out, v)
		}
	}
	return out
}

// documentScores are the keys of the scores that depend on options of a measurement.
func (t *Table) documentScores() []string {
	var out []string
	for _, s := range t.Scores {
		if key, is := strings.CutPrefix(s.From, "score."); is {
			out = append(out, key)
		}
	}
	return out
}

// title names a row in notes.
func (t *Table) title(row *Row) string {
	var parts []string
	for _, name := range t.Rows {
		if v := row.Fields[name]; v != "" {
			parts = append(parts, v)
		}
	}
	return strings.Join(parts, ", ")
}
