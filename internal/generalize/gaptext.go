package generalize

import (
	"fmt"
	"path/filepath"

	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/run"
	"tercet/internal/summary"
)

// StoredGap is the gap of the same run, weights and images as s; nil where there is none.
// Older versions wrote gap.json whatever it was of.
func StoredGap(s record.Source) *GapDoc {
	if s.Run == "" {
		return nil
	}
	for _, name := range []string{s.File("gap"), "gap.json"} {
		d := new(GapDoc)
		if run.ReadStored(filepath.Join(s.Run, name), d) && d.Schema == record.GapSchema &&
			d.Source.Checkpoint == s.Checkpoint && d.Source.Step == s.Step && d.Source.Set == s.Set {
			return d
		}
	}
	return nil
}

// File is gap.json, of other images or weights gap-validation.json and the like.
func (d *GapDoc) File() string { return d.Source.File("gap") }

// Cautions are the warnings.
func (d *GapDoc) Cautions() []string { return d.Warnings }

// Draw makes no picture: a gap is three numbers.
func (d *GapDoc) Draw(string) ([]string, error) { return nil, nil }

// Table has a row for the loss and one for the 0-1 error; with a reference also the gap
// less that of the reference.
func (d *GapDoc) Table() *render.Table {
	t := &render.Table{
		Title:   fmt.Sprintf("%s: generalization gap, %d training and %d %s images", d.Source.Run, d.Train.Items, d.Source.Items, d.Source.Set),
		Columns: []render.Column{{Name: "score"}, {Name: "train", Digits: 4}, {Name: d.Source.Set, Digits: 4}, {Name: "gap", Digits: 4}},
		Rows: [][]render.Cell{
			sidesRow(d.Loss.Sides, "loss ("+d.Loss.Name+")"),
			sidesRow(d.Error, "triplet_error"),
		},
		Notes: []string{fmt.Sprintf("%d random triplets of each set; %s; %s", d.Options.Triplets, d.drawn(), d.losses())},
	}
	if n := d.Options.Limit; n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("at most %d images of each set (%s)", n, option.Name("limit")))
	}
	if ref := d.Reference; ref != nil {
		t.Columns = append(t.Columns, render.Column{Name: "control", Digits: 4}, render.Column{Name: "controlled gap", Digits: 4})
		t.Notes = append(t.Notes, fmt.Sprintf("control: train - test of %s (step %d, %d training images, none of them among these), of mean 0; controlled gap: %s", ref.Run, ref.Step, ref.Train.Items, d.coefficients()))
	}
	if d.Loss.Of == "pairs" {
		t.Notes = append(t.Notes, "the loss is of pairs: a triplet costs the sum of its two")
	}
	if d.Bound != nil {
		t.Notes = append(t.Notes, BoundWords(d.Bound))
	} else {
		t.Notes = append(t.Notes, "no bound: Theorem 1 needs the largest loss, and all measured losses are 0")
	}
	return t
}

// drawn says where the intervals are from.
func (d *GapDoc) drawn() string {
	switch {
	case d.Options.Bootstrap == 0:
		return "no intervals (" + option.Name("bootstrap") + " 0)"
	case d.Loss.Gap.CI95 == nil:
		return fmt.Sprintf("no intervals: resampling %s leaves no triplet", d.Resampled)
	}
	return fmt.Sprintf("intervals by resampling %s", d.Resampled)
}

// losses says how large they are.
func (d *GapDoc) losses() string {
	if d.Loss.Smallest < 0 {
		return fmt.Sprintf("losses are %.4g to %.4g", d.Loss.Smallest, d.Loss.Largest)
	}
	return fmt.Sprintf("the largest loss is %.4g", d.Loss.Largest)
}

// coefficients says how the control enters.
func (d *GapDoc) coefficients() string {
	if d.Loss.Gap.CI95 == nil {
		return "gap + control, since without resamples no better coefficient than 1 is known"
	}
	return fmt.Sprintf("gap + %.2g of the control (triplet error: %.2g), the coefficient of least variance over the resamples", *d.Loss.Coefficient, *d.Error.Coefficient)
}

func sidesRow(g record.Sides, name string) []render.Cell {
	row := []render.Cell{render.Text(name), summary.Measured(g.Train), summary.Measured(g.Test), summary.Measured(g.Gap)}
	if g.Controlled != nil {
		row = append(row, summary.Measured(*g.Control), summary.Measured(*g.Controlled))
	}
	return row
}
