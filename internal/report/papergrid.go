package report

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/render"
)

// Grid lays a table out by the cells of its rows, as papers do for sources and
// destinations: each cell has the scores of columns, such as "38.0 / 32.4" for R@1
// and ERS, means over seeds.
func (r *PaperReport) Grid(columns []string) (*render.Table, error) {
	if len(r.Rows) == 0 || r.Rows[0].Cell == nil {
		return nil, fmt.Errorf("table %s is no grid: its rows have no cell", r.Table)
	}
	for _, c := range columns {
		if !slices.Contains(r.Columns, c) {
			return nil, fmt.Errorf("table %s has no column %q; it has %s", r.Table, c, strings.Join(r.Columns, ", "))
		}
	}
	type line struct{ row, who string }
	var lines []line
	var heads []string
	cells := map[line]map[string]string{}
	put := func(e PaperEntry, who, text string) {
		at := line{e.Cell[0], who}
		if cells[at] == nil {
			cells[at] = map[string]string{}
			lines = append(lines, at)
		}
		cells[at][e.Cell[1]] = text
	}
	for _, e := range r.Rows {
		if !slices.Contains(heads, e.Cell[1]) {
			heads = append(heads, e.Cell[1])
		}
		if p := e.Paper; p != nil {
			text := "*collapse*"
			if !p.Collapsed {
				text = joined(columns, func(c string) (float64, bool) { v, ok := p.Scores[c]; return v, ok })
			}
			put(e, "paper", text)
		}
		for _, o := range e.Ours {
			text := o.word
			if text == "" {
				text = joined(columns, func(c string) (float64, bool) {
					s, ok := o.Scores[c]
					if !ok {
						return 0, false
					}
					return *s.Value, true
				})
			}
			put(e, o.who(), text)
		}
	}
	// The lines of a row stand together, the paper's first.
	var rows []string
	for _, l := range lines {
		if !slices.Contains(rows, l.row) {
			rows = append(rows, l.row)
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return slices.Index(rows, a.row) - slices.Index(rows, b.row) })
	t := &render.Table{
		Title:   fmt.Sprintf("%s: %s, %s", r.Table, r.Title, strings.Join(columns, " / ")),
		Columns: []render.Column{{Name: "source"}, {Name: "numbers"}},
		Notes:   slices.Concat([]string{r.origin()}, r.Notes, []string{"columns: destination"}),
	}
	for _, h := range heads {
		t.Columns = append(t.Columns, render.Column{Name: h})
	}
	for _, l := range lines {
		row := []render.Cell{render.Text(l.row), render.Text(l.who)}
		for _, h := range heads {
			if text, ok := cells[l][h]; ok {
				row = append(row, render.Text(text))
			} else {
				row = append(row, render.Missing())
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// joined shows scores as papers print them, a dash for one that is not there.
func joined(columns []string, value func(string) (float64, bool)) string {
	parts := make([]string, len(columns))
	for i, name := range columns {
		parts[i] = "-"
		if v, ok := value(name); ok {
			c, _ := paperColumnOf(name)
			parts[i] = c.shown().Show(render.Number(v))
		}
	}
	return strings.Join(parts, " / ")
}
