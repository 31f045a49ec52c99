package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/render"
	"tercet/internal/theory/measure"
)

// Table has a row for each kind of replacement and number of training images.
func (s *NetworkStability) Table(full bool) *render.Table {
	t := &render.Table{
		Title:   "stability of networks against the number of training images",
		Columns: []render.Column{{Name: "data"}, {Name: "setting"}, {Name: "by"}, {Name: "n"}, {Name: "runs"}, {Name: "replaced"}, {Name: "gamma", Digits: 3}},
	}
	for _, q := range movedBy {
		t.Columns = append(t.Columns, render.Column{Name: q.name, Digits: 4})
	}
	t.Columns = append(t.Columns, render.Column{Name: "neighbours", Digits: 3}, render.Column{Name: "weights", Digits: 3})
	for _, c := range s.Curves {
		for _, p := range c.Points {
			row := []render.Cell{render.Text(c.Data), render.Text(c.Setting), render.Text(c.Kind), render.Int(p.N), render.Int(len(p.Runs)), render.Int(p.Replaced), render.Number(p.Gamma)}
			for _, m := range p.Means {
				row = append(row, m.cell)
			}
			t.Rows = append(t.Rows, append(row, p.Neighbors.cell.Brief(), p.Weights.cell.Brief()))
		}
	}
	for _, c := range s.Curves {
		var words []string
		for i, q := range movedBy {
			words = append(words, rateWords(q.name, c.Rates[i], c.RateNotes[i]))
		}
		t.Notes = append(t.Notes, fmt.Sprintf("%s: slope of log mean on log n: %s", c.name(), strings.Join(words, "; ")))
	}
	if slices.ContainsFunc(s.Curves, (*NetworkStabilityCurve).fewRepeats) {
		t.Notes = append(t.Notes, fewRepeatsNote)
	}
	t.Notes = append(t.Notes, slices.Concat(s.Notes, []string{
		"a training image is replaced, the network trained again by the same batches, and |l - l'| taken over triplets of held-out images: means over replacements with 95 % intervals by Student's t; a slope's interval is by bootstrap over the replacements of each n",
		"gamma: the largest change by any replacement, a lower estimate of the uniform stability; neighbors: share of the held-out images with another nearest one; weights: |w' - w| / |w|",
	})...)
	if !full {
		dropConstant(t)
	}
	return t
}

// fewRepeats says that slopes have intervals, of few replacements at some size.
func (c *NetworkStabilityCurve) fewRepeats() bool {
	return slices.ContainsFunc(c.Rates, func(r *measure.Rate) bool { return r != nil && r.CI95 != nil }) &&
		slices.ContainsFunc(c.Points, func(p *NetworkStabilityPoint) bool { return p.Replaced < enoughRepeats })
}

func (c *NetworkStabilityCurve) name() string {
	return strings.TrimPrefix(c.Setting+", ", ", ") + "replaced by " + c.Kind
}

// series is one number of a curve as the pictures of stability draw it.
func (c *NetworkStabilityCurve) series(i int) measure.Series {
	s := measure.Series{Name: movedBy[i].name, Quantity: "change", Axis: "training images", Rate: c.Rates[i]}
	for _, p := range c.Points {
		m := p.Means[i]
		s.Points = append(s.Points, measure.Point{X: float64(p.N), Measured: measure.Estimate{Value: *m.Value, CI95: m.CI95, N: m.N}, Repeats: p.values(movedBy[i].of)})
	}
	return s
}

// DrawCurves writes base-DATA-KIND.png and .svg for each data set and kind of replacement:
// a row of panels for each setting, of the largest, nearly largest and mean change against
// n, on logarithmic axes with their fitted lines. It returns the PNG files.
func (s *NetworkStability) DrawCurves(base string) ([]string, error) {
	if e := filepath.Ext(base); strings.EqualFold(e, ".png") || strings.EqualFold(e, ".svg") {
		base = strings.TrimSuffix(base, e)
	}
	rows := map[string][][]*render.Scaling{}
	var files, out []string
	titles := map[string]string{}
	for _, c := range s.Curves {
		var row []*render.Scaling
		for i := range movedBy {
			p := newStabilityPanel(c.series(i), nil)
			if p != nil && c.Setting != "" {
				p.Title = c.Setting + ": " + p.Title
			}
			row = append(row, p)
		}
		if !slices.ContainsFunc(row, func(p *render.Scaling) bool { return p != nil }) {
			continue
		}
		file := base + "-" + strings.ToLower(strings.ReplaceAll(c.Data, " ", "-")) + "-" + c.Kind
		if rows[file] == nil {
			files = append(files, file)
			titles[file] = "change of networks by one training image: " + c.Data + ", replaced by " + c.Kind
		}
		rows[file] = append(rows[file], row)
	}
	if files == nil {
		return nil, fmt.Errorf("plot %s: no replacement has changed a loss, and a logarithmic axis shows no zero", base)
	}
	for _, file := range files {
		if err := drawPanels(file, titles[file], "change of the loss of triplets of held-out images, by retraining with one image replaced; slope: of log mean on log n", rows[file], true); err != nil {
			return out, err
		}
		out = append(out, file+".png")
	}
	return out, nil
}
