package experiment

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"tercet/internal/attack"
	"tercet/internal/report"
)

// retrieved is the number of nearest images shown before and after an attack.
const retrieved = 5

// DrawAttack draws k queries under each of the attacks, of which pictures were
// kept (none given: all), in the fixed variant where there is one: the image, what is added, the result, what it
// was aimed at, and what is retrieved before and after, the query's own image left
// out. It writes dir/attack.png.
func (a *Attacked) DrawAttack(dir string, k int, attacks []string) (string, error) {
	if len(a.Result.Pictures) == 0 {
		return "", errors.New("the attack has kept no images")
	}
	if err := figureFolder(dir); err != nil {
		return "", err
	}
	var rows []report.AdversarialRow
	for _, p := range a.shownPictures() {
		if attacks != nil && !slices.Contains(attacks, p.Attack) {
			continue
		}
		list, err := a.pictureRows(p, k)
		if err != nil {
			return "", err
		}
		list[0].Heading = attackHeading(p)
		rows = append(rows, list...)
	}
	o := a.Doc.Options
	title := fmt.Sprintf("%s under attack, %s eps %s", filepath.Base(a.Doc.Source.Run), o.Norm, epsWords(o.Norm, o.Eps))
	path := filepath.Join(dir, "attack.png")
	return path, report.AdversarialSheet(path, title, rows, 0)
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

// attackHeading says what an attack wants.
func attackHeading(p *attack.Pictures) string {
	what := p.Attack + " (" + string(p.Variant) + ")"
	if goal := attackGoals[p.Attack]; goal != "" {
		what += ": " + goal
	}
	return what
}

// attackGoals says in a few words what the attacker wants.
var attackGoals = map[string]string{
	"CA+":   "the image is to be retrieved by the query aimed at",
	"CA-":   "the image is no longer to be retrieved by the query aimed at",
	"QA+":   "the image aimed at is to be retrieved first",
	"QA-":   "the image aimed at is to be retrieved last",
	"SPQA+": "the image aimed at is to be retrieved first, the others as before",
	"SPQA-": "the image aimed at is to be retrieved last, the others as before",
	"TMA":   "the embedding is to have the direction of the one aimed at",
	"ES":    "the embedding is to move as far as it can",
	"LTM":   "all other classes are to be nearer than the own one",
	"GTM":   "the nearest image of another class, aimed at, is to be retrieved first",
	"GTT":   "the nearest image, aimed at, is to be retrieved no longer",
}

func (a *Attacked) pictureRows(p *attack.Pictures, k int) ([]report.AdversarialRow, error) {
	n := p.Clean.Rows()
	rows := make([]report.AdversarialRow, min(k, n))
	ds, r := a.Embedded.Data, a.Result
	for i := range rows {
		at := i * n / len(rows)
		place := p.Kept[at]
		q := r.Queries[place]
		row := &rows[i]
		row.Clean = report.Tile{Image: picture(p.Clean, at), Caption: ds.Classes()[ds.Labels()[q]]}
		row.Adversarial = report.Tile{Image: picture(p.Adversarial, at), Caption: a.achieved(p, place)}
		if len(p.Targets[at]) > 0 {
			t, err := tile(ds, int(p.Targets[at][0]))
			if err != nil {
				return nil, err
			}
			row.Target = &t
		}
		var err error
		if row.Before, err = a.neighbours(a.Embedded.Vectors.Row(q), q); err != nil {
			return nil, err
		}
		if row.After, err = a.neighbours(p.Embedding.Row(at), q); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// achieved says what became of one query, the clean value before the arrow.
func (a *Attacked) achieved(p *attack.Pictures, place int) string {
	for i := range a.Result.Scored {
		s := &a.Result.Scored[i]
		key := attack.ScoreKeys(p.Attack)[0]
		k := s.Column(key)
		if s.Variant != p.Variant || k < 0 {
			continue
		}
		clean, now := s.Clean[k][place], s.Adversarial[k][place]
		switch key {
		case "LTM", "GTM":
			return recallWords(clean == 1, now == 1)
		case "GTT":
			if now > 0 {
				return "still among 4"
			}
			return "gone"
		case "ES:D":
			return fmt.Sprintf("shift %.2f", now)
		case "TMA":
			return fmt.Sprintf("%.2f to %.2f", clean, now)
		}
		return fmt.Sprintf("%.1f to %.1f %%", 100*clean, 100*now)
	}
	return ""
}

// recallWords says whether the first image retrieved is right, and was when clean.
func recallWords(clean, now bool) string {
	switch {
	case now && clean:
		return "still right"
	case now:
		return "now right"
	case clean:
		return "wrong"
	}
	return "wrong before too"
}

// neighbours are the images nearest to an embedding but query, nearest first; the
// first of equally near ones comes first.
func (a *Attacked) neighbours(z []float32, query int) ([]report.Neighbour, error) {
	ds, x := a.Embedded.Data, a.Embedded.Vectors
	type item struct {
		at int
		d  float64
	}
	var best []item
	for j := range x.Rows() {
		if j == query {
			continue
		}
		d := 0.0
		for k, v := range x.Row(j) {
			e := float64(v) - float64(z[k])
			d += e * e
		}
		at := len(best)
		for at > 0 && best[at-1].d > d {
			at--
		}
		if at == retrieved {
			continue
		}
		best = slices.Insert(best, at, item{j, d})
		best = best[:min(len(best), retrieved)]
	}
	var out []report.Neighbour
	for _, b := range best {
		t, err := tile(ds, b.at)
		if err != nil {
			return nil, err
		}
		out = append(out, report.Neighbour{Tile: t, Correct: ds.Labels()[b.at] == ds.Labels()[query]})
	}
	return out, nil
}

// epsWords gives eps in 1/255 where that is what it is.
func epsWords(norm string, eps float64) string {
	if norm == "linf" {
		return fmt.Sprintf("%.4g/255", 255*eps)
	}
	return fmt.Sprintf("%.4g", eps)
}

// curvePanels says which scores of a curve stand together, in which unit; ERS has
// its own panel, and rate multiplies them.
var curvePanels = []struct {
	label string
	rate  float64
	keys  []string
}{
	{"ERS (%)", 100, []string{"ERS"}},
	{"right or still there (%)", 100, []string{"ES:R", "LTM", "GTM", "GTT"}},
	{"rank (% of the images)", 100, []string{"CA+", "CA-", "QA+", "QA-"}},
	{"rank (%), with what is to stay (GT)", 100, []string{"SPQA+", "SPQA+:GT", "SPQA-", "SPQA-:GT"}},
	{"cosine (TMA), distance (ES:D)", 1, []string{"TMA", "ES:D"}},
}

// Draw writes dir/attack-curve.png and .svg: the scores against eps, in 1/255 for
// the linf ball. Solid lines are of the fixed variant, dashed ones published.
func (d *CurveDoc) Draw(dir string) (string, error) {
	if err := figureFolder(dir); err != nil {
		return "", err
	}
	scale, x := 1.0, d.Options.Norm+" eps"
	if d.Options.Norm == "linf" {
		scale, x = 255, "eps (1/255 of the pixel range)"
	}
	variants := []string{string(attack.Fixed), string(attack.Published)}
	var panels []report.Panel
	for _, p := range curvePanels {
		panel := report.Panel{YLabel: p.label, FromZero: p.rate == 100}
		for _, key := range p.keys {
			for _, v := range variants {
				l := report.Series{Name: key, Dashed: v == string(attack.Published) && slices.Contains(d.Options.Variants, string(attack.Fixed))}
				for _, at := range d.Points {
					if s, ok := at.Scores[v].Get(key); ok {
						l.X, l.Y = append(l.X, scale*at.Eps), append(l.Y, p.rate*s.Value)
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
	return base + ".png", report.CurveGrid(base, title, d.variantNote(), x, panels)
}

func (d *CurveDoc) variantNote() string {
	if v := d.Options.Variants; len(v) == 1 {
		return "variant: " + v[0]
	}
	return "solid: fixed; dashed: published"
}
