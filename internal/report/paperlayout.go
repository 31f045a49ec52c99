package report

import (
	"fmt"
	"slices"

	"tercet/internal/render"
	"tercet/internal/rundir"
)

// recomputedColumn heads ERS computed from the ten scores of its row: it checks
// the paper's arithmetic, and ours.
const recomputedColumn = "ERS of the ten"

// Layout shows each row of the paper with ours below it, in the paper's columns.
func (r *PaperReport) Layout() *render.Table {
	t := &render.Table{
		Title:   fmt.Sprintf("%s: %s", r.Table, r.Title),
		Columns: []render.Column{{Name: "defense"}, {Name: "eta"}, {Name: "numbers"}, {Name: "data"}, {Name: "n"}},
	}
	for _, name := range r.Columns {
		c, _ := paperColumnOf(name)
		t.Columns = append(t.Columns, c.shown())
	}
	check := r.checked()
	if check {
		t.Columns = append(t.Columns, render.Column{Name: recomputedColumn, Digits: 1, Percent: true, Paper: true})
	}
	chosen := false
	for _, e := range r.Rows {
		chosen = chosen || slices.ContainsFunc(e.Ours, func(o PaperOurs) bool { return rundir.SelectedOn(o.runs) != "" })
	}
	if chosen {
		t.Columns = append(t.Columns, render.Column{Name: rundir.SelectionColumn})
	}
	put := func(row []render.Cell, runs []*rundir.Run, caution string) {
		if chosen {
			row = append(row, render.OptionalText(rundir.SelectedOn(runs)))
		}
		t.Rows, t.RowNotes = append(t.Rows, row), append(t.RowNotes, caution)
	}
	seeds, one := false, false
	for _, e := range r.Rows {
		if e.Paper != nil || len(e.Ours) == 0 {
			put(r.paperRow(e, check), nil, "")
		}
		for _, o := range e.Ours {
			put(r.ourRow(e, o, check), o.runs, o.caution)
			seeds = seeds || o.N > 1
			for _, s := range o.Scores {
				one = one || s.cell.IsBrief()
			}
		}
	}
	t.Notes = append([]string{r.origin()}, r.Notes...)
	note := "in percent, except TMA (a cosine) and ES:D (a distance)"
	if seeds {
		note += "; ±: half the 95 % interval of Student's t over n seeds"
	}
	if one {
		note += "; of one run, the interval over its queries is in --format csv and --json"
	}
	t.Notes = append(t.Notes, note)
	return t
}

func (r *PaperReport) origin() string { return fmt.Sprintf("paper: %s; %s", r.Source, r.Setup) }

// shown is the column as papers print it.
func (c paperColumn) shown() render.Column {
	if c.percent {
		return render.Column{Name: c.name, Digits: 1, Percent: true, Paper: true}
	}
	return render.Column{Name: c.name, Digits: 3, Paper: true}
}

// checked reports whether any row has all ten scores.
func (r *PaperReport) checked() bool {
	for _, e := range r.Rows {
		if e.Paper != nil && e.Paper.Recomputed != nil {
			return true
		}
		for _, o := range e.Ours {
			if o.Recomputed != nil {
				return true
			}
		}
	}
	return false
}

func (r *PaperReport) paperRow(e PaperEntry, check bool) []render.Cell {
	row := []render.Cell{render.Text(e.Label), steps(e.Eta), render.Text("paper"), render.Text(e.Data), render.Missing()}
	for i, name := range r.Columns {
		cell := render.Missing()
		switch {
		case e.Paper == nil:
		case e.Paper.Collapsed && i == 0:
			cell = render.Text("*collapse*")
		default:
			if v, ok := e.Paper.Scores[name]; ok {
				cell = render.Number(v)
			}
		}
		row = append(row, cell)
	}
	if check {
		row = append(row, optional(e.Paper != nil && e.Paper.Recomputed != nil, func() float64 { return *e.Paper.Recomputed }))
	}
	return row
}

func (r *PaperReport) ourRow(e PaperEntry, o PaperOurs, check bool) []render.Cell {
	row := []render.Cell{render.Text(e.Label), steps(o.Eta), render.Text(o.who()), render.Text(o.Data), render.Int(o.values())}
	for i, name := range r.Columns {
		cell := render.Missing()
		if s, ok := o.Scores[name]; ok {
			cell = s.counted(o.values())
		} else if o.word != "" && i == 0 {
			cell = render.Text(o.word)
		}
		row = append(row, cell)
	}
	if check {
		row = append(row, optional(o.Recomputed != nil, func() float64 { return *o.Recomputed }))
	}
	return row
}

// values is of how many runs the numbers are: the runs whose training is over, unless all
// numbers are of the same fewer.
func (o PaperOurs) values() int {
	n := 0
	for _, s := range o.Scores {
		if n != 0 && s.N != n {
			return o.N
		}
		n = s.N
	}
	if n == 0 {
		return o.N
	}
	return n
}

// who says whose numbers these are: the kind of runs is named where a row has
// several.
func (o PaperOurs) who() string {
	if o.alone {
		return "ours, " + o.Variant
	}
	return "ours, " + o.Variant + ", " + o.Name
}

func steps(eta int) render.Cell {
	if eta == 0 {
		return render.Missing()
	}
	return render.Int(eta)
}

func optional(there bool, value func() float64) render.Cell {
	if !there {
		return render.Missing()
	}
	return render.Number(value())
}
