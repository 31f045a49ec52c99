package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/names"
	"tercet/internal/text"
)

// Choose keeps the named columns, in the order of the names, and those of always that the
// table has.
func (t *Table) Choose(headings []string, always ...string) error {
	all := lists.Map(t.Columns, func(c Column) string { return c.Name })
	var at []int
	for _, h := range headings {
		i := slices.Index(all, h)
		switch {
		case i < 0:
			msg := fmt.Sprintf("unknown column %q", h)
			if c := closestColumn(h, all); c != "" {
				msg += " (did you mean " + c + "?)"
			}
			return fmt.Errorf("%s; valid: %s", msg, strings.Join(all, ", "))
		case slices.Contains(at, i):
			return fmt.Errorf("column %q is named twice", h)
		}
		at = append(at, i)
	}
	for _, label := range always {
		if i := slices.Index(all, label); i >= 0 && !slices.Contains(at, i) {
			at = append(at, i)
		}
	}
	pick := func(i int) Column { return t.Columns[i] }
	columns := apply(at, pick)
	t.Notes = slices.DeleteFunc(t.Notes, func(note string) bool { // what explains columns that are gone
		about := func(c Column) bool { return c.Note == note }
		return slices.ContainsFunc(t.Columns, about) && !slices.ContainsFunc(columns, about)
	})
	for r, row := range t.Rows {
		t.Rows[r] = apply(at, func(i int) Cell { return row[i] })
	}
	t.Columns = columns
	return nil
}

// closestColumn is the heading that was most likely meant; "recall@1" may stand for
// "test:recall@1".
func closestColumn(heading string, all []string) string {
	for i := len(all) - 1; i >= 0; i-- { // the scores that are shown come after the one selected by
		if strings.HasSuffix(all[i], ":"+heading) {
			return all[i]
		}
	}
	return names.Closest(heading, all)
}

func apply[T any](at []int, of func(int) T) []T {
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = of(k)
	}
	return out
}

// MarkBest marks the best value of each column in which some are better, as far as two
// rows have one. Values that are not measured alike are not compared.
func (t *Table) MarkBest() {
	var unlike []string
	for c, column := range t.Columns {
		var rows []int
		for r := range t.Rows {
			if k := t.Rows[r][c].kind; k == number || k == interval || k == single {
				rows = append(rows, r)
			}
		}
		if column.Better == 0 || len(rows) < 2 {
			continue
		}
		if column.Unlike {
			unlike = append(unlike, column.Name)
			continue
		}
		better := func(a, b int) int {
			return -column.Better * CompareValues(t.Rows[a][c].value, t.Rows[b][c].value)
		}
		best := slices.MinFunc(rows, better)
		for _, r := range rows {
			if CompareValues(t.Rows[r][c].value, t.Rows[best][c].value) == 0 {
				t.Rows[r][c].best = true
			}
		}
	}
	if unlike != nil {
		t.Notes = append(t.Notes, "no best value is marked, since the rows are not measured in the same way, such as on different images: "+text.Some(unlike))
	}
}

// CompareValues orders two means; those that differ by rounding alone are equal.
func CompareValues(a, b float64) int {
	switch {
	case math.Abs(a-b) <= 1e-12*max(1, math.Abs(a), math.Abs(b)):
		return 0
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
