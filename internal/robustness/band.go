package robustness

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"tercet/internal/attack/worst"
	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/stat"
	"tercet/internal/text"
)

// bandPoints is the number of budgets above 0 of a band.
const bandPoints = 20

// BandsOf returns the bands of a run's worst cases, one for each gallery. Each contains
// the certificate c if c is of the same weights, images, norm and gallery; c may be nil.
// It is an error if a query is certified at a radius at which an image breaks it.
func BandsOf(name string, w *record.Worst, c *record.Certify) ([]printed.Band, error) {
	var out []printed.Band
	for _, g := range w.Galleries {
		b := printed.Band{
			Run: name, Gallery: g.Gallery, Norm: w.Options.Norm,
			Attack: fmt.Sprintf("%s, eps %s%s", w.Options.Version, text.Eps(w.Options.Norm, w.Options.Eps), rundir.AttacksAge(w)),
		}
		ends, err := endsOf(w, g)
		if err != nil {
			return nil, fmt.Errorf("worst.json: %w", err)
		}
		if c != nil && sameSystem(c, w) && cmp.Or(c.Options.Gallery, worst.Full) == g.Gallery {
			both, err := provenOf(c, ends)
			if err != nil {
				return nil, fmt.Errorf("certify.json: %w", err)
			}
			if len(both) > 0 {
				ends, b.Method, b.Other = both, c.Options.Method, Smoothed(c.Options.Method)
			}
		}
		if b.Queries = len(ends); b.Queries == 0 {
			continue
		}
		for k := range bandPoints + 1 {
			b.Points = append(b.Points, pointOf(&b, ends, w.Options.Eps*float64(k)/bandPoints))
		}
		out = append(out, b)
	}
	return out, nil
}

// sameSystem reports whether a certificate and a worst case are of the same weights, images,
// norm and number of nearest rows.
func sameSystem(c *record.Certify, w *record.Worst) bool {
	a, b := c.Source, w.Source
	return w.Options.K <= 1 && c.Options.Norm == w.Options.Norm && a.Step == b.Step && a.Set == b.Set && a.Checkpoint == b.Checkpoint && a.Config == b.Config && a.Fingerprint == b.Fingerprint
}

// queryEnds are what is known of a query: within proven no perturbation breaks it, one of
// norm broken does. proven is negative for a query that is wrong when clean, broken infinite
// where nothing breaks it.
type queryEnds struct{ proven, broken float64 }

// endsOf are the radii of the queries of a worst case, by the index of their image.
func endsOf(w *record.Worst, g record.WorstGallery) (map[float32]queryEnds, error) {
	items, err := w.Items.Values(w.Queries)
	if err != nil {
		return nil, err
	}
	radius, err := g.Radius.Values(w.Queries)
	if err != nil {
		return nil, err
	}
	out := map[float32]queryEnds{}
	for i, item := range items {
		out[item] = queryEnds{-1, float64(radius[i])}
	}
	return out, nil
}

// provenOf are those of the queries that are certified, too, with the largest budget at which
// each is: what is proven at a budget is at smaller ones.
func provenOf(c *record.Certify, attacked map[float32]queryEnds) (map[float32]queryEnds, error) {
	items, err := c.Items.Values(c.Queries)
	if err != nil {
		return nil, err
	}
	right, err := c.Right.Values(c.Queries)
	if err != nil {
		return nil, err
	}
	most := make([]float64, c.Queries)
	for i := range most {
		most[i] = float64(right[i]) - 1 // right ones are proven at 0
	}
	if c.Radii != "" {
		radii, err := c.Radii.Values(c.Queries)
		if err != nil {
			return nil, err
		}
		for i, r := range radii {
			if right[i] == 1 {
				most[i] = max(most[i], float64(r))
			}
		}
	}
	for _, p := range c.Points {
		proven, err := p.Proven.Values(c.Queries)
		if err != nil {
			return nil, err
		}
		for i, is := range proven {
			if is == 1 {
				most[i] = max(most[i], p.Eps)
			}
		}
	}
	out := map[float32]queryEnds{}
	for i, item := range items {
		e, is := attacked[item]
		if !is {
			continue
		}
		if e.proven = most[i]; !Smoothed(c.Options.Method) && e.proven > 0 && e.broken <= float64(e.proven*(1-1e-6))-0x1p-23 {
			return nil, fmt.Errorf("query %.0f is certified at %s eps %.6g, and worst.json has a perturbation of norm %.6g that breaks it: one of the two is wrong; please report it", item, c.Options.Norm, e.proven, e.broken)
		}
		out[item] = e
	}
	return out, nil
}

// pointOf is a band at one budget.
func pointOf(b *printed.Band, ends map[float32]queryEnds, eps float64) printed.BandPoint {
	proven, unbroken := 0, 0
	for _, e := range ends {
		if e.proven >= eps*(1-1e-7) && e.proven >= 0 {
			proven++
		}
		if e.broken > eps*(1+1e-6) {
			unbroken++
		}
	}
	n := len(ends)
	ci := stat.Wilson(unbroken, n)
	p := printed.BandPoint{Eps: eps, Unbroken: record.Value{Value: float64(unbroken) / float64(n), CI95: &ci, Definition: "wcr@1(radius)"}}
	if b.Method == "" {
		return p
	}
	v := share(proven, n, "certr@1("+b.Method+")")
	if p.Certified = &v; !b.Other {
		unknown := float64(unbroken-proven) / float64(n)
		p.Unknown = &unknown
	}
	return p
}

// DrawBands writes base.png and base.svg: a panel for each norm and gallery, with a line of
// unbroken and one of certified queries for each run, and the band between the two.
func DrawBands(list []printed.Band, base string) ([]string, error) {
	chart := render.LineChart{Title: "Worst case over the budget", Cols: 2, Note: "above: no perturbation found breaks; below: proven; between: not known"}
	if slices.ContainsFunc(list, func(b printed.Band) bool { return b.Other }) {
		chart.Note = "unbroken: the network under attack; certified under noise: another system, no bound for it"
	}
	var runs, panels []string
	for _, b := range list {
		runs = lists.AppendNew(runs, b.Run)
		title := b.Norm + ", gallery " + b.Gallery
		k := slices.Index(panels, title)
		if k < 0 {
			k, panels = len(panels), append(panels, title)
			chart.Panels = append(chart.Panels, render.LinePanel{Title: title, XLabel: bandLabel(b.Norm), YLabel: "queries", Percent: true})
		}
		p := &chart.Panels[k]
		p.Traces = append(p.Traces, bandLines(b, slices.Index(runs, b.Run))...)
	}
	return []string{base + ".png", base + ".svg"}, chart.Write(base)
}

func bandLabel(norm string) string {
	if norm == "linf" {
		return "eps (1/255 of the pixel range)"
	}
	return norm + " eps"
}

// bandLines are the lines of a band in one color.
func bandLines(b printed.Band, color int) []render.Line {
	name := filepath.Base(b.Run)
	up := render.Line{Name: name, Color: color, Form: "solid", Label: "unbroken"}
	low := render.Line{Name: name, Color: color, Form: "dashed", Label: "certified"}
	band := render.Line{Name: name, Color: color, Form: "band", Label: "not known"}
	scale := 1.0
	if b.Norm == "linf" {
		scale = 255
	}
	for _, p := range b.Points {
		x, none := scale*p.Eps, math.NaN()
		up.X, up.Y = append(up.X, x), append(up.Y, render.Bar{Value: p.Unbroken.Value, Low: none, High: none})
		if p.Certified == nil {
			continue
		}
		low.X, low.Y = append(low.X, x), append(low.Y, render.Bar{Value: p.Certified.Value, Low: none, High: none})
		if p.Unknown != nil {
			band.X = append(band.X, x)
			band.Y = append(band.Y, render.Bar{Value: p.Unbroken.Value, Low: p.Certified.Value, High: p.Unbroken.Value})
		}
	}
	out := []render.Line{up}
	for _, l := range []render.Line{low, band} {
		if l.X != nil {
			out = append(out, l)
		}
	}
	return out
}
