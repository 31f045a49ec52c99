package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tercet/internal/attack"
)

// PaperTable describes a table of a paper: its rows with the published numbers,
// and which runs belong to a row. Check makes it ready for use.
type PaperTable struct {
	Title   string     `yaml:"title"`
	Aliases []string   `yaml:"aliases"` // other names, such as tab7
	Source  string     `yaml:"source"`  // where the numbers stand
	Setup   string     `yaml:"setup"`   // data, network and attack of the paper
	Columns []string   `yaml:"columns"` // in the paper's order
	Rows    []PaperRow `yaml:"rows"`
}

// PaperRow is one row of a paper.
type PaperRow struct {
	Label string `yaml:"label"`
	Data  string `yaml:"data"` // the paper's data set
	Eta   int    `yaml:"eta"`  // PGD steps; 0 where nothing is crafted
	// Cell are the row and the column of this row where the table is laid out as a
	// grid; all rows have it, or none.
	Cell []string `yaml:"cell"`
	// Match maps config keys to the value, or the list of values, that a run of
	// this row has. A text may hold *, which stands for any letters.
	Match map[string]any `yaml:"match"`
	// Paper is a list of numbers as the paper prints them, one for each column,
	// null where it has none; or the word collapse; or nothing.
	Paper any `yaml:"paper"`

	match     []condition
	collapsed bool
	numbers   map[string]float64 // by column; fractions where columns are percent
}

// paperColumn is a column that papers have and the score that it shows.
type paperColumn struct {
	name, key string
	attacked  bool // of attack.json, otherwise of eval.json
	percent   bool
	low, high float64 // of what a paper can print
}

// paperColumns are all there are, in the order of Zhou and Patel: of evaluations,
// then the scores of the suite ers.
var paperColumns = func() []paperColumn {
	list := []paperColumn{
		{"R@1", "recall@1", false, true, 0, 100}, {"R@2", "recall@2", false, true, 0, 100},
		{"mAP", "map", false, true, 0, 100}, {"NMI", "nmi", false, true, 0, 100},
	}
	for _, key := range suiteKeys() {
		s, _ := attack.ScoreNamed(key)
		c := paperColumn{name: key, key: key, attacked: true, percent: s.Unit == attack.Fraction}
		if c.low, c.high = s.Unit.Range(); c.percent {
			c.low, c.high = 100*c.low, 100*c.high
		}
		if key == attack.ERS { // not clipped: see attack.RobustnessScore
			c.low, c.high = -100, 200
		}
		list = append(list, c)
	}
	return list
}()

func paperColumnOf(name string) (paperColumn, bool) {
	i := slices.IndexFunc(paperColumns, func(c paperColumn) bool { return c.name == name })
	if i < 0 {
		return paperColumn{}, false
	}
	return paperColumns[i], true
}

// Check refuses a description that cannot be used and prepares its rows.
func (t *PaperTable) Check() error {
	if len(t.Columns) == 0 || len(t.Rows) == 0 {
		return fmt.Errorf("a table needs columns and rows")
	}
	for i, c := range t.Columns {
		if _, ok := paperColumnOf(c); !ok {
			var all []string
			for _, p := range paperColumns {
				all = append(all, p.name)
			}
			return fmt.Errorf("there is no column %q; there are %s", c, strings.Join(all, ", "))
		}
		if slices.Contains(t.Columns[:i], c) {
			return fmt.Errorf("column %s is listed twice", c)
		}
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Label == "" {
			return fmt.Errorf("row %d has no label", i+1)
		}
		if r.Eta < 0 {
			return fmt.Errorf("row %d (%s): eta is %d", i+1, r.Label, r.Eta)
		}
		if len(r.Cell) != len(t.Rows[0].Cell) || len(r.Cell) != 0 && len(r.Cell) != 2 {
			return fmt.Errorf("row %d (%s): cell names a row and a column, in all rows or in none", i+1, r.Label)
		}
		if err := r.prepare(t.Columns); err != nil {
			return fmt.Errorf("row %d (%s): %w", i+1, r.Label, err)
		}
	}
	return nil
}

func (r *PaperRow) prepare(columns []string) error {
	var err error
	if r.match, err = conditions(r.Match); err != nil {
		return err
	}
	r.collapsed, r.numbers = false, nil
	switch p := r.Paper.(type) {
	case nil:
		return nil
	case string:
		if r.collapsed = p == "collapse"; !r.collapsed {
			return fmt.Errorf("paper is %q; write a list of numbers, or collapse", p)
		}
		return nil
	case []any:
		if len(p) != len(columns) {
			return fmt.Errorf("paper has %d numbers for %d columns", len(p), len(columns))
		}
		r.numbers = map[string]float64{}
		for i, x := range p {
			c, _ := paperColumnOf(columns[i])
			v, ok := number64(x)
			switch {
			case x == nil:
				continue
			case !ok:
				return fmt.Errorf("paper: %s is %v, not a number", c.name, x)
			case !(v >= c.low && v <= c.high):
				return fmt.Errorf("paper: %s is %v; it lies between %v and %v", c.name, v, c.low, c.high)
			}
			if c.percent {
				v = math.Round(v*1e6) / 1e8 // 53.9 becomes the number nearest to 0.539
			}
			r.numbers[c.name] = v
		}
		return nil
	}
	return fmt.Errorf("paper is %v; write a list of numbers, or collapse", r.Paper)
}

func number64(x any) (float64, bool) {
	switch v := x.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return 0, false
}
