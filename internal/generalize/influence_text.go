package generalize

import (
	"errors"
	"fmt"
	"path/filepath"

	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/render"
	"tercet/internal/text"
)

// File is influence.json.
func (d *InfluenceDoc) File() string { return d.Source.File("influence") }

// Cautions are the warnings.
func (d *InfluenceDoc) Cautions() []string { return d.Warnings }

// Table has a row for each image, the most moving first.
func (d *InfluenceDoc) Table() *render.Table {
	t := &render.Table{
		Title: fmt.Sprintf("%s: %s on from step %d with one image replaced, evaluated on %d %s images", d.Source.Run, text.Plural(d.Options.Steps, "step", "steps"), d.Source.Step, d.Source.Items, d.Source.Set),
		Columns: []render.Column{
			{Name: "image"}, {Name: "class"}, {Name: "by"}, {Name: "uses"}, {Name: "cos mean", Digits: 6}, {Name: "cos max", Digits: 5},
			{Name: "max |l - l'|", Digits: 4}, {Name: "mean", Digits: 5}, {Name: "nearest changed", Percent: true}, {Name: "most changed"},
		},
		Notes: []string{
			fmt.Sprintf("change by these steps alone: cos mean %.4g, max |l - l'| %.4g, nearest changed %.1f %%", d.Drifted.CosineMean, d.Drifted.LossMax, 100*d.Drifted.Neighbors),
			"uses: rows of the batches of these steps; cos: 1 - cosine of an image's two embeddings; most changed: the " + d.Source.Set + " image",
		},
	}
	for _, r := range d.Images {
		m := r.Movement
		most := render.Missing()
		if len(m.Most) > 0 {
			most = render.Int(m.Most[0].Item)
		}
		t.Rows = append(t.Rows, []render.Cell{
			render.Int(r.Image), render.Text(r.Class), render.Text(fmt.Sprintf("%s (%s %d)", ReplacementWord(r.Kind), r.Of, r.By)), render.Int(r.Uses), render.Number(m.CosineMean), render.Number(m.CosineMax),
			render.Number(m.LossMax), render.Number(m.LossMean), render.Number(m.Neighbors), most,
		})
	}
	return t
}

func (d *InfluenceDoc) pictures() []string { return []string{"influence.png"} }

// mosaicRows is how many images the picture shows.
const mosaicRows = 8

// Draw shows the images that move most, each beside what replaced it and the images that
// it moves.
func (d *InfluenceDoc) Draw(dir string) ([]string, error) {
	var rows []render.MosaicGroup
	for _, r := range d.Images[:min(mosaicRows, len(d.Images))] {
		if len(r.Movement.Most) == 0 { // in batches, but in no tuple with a gradient
			continue
		}
		g := render.MosaicGroup{Name: fmt.Sprintf("image %d (%s)", r.Image, r.Class), Note: fmt.Sprintf("1 - cos %.2g, %s", r.Movement.CosineMean, text.Plural(r.Uses, "use", "uses"))}
		from := d.held
		if r.Of == "train" {
			from = d.train
		}
		add := func(ds data.Dataset, i int, caption string) error {
			m, err := embed.Tile(ds, i)
			if err != nil {
				return err
			}
			m.Caption = caption
			g.Members = append(g.Members, render.Member{Tile: m})
			return nil
		}
		if err := add(d.train, r.Image, "with"); err != nil {
			return nil, err
		}
		if err := add(from, r.By, "without"); err != nil {
			return nil, err
		}
		for _, m := range r.Movement.Most {
			if err := add(d.held, m.Item, fmt.Sprintf("%s: %.2g", d.held.Classes()[d.held.Labels()[m.Item]], m.Cosine)); err != nil {
				return nil, err
			}
		}
		rows = append(rows, g)
	}
	if rows == nil {
		return nil, errors.New("none of the images changes the network")
	}
	if err := embed.FigureFolder(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "influence.png")
	title := fmt.Sprintf("%s: training images that change the network most, and the %s images that change most (1 - cos)", filepath.Base(d.Source.Run), d.Source.Set)
	return []string{path}, render.Mosaic(path, title, rows)
}
