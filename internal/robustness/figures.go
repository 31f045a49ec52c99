package robustness

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/text"
)

// retrieved is the number of nearest images shown before and after an attack.
const retrieved = 5

// DrawAttack draws k queries under each of the attacks, of which pictures were
// kept (none given: all), in the fixed variant where there is one: the image, what is added, the result, what it
// was aimed at, and what is retrieved before and after, the query's own image left
// out. It writes dir/attack.png,
// and thumbnails for pages.
func (a *Attacked) DrawAttack(dir string, k int, attacks []string) (string, error) {
	if len(a.Result.Pictures) == 0 {
		return "", errors.New("the attack has kept no images")
	}
	if err := embed.FigureFolder(dir); err != nil {
		return "", err
	}
	var rows []render.AdversarialRow
	for _, p := range a.shownPictures() {
		if attacks != nil && !slices.Contains(attacks, p.Attack) {
			continue
		}
		list, err := a.pictureRows(p, k)
		if err != nil {
			return "", err
		}
		list[0].Heading = heading(p)
		rows = append(rows, list...)
	}
	if err := render.WriteGallery(filepath.Join(dir, "attack-gallery"), render.AdversarialGallery(rows)); err != nil {
		return "", err
	}
	o := a.Doc.Options
	title := fmt.Sprintf("%s under attack, %s eps %s", filepath.Base(a.Doc.Source.Run), o.Norm, text.Eps(o.Norm, o.Eps))
	path := filepath.Join(dir, "attack.png")
	return path, render.AdversarialSheet(path, title, rows, 0)
}

// shownPictures are those of each attack in one variant: fixed, if it ran.
func (a *Attacked) shownPictures() []*attack.Pictures {
	var out []*attack.Pictures
	for _, p := range a.Result.Pictures {
		i := slices.IndexFunc(out, func(q *attack.Pictures) bool { return q.Attack == p.Attack })
		switch {
		case i < 0:
			out = append(out, p)
		case p.Variant == attack.Fixed:
			out[i] = p
		}
	}
	return out
}

// heading says what an attack wants.
func heading(p *attack.Pictures) string {
	what := p.Attack + " (" + string(p.Variant) + ")"
	if a, err := attack.Named(p.Attack); err == nil {
		what += ": " + a.Goal
	}
	return what
}

func (a *Attacked) pictureRows(p *attack.Pictures, k int) ([]render.AdversarialRow, error) {
	n := p.Clean.Rows()
	rows := make([]render.AdversarialRow, min(k, n))
	ds := a.Embedded.Data
	for i := range rows {
		at := i * n / len(rows)
		place, q := p.Kept[at], p.Items[at]
		among := a.Gallery
		if described, err := attack.Named(p.Attack); err == nil && described.Candidates {
			among = among.Queries()
		}
		row := &rows[i]
		row.Clean = render.Tile{Image: picture(p.Clean, at), Caption: ds.Classes()[ds.Labels()[q]]}
		row.Adversarial = render.Tile{Image: picture(p.Adversarial, at), Caption: a.achieved(p, place)}
		if len(p.Targets[at]) > 0 {
			t, err := embed.Tile(ds, int(p.Targets[at][0]))
			if err != nil {
				return nil, err
			}
			row.Target = &t
		}
		var err error
		if row.Before, err = a.neighbors(a.Embedded.Vectors.Row(q), q, among); err != nil {
			return nil, err
		}
		if row.After, err = a.neighbors(p.Embedding.Row(at), q, among); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// achieved says what became of one query.
func (a *Attacked) achieved(p *attack.Pictures, place int) string {
	described, err := attack.Named(p.Attack)
	if err != nil {
		return ""
	}
	for i := range a.Result.Scored {
		s := &a.Result.Scored[i]
		if k := s.Column(described.Scores[0].Key); k >= 0 && s.Variant == p.Variant {
			return described.Achieved(s.Clean[k][place], s.Adversarial[k][place])
		}
	}
	return ""
}

// neighbors are the images of a gallery nearest to an embedding but those that query is
// not compared with, nearest first; the first of equally near ones comes first.
func (a *Attacked) neighbors(z []float32, query int, among *retrieval.Gallery) ([]render.Neighbor, error) {
	ds, x := a.Embedded.Data, among.X
	hidden := among.Hidden(query)
	type item struct {
		at int
		d  float64
	}
	var best []item
	for j := range x.Rows() {
		if slices.Contains(hidden, int32(j)) {
			continue
		}
		d := 0.0
		for k, v := range x.Row(j) {
			e := float64(v) - float64(z[k])
			d += float64(e * e)
		}
		at := len(best)
		for at > 0 && best[at-1].d > d {
			at--
		}
		if at == retrieved {
			continue
		}
		best = slices.Insert(best, at, item{int(among.Image(int32(j))), d})
		best = best[:min(len(best), retrieved)]
	}
	var out []render.Neighbor
	for _, b := range best {
		t, err := embed.Tile(ds, b.at)
		if err != nil {
			return nil, err
		}
		out = append(out, render.Neighbor{Tile: t, Correct: ds.Labels()[b.at] == ds.Labels()[query]})
	}
	return out, nil
}

// DrawCurve writes dir/attack-curve.png and .svg: the scores against eps, in 1/255 for
// the linf ball. Solid lines are of the fixed variant, dashed ones published.
func DrawCurve(d *record.Curve, dir string) (string, error) {
	if err := embed.FigureFolder(dir); err != nil {
		return "", err
	}
	scale, x := 1.0, d.Options.Norm+" eps"
	if d.Options.Norm == "linf" {
		scale, x = 255, "eps (1/255 of the pixel range)"
	}
	variants := []string{string(attack.Fixed), string(attack.Published)}
	var panels []render.Panel
	for _, label := range attack.Panels() {
		panel := render.Panel{YLabel: string(label)}
		for _, score := range attack.Scores() {
			if score.Panel != label {
				continue
			}
			rate := 1.0
			if score.Unit == attack.Fraction {
				rate, panel.FromZero = 100, true
			}
			for _, v := range variants {
				l := render.Series{Name: score.Key, Dashed: v == string(attack.Published) && slices.Contains(d.Options.Variants, string(attack.Fixed))}
				for _, at := range d.Points {
					if s, ok := at.Scores[v].Get(score.Key); ok {
						l.X, l.Y = append(l.X, scale*at.Eps), append(l.Y, rate*s.Value)
					}
				}
				if l.X != nil {
					panel.Lines = append(panel.Lines, l)
				}
			}
		}
		if panel.Lines != nil {
			panels = append(panels, panel)
		}
	}
	base := filepath.Join(dir, "attack-curve")
	queries := "queries"
	if d.Queries == 1 {
		queries = "query"
	}
	title := fmt.Sprintf("%s: scores against eps, %d %s, %d steps", filepath.Base(d.Source.Run), d.Queries, queries, d.Options.Iterations)
	return base + ".png", render.CurveGrid(base, title, variantNote(d), x, panels)
}

func variantNote(d *record.Curve) string {
	if v := d.Options.Variants; len(v) == 1 {
		return "variant: " + v[0]
	}
	return "solid: fixed; dashed: published"
}

func picture(a *array.Array, i int) render.Image {
	return render.Image{Pix: a.Row(i), H: a.Shape[1], W: a.Shape[2], C: a.Shape[3]}
}
