package generalize

import (
	"fmt"
	"path/filepath"
	"slices"

	"tercet/internal/embed"
	"tercet/internal/record"
	"tercet/internal/render"
)

// File is stability.json.
func (d *StabilityDoc) File() string { return d.Source.File("stability") }

// Cautions are the warnings.
func (d *StabilityDoc) Cautions() []string { return d.Warnings }

// Table has a row for each replacement.
func (d *StabilityDoc) Table() *render.Table {
	t := &render.Table{
		Title: fmt.Sprintf("%s: retrained with one image replaced, evaluated on %d %s images", d.Source.Run, d.Source.Items, d.Source.Set),
		Columns: []render.Column{
			{Name: "image"}, {Name: "class"}, {Name: "by"}, {Name: "of class"}, {Name: "uses"}, {Name: "max |l - l'|", Digits: 4}, {Name: "99 %", Digits: 5}, {Name: "mean", Digits: 5},
			{Name: "cos mean", Digits: 5}, {Name: "cos max", Digits: 4}, {Name: "recall@1", Digits: 4}, {Name: "nearest changed", Percent: true}, {Name: "weights", Percent: true},
		},
		Notes: []string{
			fmt.Sprintf("gamma is at least %.4g: the largest change of the loss (%s) of %d triplets", d.Gamma, d.Loss, d.Options.Triplets),
			"uses: rows of batches; 99 %: as many triplets have no larger |l - l'|; cos: 1 - cosine of an image's two embeddings; recall@1: its change; weights: |w' - w| / |w|",
		},
	}
	for _, r := range d.Replaced {
		row := []render.Cell{render.Int(r.Image), render.Text(r.Class), render.Text(fmt.Sprintf("%s (%s %d)", ReplacementWord(r.Kind), r.Of, r.By)), render.Text(r.Other), render.Int(r.Uses)}
		if r.Image == noImage {
			row[0], row[4] = render.Text("none"), render.Missing()
		}
		if m := r.Movement; m != nil {
			for _, v := range []float64{m.LossMax, m.LossP99, m.LossMean, m.CosineMean, m.CosineMax, m.Recall, m.Neighbors, m.WeightsShare} {
				row = append(row, render.Number(v))
			}
		} else {
			row = append(row, render.Text(string(r.Status)))
		}
		for len(row) < len(t.Columns) {
			row = append(row, render.Missing())
		}
		t.Rows = append(t.Rows, row)
	}
	if slices.ContainsFunc(d.Kinds, func(k record.KindSummary) bool { return k.Kind == ReplaceUlp }) {
		t.Notes = append(t.Notes, ReplaceUlp+": the control: no image is replaced, and one weight begins at the next float32; what it changes is not the influence of an image, and gamma is without it")
	}
	for _, k := range d.Kinds {
		t.Notes = append(t.Notes, fmt.Sprintf("%s (%d): largest change of a loss %.4g; median %.4g, 99 %% %.4g, mean %.4g; cosine %.4g; recall@1 %+.4f; %.1f %% of nearest images changed; weights %.2f %%",
			ReplacementWord(k.Kind), k.N, k.Gamma, k.LossP50, k.LossP99, k.LossMean, k.CosineMean, k.Recall, 100*k.Neighbors, 100*k.Weights))
	}
	for _, c := range d.Controls {
		t.Notes = append(t.Notes, controlWords(c))
	}
	return t
}

func (d *StabilityDoc) pictures() []string { return []string{"stability.png", "stability.svg"} }

// Draw draws the replacements sorted by how far they move a loss.
func (d *StabilityDoc) Draw(dir string) ([]string, error) {
	var bars []render.Replaced
	for _, r := range d.Replaced {
		if m := r.Movement; m != nil {
			name := fmt.Sprint(r.Image)
			if r.Image == noImage {
				name = fmt.Sprint("w ", r.By)
			}
			bars = append(bars, render.Replaced{Name: name, Kind: ReplacementWord(r.Kind), LossMax: m.LossMax, LossMean: m.LossMean, Cosine: m.CosineMean, Neighbors: m.Neighbors})
		}
	}
	if len(bars) == 0 {
		return nil, fmt.Errorf("no retraining finished")
	}
	if err := embed.FigureFolder(dir); err != nil {
		return nil, err
	}
	base := filepath.Join(dir, "stability")
	note := fmt.Sprintf("each bar a training with one training image replaced; %d triplets of %d %s images", d.Options.Triplets, d.Source.Items, d.Source.Set)
	return []string{base + ".png"}, render.Stability(base, fmt.Sprintf("%s: change of the network by one training image", filepath.Base(d.Source.Run)), note, bars)
}
