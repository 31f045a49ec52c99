package published

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/render"
	"tercet/internal/study"
	"tercet/internal/study/observe"
)

// Grid lays the table out by the cells of its rows, as papers do for sources and
// destinations: each cell has the scores of columns, such as "38.0 / 32.4" for R@1
// and ERS, means over seeds.
func (p *Table) Grid(d *study.Document, columns []string) (*render.Table, error) {
	if p.Rows[0].Cell == nil {
		return nil, fmt.Errorf("table %s is not a grid: its rows have no cell", p.Name)
	}
	for _, c := range columns {
		if !slices.Contains(p.Columns, c) {
			return nil, fmt.Errorf("table %s has no column %q; it has %s", p.Name, c, strings.Join(p.Columns, ", "))
		}
	}
	t := &render.Table{
		Title:   fmt.Sprintf("%s: %s, %s", p.Name, p.Title, strings.Join(columns, " / ")),
		Columns: []render.Column{{Name: "source"}, {Name: "numbers"}},
		Notes:   append(slices.Clone(d.Notes[:len(d.Notes)-1]), "columns: destination"),
	}
	var heads []string
	for _, r := range p.Rows {
		if !slices.Contains(heads, r.Cell[1]) {
			heads = append(heads, r.Cell[1])
			t.Columns = append(t.Columns, render.Column{Name: r.Cell[1]})
		}
	}
	sources, order := observe.GroupBy(d.Rows, func(r *study.Row) string { return r.Fields["source"] })
	for _, source := range order {
		lines, who := observe.GroupBy(sources[source], func(r *study.Row) string { return r.Fields["numbers"] })
		slices.SortStableFunc(who, func(a, b string) int { return p.paperFirst(a) - p.paperFirst(b) })
		for _, w := range who {
			row := []render.Cell{render.Text(source), render.Text(w)}
			for _, head := range heads {
				row = append(row, p.gridCell(lines[w], head, columns))
			}
			if slices.ContainsFunc(row[2:], func(c render.Cell) bool { return c.Words() != "" }) {
				t.Rows = append(t.Rows, row)
			}
		}
	}
	return t, nil
}

func (p *Table) paperFirst(who string) int {
	if who == p.by() {
		return 0
	}
	return 1
}

// gridCell shows the scores of the row at a destination, a dash for one that is not there.
func (p *Table) gridCell(rows []*study.Row, destination string, columns []string) render.Cell {
	i := slices.IndexFunc(rows, func(r *study.Row) bool { return r.Fields["destination"] == destination })
	switch {
	case i < 0 || rows[i].Word == "" && rows[i].Scores == nil:
		return render.Missing()
	case rows[i].Word != "":
		return render.Text(rows[i].Word)
	}
	parts := make([]string, len(columns))
	for k, name := range columns {
		parts[k] = "-"
		if e, ok := rows[i].Scores[name]; ok {
			s := p.scores[slices.Index(p.Columns, name)]
			form := render.Column{Digits: 3, Paper: true}
			if s.percent {
				form = render.Column{Digits: 1, Percent: true, Paper: true}
			}
			parts[k] = form.Show(render.Number(e.Value))
		}
	}
	return render.Text(strings.Join(parts, " / "))
}
