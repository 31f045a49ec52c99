package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/study/observe"
)

// Reduce combines rows that differ only in the fields of Along into one row, by a named
// Go function.
type Reduce struct {
	By    string        `yaml:"by"`
	Along []string      `yaml:"along"` // fields; with whole_config also the config keys of But
	But   []string      `yaml:"but"`
	X     string        `yaml:"x"` // the field that orders the rows
	Score string        `yaml:"score"`
	Where observe.Where `yaml:"where"` // of the reduced rows
}

// reducer makes rows of the rows of each curve.
type reducer struct {
	names []string // of the fields and scores that it adds
	run   func(d *Document, curves [][]*Row) (rows []*Row, notes []string, err error)
}

var reducers = map[string]reducer{}

// verdictField is the field of a reduced row that has a verdict.
const verdictField = "verdict"

func (t *Table) checkReduce() error {
	if t.Reduce == nil {
		return nil
	}
	if _, ok := reducers[t.Reduce.By]; !ok {
		return fmt.Errorf("reduce.by: unknown value %q; valid: %s", t.Reduce.By, strings.Join(slices.Sorted(maps.Keys(reducers)), ", "))
	}
	for _, name := range append(slices.Clone(t.Reduce.Along), t.Reduce.X) {
		if name != "" && t.Field(name) == nil {
			return fmt.Errorf("reduce: unknown field %q", name)
		}
	}
	return nil
}

// reduced are the names that the table's reducer adds.
func (t *Table) reduced() []string {
	if t.Reduce == nil {
		return nil
	}
	return reducers[t.Reduce.By].names
}

// reduce replaces the rows by reduced ones.
func (d *Document) reduce() (notes []string, err error) {
	rows, notes, err := reducers[d.table.Reduce.By].run(d, d.curves())
	d.Rows = slices.DeleteFunc(rows, func(r *Row) bool { return len(d.table.Reduce.Where) > 0 && !d.table.Reduce.Where.Fits(r.text) })
	if d.Rows == nil {
		d.Rows = []*Row{}
	}
	return notes, err
}

// curves are the rows of one setting but for the fields along, by ascending x.
func (d *Document) curves() [][]*Row {
	r := d.table.Reduce
	groups, order := observe.GroupBy(d.all, func(row *Row) string {
		var b strings.Builder
		for _, name := range d.table.Rows {
			if !slices.Contains(r.Along, name) {
				fmt.Fprintf(&b, "%q ", row.Fields[name])
			}
		}
		if d.table.Config {
			for _, l := range row.obs[0].Run.Labels {
				if !observe.Named(nil, l.Key) && !slices.Contains(r.But, l.Key) {
					fmt.Fprintf(&b, "%q=%q ", l.Key, l.Value)
				}
			}
		}
		return b.String()
	})
	var out [][]*Row
	for _, id := range order {
		rows := slices.Clone(groups[id])
		if r.X != "" {
			x := d.table.Field(r.X)
			slices.SortStableFunc(rows, func(a, b *Row) int { return x.Compare(a.Fields[r.X], b.Fields[r.X]) })
		}
		out = append(out, rows)
	}
	return out
}

// from begins a reduced row with what a row has.
func from(row *Row) *Row {
	out := *row
	out.Fields, out.Scores = maps.Clone(row.Fields), maps.Clone(row.Scores)
	return &out
}

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
		v := lists.Map(seeds, func(seed uint64) float64 { return r.obs[slices.Index(r.Seeds, seed)].Values[score] })
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
