package generalize

import (
	"fmt"

	"tercet/internal/record"
	"tercet/internal/render"
)

// File is on-average.json.
func (d *OnAverageDoc) File() string { return d.Source.File("on-average") }

// Cautions are the warnings.
func (d *OnAverageDoc) Cautions() []string { return d.Warnings }

// Draw makes no picture: what is measured is a mean.
func (d *OnAverageDoc) Draw(string) ([]string, error) { return nil, nil }

// Table has a row for each triplet.
func (d *OnAverageDoc) Table() *render.Table {
	t := &render.Table{
		Title: fmt.Sprintf("%s: retrained without a triplet, three held-out %s images in its place; its own loss (%s)", d.Source.Run, d.Source.Set, d.Loss.Name),
		Columns: []render.Column{
			{Name: "i, j, k"}, {Name: "classes"}, {Name: "by"}, {Name: "uses"}, {Name: "seen", Digits: 4}, {Name: "unseen", Digits: 4}, {Name: "change", Digits: 4}, {Name: "order"},
		},
	}
	for _, r := range d.Replaced {
		row := []render.Cell{
			three(r.Images), render.Text(r.Class[0] + ", " + r.Class[2]), three(r.By), three(r.Uses),
		}
		if c := r.Change; c != nil {
			row = append(row, render.Number(c.Seen), render.Number(c.Unseen), render.Number(c.Unseen-c.Seen), render.Text(tripleOrder(c)))
		} else {
			row = append(row, render.Missing(), render.Missing(), render.Missing(), render.Text(string(r.Status)))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Notes = []string{
		onAverageNote(&d.Loss.OnAverageMeans, "loss ("+d.Loss.Name+")", d.N),
		onAverageNote(&d.Error, "triplet_error", d.N),
	}
	if g := d.Gap; g != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("%s, the same weights: loss %s, triplet_error %s; both changes estimate these gaps", g.File, shown(g.Loss.Gap), shown(g.Error.Gap)))
	} else {
		t.Notes = append(t.Notes, "the changes estimate the gaps that tercet gap measures; there is no gap.json of these weights")
	}
	t.Notes = append(t.Notes, "anchor i, positive j, negative k; uses: rows of batches")
	return t
}

func three(v [3]int) render.Cell {
	return render.Text(fmt.Sprintf("%d, %d, %d", v[0], v[1], v[2]))
}

// tripleOrder says whether the triplet's order was right while it was seen, and is unseen.
func tripleOrder(c *record.TripleChange) string {
	switch {
	case c.WrongSeen && c.WrongUnseen:
		return "wrong"
	case c.WrongSeen:
		return "wrong, right when removed"
	case c.WrongUnseen:
		return "right, wrong when removed"
	}
	return "right"
}

// onAverageNote is such as "loss (triplet): .0121 seen, .0345 unseen, change .0224 [.01, .03]".
func onAverageNote(a *record.OnAverageMeans, name string, n int) string {
	return fmt.Sprintf("%s, mean of %d: %.4g in training, %.4g removed, change %s", name, n, a.Seen.Value, a.Unseen.Value, shown(a.Change))
}

// shown is a value with its interval, where it has one.
func shown(v record.Value) string {
	if v.CI95 == nil {
		return fmt.Sprintf("%.4g", v.Value)
	}
	return fmt.Sprintf("%.4g [%.4g, %.4g]", v.Value, v.CI95[0], v.CI95[1])
}
