package report

import (
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tercet/internal/theory/measure"
)

// Curves draws a picture for each document: a panel for each series, on logarithmic axes,
// with the measurements, the fitted rate and the bounds, to base-DATA-CLAIM.png and .svg.
// It returns the PNG files.
func (s *StabilityStudy) Curves(base string) ([]string, error) {
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
func (d *StabilityDocument) draw(base string) error {
	var panels []*stabilityPanel
	known := d.sources()
	for _, s := range d.Series {
		if p := newStabilityPanel(s); p != nil {
			p.dash(known)
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
	rows := (len(panels) + cols - 1) / cols
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, cols)
	}
	var drawn []*plot.Plot
	for i, p := range panels {
		pl := p.plot()
		grid[i/cols][i%cols], drawn = pl, append(drawn, pl)
	}
	if len(known) == 0 && panels[0].series.Quantity == panels[len(panels)-1].series.Quantity {
		oneScale(drawn) // without bounds what is compared are the panels
	}
	const side = 158
	each := vg.Points(290)
	if cols == 1 { // room for the title
		each = vg.Points(440)
	}
	width, height := vg.Points(40+side)+each*vg.Length(cols), vg.Points(76)+vg.Points(250)*vg.Length(rows)
	lines := wrapped(lettering(10, faint), d.subtitle(), width-vg.Points(20))
	extra := subtitleLine * vg.Length(len(lines)-1)
	height += extra
	return write(base, width, height, func(c draw.Canvas) {
		background(c)
		body := heading(c, d.title())
		note := lettering(10, faint)
		note.YAlign = text.YTop
		for i, line := range lines {
			c.FillText(note, vg.Point{X: body.Min.X + vg.Points(2), Y: body.Max.Y + vg.Points(7) - vg.Length(i)*subtitleLine}, line)
		}
		body.Max.Y -= extra
		legend := body
		legend.Min.X, legend.Max.Y = body.Max.X-vg.Points(side-10), body.Max.Y-vg.Points(24)
		body.Max.X -= vg.Points(side)
		drawGrid(grid, draw.Tiles{Rows: rows, Cols: cols, PadX: vg.Points(18), PadY: vg.Points(14), PadTop: vg.Points(14)}, body)
		stabilityLegend(legend, panels)
	})
}

// sources are the theorems that bound any series, in order: each has its dash in all
// panels.
func (d *StabilityDocument) sources() []string {
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

// subtitleLine is the distance of a subtitle's lines.
var subtitleLine = vg.Points(12.5)

// wrapped parts words into lines of at most that width.
func wrapped(s text.Style, words string, width vg.Length) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(words) {
		if longer := strings.TrimSpace(line + " " + w); line == "" || s.Width(longer) <= width {
			line = longer
			continue
		}
		lines, line = append(lines, line), w
	}
	return append(lines, line)
}

func (d *StabilityDocument) title() string {
	if d.Claim == "" {
		return d.Says + ": " + d.Data.Name
	}
	return d.label() + " on " + d.Data.Name
}

func (d *StabilityDocument) subtitle() string {
	of := fmt.Sprintf("%s against %s, d = %d, B = %g", d.Data.Positives, d.Data.Negatives, d.Data.Dims, d.Data.Radius)
	if d.Claim == "" {
		return of
	}
	return d.Says + " (" + of + ")"
}

// stabilityPanel draws one series.
type stabilityPanel struct {
	series measure.Series
	lines  []boundLine
}

// boundLine is a bound over the places of a series.
type boundLine struct {
	source string
	name   string
	color  color.RGBA
	dash   []vg.Length
	x, y   []float64
}

// boundColors are those of boundKinds: what is printed is red, what is corrected green.
var boundColors = map[string]color.RGBA{
	"printed": palette[3], "printed, tight": palette[1], "corrected": palette[2], "corrected, tight": palette[5],
}

// boundDashes tell theorems apart, by their place in a document.
var boundDashes = [][]vg.Length{nil, {vg.Points(6), vg.Points(2.5)}, {vg.Points(1.5), vg.Points(2)}, {vg.Points(6), vg.Points(2), vg.Points(1.5), vg.Points(2)}}

// newStabilityPanel orders the points; nil where no mean is positive.
func newStabilityPanel(s measure.Series) *stabilityPanel {
	p := &stabilityPanel{series: s}
	p.series.Points = slices.Clone(s.Points)
	slices.SortStableFunc(p.series.Points, func(a, b measure.Point) int {
		switch {
		case a.X < b.X:
			return -1
		case a.X > b.X:
			return 1
		}
		return 0
	})
	if !slices.ContainsFunc(s.Points, func(q measure.Point) bool { return q.Measured.Value > 0 && q.X > 0 }) {
		return nil
	}
	for _, source := range sources(s) {
		for _, k := range boundKinds {
			l := boundLine{source: source, name: source + ", " + k.name, color: boundColors[k.name]}
			for _, q := range p.series.Points {
				for _, b := range q.Bounds {
					if b.Source == source && boundKind(b) == k.name && b.Value > 0 {
						l.x, l.y = append(l.x, q.X), append(l.y, b.Value)
					}
				}
			}
			if l.x != nil {
				p.lines = append(p.lines, l)
			}
		}
	}
	return p
}

// dash gives lines the dash of their theorem, of those that the document knows.
func (p *stabilityPanel) dash(known []string) {
	for i := range p.lines {
		p.lines[i].dash = boundDashes[max(0, slices.Index(known, p.lines[i].source))%len(boundDashes)]
	}
}

func (p *stabilityPanel) plot() *plot.Plot {
	title := p.series.Name
	if r := p.series.Rate; r != nil {
		title += fmt.Sprintf(": slope %.2f", r.Slope)
		if c := r.CI95; c != nil {
			title += fmt.Sprintf(" [%.2f, %.2f]", c[0], c[1])
		}
	}
	// The axis has a short name: gonum takes room for a long one above a logarithmic axis.
	axis, _, _ := strings.Cut(quantityName(p.series.Quantity), ",")
	pl := newPlot(title, p.series.Axis, axis, false)
	pl.Title.TextStyle.Font = sans(9.5, true)
	pl.Title.Padding = vg.Points(4)
	pl.Add(p)
	for _, a := range []*plot.Axis{&pl.X, &pl.Y} {
		wide := max(1.06, math.Pow(a.Max/a.Min, 0.05))
		a.Min, a.Max = a.Min/wide, a.Max*wide
		a.Scale = plot.LogScale{}
	}
	pl.X.Tick.Marker, pl.Y.Tick.Marker = sizeTicks{}, decadeTicks{}
	return pl
}

// DataRange is that of means, repeats, and bounds.
func (p *stabilityPanel) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	add := func(x, y float64) {
		if x > 0 && y > 0 && finite(y) {
			xmin, xmax, ymin, ymax = min(xmin, x), max(xmax, x), min(ymin, y), max(ymax, y)
		}
	}
	for _, q := range p.series.Points {
		add(q.X, q.Measured.Value)
		if c := q.Measured.CI95; c != nil {
			add(q.X, max(c[0], q.Measured.Value/5))
			add(q.X, c[1])
		}
	}
	floor := ymin / 10
	for _, q := range p.series.Points {
		for _, v := range q.Repeats {
			add(q.X, max(v, floor))
		}
	}
	for _, l := range p.lines {
		for i, x := range l.x {
			add(x, l.y[i])
		}
	}
	return xmin, xmax, ymin, ymax
}

func (p *stabilityPanel) Plot(c draw.Canvas, pl *plot.Plot) {
	xs, ys := pl.Transforms(&c)
	at := func(x, y float64) vg.Point {
		return vg.Point{X: xs(x), Y: ys(min(max(y, pl.Y.Min), pl.Y.Max))}
	}
	for _, l := range p.lines {
		var line []vg.Point
		for i, x := range l.x {
			line = append(line, at(x, l.y[i]))
		}
		if len(line) > 1 {
			c.StrokeLines(draw.LineStyle{Color: l.color, Width: vg.Points(1.6), Dashes: l.dash}, line)
		}
		for _, q := range line {
			c.DrawGlyph(draw.GlyphStyle{Color: l.color, Radius: vg.Points(1.8), Shape: draw.BoxGlyph{}}, q)
		}
	}
	for _, q := range p.series.Points {
		for _, v := range q.Repeats {
			if v > 0 {
				c.DrawGlyph(draw.GlyphStyle{Color: pale(palette[0]), Radius: vg.Points(1.4), Shape: draw.CircleGlyph{}}, at(q.X, v))
			}
		}
	}
	if r := p.series.Rate; r != nil {
		first, last := p.series.Points[0].X, p.series.Points[len(p.series.Points)-1].X
		fit := func(x float64) vg.Point { return at(x, math.Exp(r.Intercept+r.Slope*math.Log(x))) }
		c.StrokeLines(fitStyle, []vg.Point{fit(first), fit(last)})
	}
	for _, q := range p.series.Points {
		if ci := q.Measured.CI95; ci != nil {
			c.StrokeLines(draw.LineStyle{Color: palette[0], Width: vg.Points(1.4)}, []vg.Point{at(q.X, ci[0]), at(q.X, ci[1])})
		}
		if q.Measured.Value > 0 {
			c.DrawGlyph(measuredStyle, at(q.X, q.Measured.Value))
		}
	}
}

var (
	measuredStyle = draw.GlyphStyle{Color: palette[0], Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
	fitStyle      = draw.LineStyle{Color: ink, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(3), vg.Points(2)}}
)

// stabilityLegend names what is drawn in any panel.
func stabilityLegend(c draw.Canvas, panels []*stabilityPanel) {
	s := lettering(9.5, ink)
	s.YAlign = text.YCenter
	x, y := c.Min.X, c.Max.Y
	entry := func(name string, sign func(a, b vg.Point)) {
		y -= vg.Points(15.5)
		sign(vg.Point{X: x, Y: y}, vg.Point{X: x + vg.Points(22), Y: y})
		c.FillText(s, vg.Point{X: x + vg.Points(28), Y: y}, shorten(s, name, c.Max.X-x-vg.Points(28)))
	}
	middle := func(a, b vg.Point) vg.Point { return vg.Point{X: (a.X + b.X) / 2, Y: a.Y} }
	entry("mean, 95 % interval", func(a, b vg.Point) { c.DrawGlyph(measuredStyle, middle(a, b)) })
	entry("repeats", func(a, b vg.Point) {
		c.DrawGlyph(draw.GlyphStyle{Color: pale(palette[0]), Radius: vg.Points(1.4), Shape: draw.CircleGlyph{}}, middle(a, b))
	})
	if slices.ContainsFunc(panels, func(p *stabilityPanel) bool { return p.series.Rate != nil }) {
		entry("fitted slope", func(a, b vg.Point) { c.StrokeLines(fitStyle, []vg.Point{a, b}) })
	}
	y -= vg.Points(8)
	var seen []string
	for _, p := range panels {
		for _, l := range p.lines {
			if slices.Contains(seen, l.name) {
				continue
			}
			seen = append(seen, l.name)
			entry(l.name, func(a, b vg.Point) {
				c.StrokeLines(draw.LineStyle{Color: l.color, Width: vg.Points(1.6), Dashes: l.dash}, []vg.Point{a, b})
			})
		}
	}
}

// decadeTicks labels powers of ten, and 2 and 5 times these where there are few.
type decadeTicks struct{}

func (decadeTicks) Ticks(lo, hi float64) []plot.Tick {
	decades := math.Log10(hi / lo)
	every := max(1, int(math.Ceil(decades/7)))
	var list []plot.Tick
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		for f := 1.0; f < 10; f++ {
			v := f * math.Pow(10, float64(e))
			if v < lo || v > hi {
				continue
			}
			t := plot.Tick{Value: v}
			if f == 1 && e%every == 0 || decades < 1.7 && (f == 2 || f == 5) || decades < 0.6 {
				t.Label = fmt.Sprintf("%.4g", v)
			}
			if f == 1 || decades < 4 {
				list = append(list, t)
			}
		}
	}
	return list
}
