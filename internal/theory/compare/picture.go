package compare

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/record"
	"tercet/internal/render"
)

// Curves draws a picture for each document: a panel for each series, on logarithmic axes,
// with the measurements, the fitted rate and the bounds, to base-DATA-CLAIM.png and .svg.
// It returns the PNG files.
func (s *Study) Curves(base string) ([]string, error) {
	if e := filepath.Ext(base); strings.EqualFold(e, ".png") || strings.EqualFold(e, ".svg") {
		base = strings.TrimSuffix(base, e)
	}
	var out []string
	for i := range s.Documents {
		d := &s.Documents[i]
		name := d.Claim
		if name == "" {
			name = strings.TrimSuffix(filepath.Base(d.File), ".json")
		}
		file := base + "-" + strings.ToLower(strings.ReplaceAll(d.Data.Name, " ", "-")+"-"+name)
		if slices.Contains(out, file+".png") {
			file += fmt.Sprintf("-%d", i)
		}
		if err := d.draw(file); err != nil {
			return out, err
		}
		out = append(out, file+".png")
	}
	return out, nil
}

// draw draws the panels of series that have a positive mean, side by side.
func (d *Document) draw(base string) error {
	var panels []*render.Scaling
	known := d.sources()
	for _, s := range d.Series {
		if p := panelOf(s, known); p != nil {
			panels = append(panels, p)
		}
	}
	if panels == nil {
		return fmt.Errorf("plot %s: no mean is above 0, and a logarithmic axis shows no other", base)
	}
	cols := min(len(panels), 3)
	if len(panels) == 4 {
		cols = 2
	}
	sheet := &render.ScalingSheet{Title: d.title(), Note: d.subtitle(), Width: 290, Height: 250, PadTop: 14,
		// without bounds what is compared are the panels
		OneScale: len(known) == 0 && d.Series[0].Quantity == d.Series[len(d.Series)-1].Quantity}
	if cols == 1 { // room for the title
		sheet.Width = 440
	}
	for at := 0; at < len(panels); at += cols {
		row := make([]*render.Scaling, cols)
		copy(row, panels[at:])
		sheet.Rows = append(sheet.Rows, row)
	}
	return sheet.Write(base)
}

// sources are the theorems that bound any series, in order: each has its dash in all
// panels.
func (d *Document) sources() []string {
	var out []string
	for _, s := range d.Series {
		for _, source := range sources(s) {
			if source != "" && !slices.Contains(out, source) {
				out = append(out, source)
			}
		}
	}
	return out
}

func (d *Document) title() string {
	if d.Claim == "" {
		return d.Says + ": " + d.Data.Name
	}
	return d.label() + " on " + d.Data.Name
}

func (d *Document) subtitle() string {
	of := fmt.Sprintf("%s against %s, d = %d, B = %g", d.Data.Positives, d.Data.Negatives, d.Data.Dims, d.Data.Radius)
	if d.Claim == "" {
		return of
	}
	return d.Says + " (" + of + ")"
}

// boundColors are those of boundKinds: what is printed is red, what is corrected green.
var boundColors = map[string]int{"printed": 3, "printed, tight": 1, "corrected": 2, "corrected, tight": 5}

// panelOf draws one series; known are the theorems of all panels, each has its
// dash. It is nil where no mean is positive.
func panelOf(s record.MetricSeries, known []string) *render.Scaling {
	if !slices.ContainsFunc(s.Points, func(q record.MetricPoint) bool { return q.Measured.Value > 0 && q.X > 0 }) {
		return nil
	}
	// The axis has a short name: gonum takes room for a long one above a logarithmic axis.
	axis, _, _ := strings.Cut(quantityName(s.Quantity), ",")
	p := &render.Scaling{Title: s.Name, XLabel: s.Axis, YLabel: axis}
	if r := s.Rate; r != nil {
		p.SetFit(r.Slope, r.Intercept, r.CI95)
	}
	points := slices.Clone(s.Points)
	slices.SortStableFunc(points, func(a, b record.MetricPoint) int { return cmp.Compare(a.X, b.X) })
	for _, q := range points {
		p.Points = append(p.Points, render.ScalingPoint{X: q.X, Y: q.Measured.Value, CI95: q.Measured.CI95, Repeats: q.Repeats})
	}
	for _, source := range sources(s) {
		for _, k := range boundKinds {
			l := render.ScalingLine{Name: source + ", " + k.name, Color: boundColors[k.name], Dash: max(0, slices.Index(known, source))}
			for _, q := range points {
				for _, b := range q.Bounds {
					if b.Source == source && boundKind(b) == k.name && b.Value > 0 {
						l.X, l.Y = append(l.X, q.X), append(l.Y, b.Value)
					}
				}
			}
			if l.X != nil {
				p.Lines = append(p.Lines, l)
			}
		}
	}
	return p
}
