package report

import (
	"fmt"
	"image/color"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/render"
	"tercet/internal/text"
)

// drawPairs draws a picture for each data set, model and, unless together is set, number
// of classes of rows, as make composes it, to base-DATA.png and .svg with what else
// tells them apart. It returns the PNG files.
func drawPairs(base string, rows []*PairRow, together bool, make func(rows []*PairRow, paint *paints) *render.Chart) ([]string, error) {
	if e := filepath.Ext(base); strings.EqualFold(e, ".png") || strings.EqualFold(e, ".svg") {
		base = strings.TrimSuffix(base, e)
	}
	var order []string
	groups := map[string][]*PairRow{}
	for _, r := range rows {
		name := r.Data
		if varies(rows, func(r *PairRow) string { return r.Model }) {
			name += "-" + r.Model
		}
		if !together && varies(rows, func(r *PairRow) string { return fmt.Sprint(r.Classes) }) {
			name += fmt.Sprintf("-%d", r.Classes)
		}
		if groups[name] == nil {
			order = append(order, name)
		}
		groups[name] = append(groups[name], r)
	}
	paint := newPaints(rows)
	var out []string
	for _, name := range order {
		file := base + "-" + name
		if err := make(groups[name], paint).Write(file); err != nil {
			return out, err
		}
		out = append(out, file+".png")
	}
	return out, nil
}

// varies tells whether rows have several values.
func varies(rows []*PairRow, of func(*PairRow) string) bool {
	return slices.ContainsFunc(rows, func(r *PairRow) bool { return of(r) != of(rows[0]) })
}

// pictureOf says what all rows of a picture are of.
func pictureOf(rows []*PairRow) string {
	r := rows[0]
	out := r.Data
	if !varies(rows, func(r *PairRow) string { return fmt.Sprint(r.Classes) }) {
		out += ", " + text.Plural(r.Classes, "class", "classes")
	}
	if !varies(rows, func(r *PairRow) string { return r.Model }) {
		out += ", " + r.Model
	}
	return out
}

// panelRows are the rows of one panel.
type panelRows struct {
	title string
	rows  []*PairRow
}

// columnsOf is the number of panels in a row of a picture of n.
func columnsOf(n int) int {
	if n == 4 {
		return 2
	}
	return min(n, 3)
}

// panelsOf parts rows by scenario and whatever else of their pairs they differ in, and
// by more, which may be nil.
func panelsOf(rows []*PairRow, more func(*PairRow) string) []panelRows {
	parts := []func(*PairRow) string{
		func(r *PairRow) string { return scenarioName(r.Scenario) },
		func(r *PairRow) string { return r.Negatives + " negatives" },
		func(r *PairRow) string { return r.Order },
		(*PairRow).drawn,
		(*PairRow).other,
	}
	if more != nil {
		parts = append(parts, more)
	}
	var out []panelRows
	for _, r := range rows {
		title := parts[0](r)
		for _, part := range parts[1:] {
			if words := part(r); varies(rows, part) && words != "" {
				title += ", " + words
			}
		}
		i := slices.IndexFunc(out, func(p panelRows) bool { return p.title == title })
		if i < 0 {
			i, out = len(out), append(out, panelRows{title: title})
		}
		out[i].rows = append(out[i].rows, r)
	}
	return out
}

// sizeName is a row's width, or its parameters where the model has no width.
func (row *PairRow) sizeName() string {
	if row.Width > 0 {
		return fmt.Sprintf("width %d", row.Width)
	}
	return render.ShortSize(float64(row.Parameters)) + " parameters"
}

func scenarioName(s string) string {
	switch s {
	case "s1":
		return "S1 (sparse)"
	case "s2":
		return "S2 (dense)"
	}
	return s
}

// paints gives each noise its colour: a kind has a hue, a rate a shade of it.
type paints struct {
	names  []string
	colors []color.RGBA
}

var noiseHues = map[string][]color.RGBA{
	"none": {render.Palette[9]},
	"pln":  {render.Palette[5], render.Palette[0], render.Palette[8]},
	"sln":  {render.Palette[1], render.Palette[3], render.Palette[6]},
}

// noiseHue is the middle shade of a kind of noise.
func noiseHue(kind string) color.RGBA {
	if h := noiseHues[kind]; h != nil {
		return h[len(h)/2]
	}
	return render.Palette[2]
}

func newPaints(rows []*PairRow) *paints {
	p := &paints{}
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b *PairRow) int {
		switch {
		case a.Wanted < b.Wanted:
			return -1
		case a.Wanted > b.Wanted:
			return 1
		}
		return 0
	})
	rates := map[string][]*PairRow{} // of each kind, a row for each rate
	for _, r := range sorted {
		if name := r.noiseName(); !slices.Contains(p.names, name) {
			p.names = append(p.names, name)
			rates[r.Noise] = append(rates[r.Noise], r)
		}
	}
	for _, name := range p.names {
		for kind, list := range rates {
			k := slices.IndexFunc(list, func(r *PairRow) bool { return r.noiseName() == name })
			if k < 0 {
				continue
			}
			hues := noiseHues[kind]
			if hues == nil {
				hues = []color.RGBA{render.Palette[4], render.Palette[2], render.Palette[7]}
			}
			if len(list) == 1 { // the middle shade
				k = len(hues) / 2
			}
			p.colors = append(p.colors, hues[k%len(hues)])
		}
	}
	return p
}

func (p *paints) of(r *PairRow) color.RGBA {
	return p.colors[slices.Index(p.names, r.noiseName())]
}
