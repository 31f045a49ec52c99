package summary

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/text"
)

// Table shows one row per group and, below, the baselines: one row for all
// groups that share it.
func (s *Summary) Table() *render.Table {
	t := &render.Table{Title: text.Plural(len(s.Runs), "run", "runs"), Notes: slices.Concat(s.Notes, []string{trainingNote})}
	if n := len(s.Groups); n != len(s.Runs) {
		t.Title += " in " + text.Plural(n, "group", "groups")
	}
	t.Columns = render.Columns(slices.Concat([]string{"run"}, s.columns, []string{"n", "status"})...)
	of := s.ofColumns()
	t.Columns = append(t.Columns, of...)
	for _, m := range s.Metrics {
		t.Columns = append(t.Columns, render.Column{Name: m, Better: direction(m), Unlike: s.unlike(m)})
	}
	t.Columns = append(t.Columns, render.Column{Name: "training (s)", Digits: 1}, render.Column{Name: "forward", Note: trainingNote}, render.Column{Name: "backward", Note: trainingNote})
	for _, g := range s.Groups {
		row := []render.Cell{render.Text(g.Name)}
		for _, k := range s.columns {
			row = append(row, g.key(k))
		}
		row = append(row, render.Int(g.N), render.Text(g.status()))
		row = append(row, s.ofCells(of, g)...)
		row = append(row, s.cells(g.Scores, g.N)...)
		t.Rows = append(t.Rows, append(row, render.Number(g.Seconds), render.Int(int(math.Round(g.Forward))), render.Int(int(math.Round(g.Backward)))))
	}
	t.RowNotes = s.rowNotes()
	for _, b := range s.baselines {
		row := []render.Cell{render.Text(b.title)}
		for range s.columns {
			row = append(row, render.Missing())
		}
		row = append(row, render.Int(b.n), render.Missing())
		row = append(append(row, s.ofCells(of, nil)...), s.cells(b.scores, b.n)...)
		t.RowNotes = append(t.RowNotes, "")
		t.Rows = append(t.Rows, append(row, render.Missing(), render.Missing(), render.Missing()))
	}
	return t
}

// all are the runs of all groups.
func (s *Summary) all() []*rundir.Run {
	return lists.Flat(s.Groups, func(g *Group) []*rundir.Run { return g.runs })
}

// rowNotes say of each group what makes its scores less than they seem.
func (s *Summary) rowNotes() []string {
	rows := lists.Map(s.Groups, func(g *Group) []*rundir.Run { return rundir.OnlyOf(g.runs, s.shownKinds()...) })
	return rundir.RowWarnings(rows, s.Metrics)
}

// shownKinds are the documents that the scores come from.
func (s *Summary) shownKinds() []string {
	runs := s.all()
	return slices.DeleteFunc(rundir.Kinds(), func(kind string) bool {
		return !slices.ContainsFunc(s.Metrics, func(m string) bool { return rundir.KindOf(m, runs) == kind })
	})
}

// Columns that say what makes scores less than they seem.
const (
	splitColumn      = "split"
	checkpointColumn = "checkpoint"
)

// LabelColumns stay in a table whatever columns are chosen: they say what makes a number
// less than it seems.
func LabelColumns() []string { return []string{splitColumn, checkpointColumn, rundir.SelectionColumn} }

const trainingNote = "forward, backward: images through the network in training"

// unlike says that the groups' values of a score are not measured alike.
func (s *Summary) unlike(score string) bool {
	settings := lists.Map(s.Groups, func(g *Group) []rundir.Label { return g.measured(score) })
	parts, _ := rundir.UnlikeParts(settings, make([]string, len(settings)))
	return parts != nil
}

// direction is the column's Better of a score.
func direction(score string) int {
	switch higher, err := HigherIsBetter(score); {
	case err != nil:
		return 0
	case higher:
		return 1
	}
	return -1
}

// ofColumns say in every format that scores are not those of the test images and the last
// checkpoint, or that test images have chosen the weights.
func (s *Summary) ofColumns() []render.Column {
	var out []render.Column
	if !(rundir.Of{Split: s.Split, Checkpoint: s.Checkpoint}).Standard() {
		out = append(out, render.Column{Name: splitColumn}, render.Column{Name: checkpointColumn})
	}
	if slices.ContainsFunc(s.Groups, func(g *Group) bool { return g.selection() != "" }) {
		out = append(out, render.Column{Name: rundir.SelectionColumn})
	}
	return out
}

// ofCells are a row's cells of these columns; g is nil of a baseline.
func (s *Summary) ofCells(columns []render.Column, g *Group) []render.Cell {
	out := make([]render.Cell, len(columns))
	for i, c := range columns {
		switch {
		case c.Name == splitColumn:
			out[i] = render.Text(s.Split)
		case c.Name == checkpointColumn && g != nil:
			out[i] = render.Text(s.Checkpoint)
		case c.Name == rundir.SelectionColumn && g != nil && g.selection() != "":
			out[i] = render.Text(g.selection())
		}
	}
	return out
}

// cells are the shown scores of a row. Where no group has two runs, the column n
// alone says so.
func (s *Summary) cells(scores map[string]Estimate, n int) []render.Cell {
	alone := len(s.Groups) == len(s.Runs)
	out := make([]render.Cell, len(s.Metrics))
	for i, m := range s.Metrics {
		out[i] = scores[m].counted(n)
		if v, _ := out[i].Value(); alone && out[i].IsSingle() {
			out[i] = render.Number(v)
		}
	}
	return out
}

func (g *Group) key(k string) render.Cell {
	switch v := g.Labels[k]; v {
	case "", `""`, "null", "~": // YAML's words for a key without a value
		return render.Missing()
	default:
		return render.Text(v)
	}
}

// statuses in the order in which a group lists them.
var statuses = []record.Status{record.Finished, record.Running, record.Interrupted, record.Failed, record.Diverged, record.Collapsed}

// status is "finished", or "2 finished, 1 *collapse*".
func (g *Group) status() string {
	if len(g.Status) == 1 {
		return g.runs[0].Status()
	}
	var parts []string
	tell := func(status record.Status) {
		i := slices.IndexFunc(g.runs, func(r *rundir.Run) bool { return r.Manifest.Status == status })
		if i >= 0 {
			parts = append(parts, fmt.Sprintf("%d %s", g.Status[status], g.runs[i].Status()))
		}
	}
	for _, st := range statuses {
		tell(st)
	}
	for _, r := range g.runs { // what another version may write
		if st := r.Manifest.Status; !slices.Contains(statuses, st) && !slices.Contains(parts, fmt.Sprintf("%d %s", g.Status[st], r.Status())) {
			tell(st)
		}
	}
	return strings.Join(parts, ", ")
}
