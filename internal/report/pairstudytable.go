package report

import (
	"slices"

	"tercet/internal/render"
)

// pairNote explains the numbers of tables of pairs.
const pairNote = "errors and noise in percent of the pairs; ±: half the 95 % interval of Student's t over n seeds"

// Table has a row for each setting. Unless full is set, columns of words that are the
// same in all rows are left out and stand in a note.
func (s *PairStudy) Table(full bool) *render.Table {
	t := &render.Table{Title: "runs on pairs", Notes: slices.Clone(s.Notes)}
	settingColumns(t)
	t.Columns = append(t.Columns, render.Column{Name: "steps"}, render.Column{Name: "n"}, errorColumn(pairFound), errorColumn(trainError), errorColumn(trueError), errorColumn(testError),
		errorColumn(floorError), errorColumn(boundLower), errorColumn(boundUpper), render.Column{Name: boundSim, Percent: true, Digits: 4, Paper: true})
	for _, r := range s.Rows {
		row := append(r.settingCells(), render.Int(r.Steps), render.Int(r.N))
		for _, key := range []string{pairFound, trainError, trueError, testError, floorError, boundLower, boundUpper, boundSim} {
			c := r.Scores[key].cell
			if key == boundLower || key == boundUpper || key == boundSim {
				c = c.Brief() // the same for all seeds
			}
			row = append(row, c)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Notes = append(t.Notes, pairNote,
		"effective: wrong pairs that were drawn, where noise says what was wanted; train_error: by the labels trained on, true_error: of the same pairs by true labels; floor_duplicates: pairs that carry both labels, which nothing gets right; lower and upper: E_sim + the bounds of Theorem 1 of DIBS")
	if !full {
		dropConstant(t)
	}
	return t
}

// settingColumns and settingCells say what a row's runs have in common.
func settingColumns(t *render.Table) {
	for _, name := range []string{"data", "classes", "scenario", "negatives", "order", "drawn", "other", "noise", "model", "width", "parameters"} {
		t.Columns = append(t.Columns, render.Column{Name: name})
	}
}

func (row *PairRow) settingCells() []render.Cell {
	width := render.Missing()
	if row.Width > 0 {
		width = render.Int(row.Width)
	}
	return []render.Cell{
		render.Text(row.Data), render.Int(row.Classes), render.Text(row.Scenario), render.Text(row.Negatives), render.Text(row.Order), render.Text(row.drawn()), render.Text(row.other()),
		render.Text(row.noiseName()), render.Text(row.Model), width, render.Int(row.Parameters),
	}
}

// drawn says how often a run sees the same pairs.
func (row *PairRow) drawn() string {
	if row.Online {
		return "online"
	}
	return "offline"
}

func errorColumn(name string) render.Column {
	return render.Column{Name: name, Percent: true, Digits: 2, Paper: true}
}

func dropConstant(t *render.Table) {
	t.DropConstant("n", "noise", "peak", "parameters", "rate", "name", "verdict")
}
