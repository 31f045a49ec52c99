package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Scaling is a plot of measurements against a size on logarithmic axes, with the fitted
// power law and lines such as bounds.
type Scaling struct {
	Title, XLabel, YLabel string
	Points                []ScalingPoint // by ascending X
	Fit                   *[2]float64    // slope and intercept of log y on log x; nil: none
	Lines                 []ScalingLine
}

// SetFit adds the fitted power law: its line, and its slope with an interval in the title.
func (p *Scaling) SetFit(slope, intercept float64, ci95 *[2]float64) {
	p.Title += fmt.Sprintf(": slope %.2f", slope)
	if ci95 != nil {
		p.Title += fmt.Sprintf(" [%.2f, %.2f]", ci95[0], ci95[1])
	}
	p.Fit = &[2]float64{slope, intercept}
}

// ScalingPoint is a mean with its interval (nil: none) and the values it is the mean of.
type ScalingPoint struct {
	X, Y    float64
	CI95    *[2]float64
	Repeats []float64
}

// ScalingLine is a line through positive values; Color is its place in the palette, Dash
// its place among the dashes, 0 for a solid line.
type ScalingLine struct {
	Name        string // in the legend
	Color, Dash int
	X, Y        []float64
}

// ScalingSheet is a picture of such plots with one legend.
type ScalingSheet struct {
	Title, Note   string
	Rows          [][]*Scaling // of one length; nil leaves a place empty
	Width, Height float64      // of a plot, in points
	PadTop        float64      // of a plot, in points
	RowScale      bool         // plots of a row have one scale
	OneScale      bool         // all plots have one scale
}

// lineDashes tell lines of one color apart.
var lineDashes = [][]vg.Length{nil, {vg.Points(6), vg.Points(2.5)}, {vg.Points(1.5), vg.Points(2)}, {vg.Points(6), vg.Points(2), vg.Points(1.5), vg.Points(2)}}

func (l *ScalingLine) style() draw.LineStyle {
	return draw.LineStyle{Color: Palette[l.Color%len(Palette)], Width: vg.Points(1.6), Dashes: lineDashes[l.Dash%len(lineDashes)]}
}

// Write draws base.png and base.svg.
func (s *ScalingSheet) Write(base string) error {
	var plots []*Scaling
	var drawn []*plot.Plot
	grid := make([][]*plot.Plot, len(s.Rows))
	for i, row := range s.Rows {
		grid[i] = make([]*plot.Plot, len(row))
		var same []*plot.Plot
		for j, p := range row {
			if p != nil {
				grid[i][j] = p.plot()
				same, plots = append(same, grid[i][j]), append(plots, p)
			}
		}
		if s.RowScale {
			oneScale(same)
		}
		drawn = append(drawn, same...)
	}
	if len(plots) == 0 {
		return fmt.Errorf("plot %s: nothing to show", base)
	}
	if s.OneScale {
		oneScale(drawn)
	}
	const side = 158
	rows, cols := len(grid), len(grid[0])
	width, height := vg.Points(40+side)+vg.Points(s.Width)*vg.Length(cols), vg.Points(76)+vg.Points(s.Height)*vg.Length(rows)
	lines := wrapped(lettering(10, faint), s.Note, width-vg.Points(20))
	extra := subtitleLine * vg.Length(len(lines)-1)
	height += extra
	return write(base, width, height, func(c draw.Canvas) {
		background(c)
		body := heading(c, s.Title)
		note := lettering(10, faint)
		note.YAlign = text.YTop
		for i, line := range lines {
			c.FillText(note, vg.Point{X: body.Min.X + vg.Points(2), Y: body.Max.Y + vg.Points(7) - vg.Length(i)*subtitleLine}, line)
		}
		body.Max.Y -= extra
		legend := body
		legend.Min.X, legend.Max.Y = body.Max.X-vg.Points(side-10), body.Max.Y-vg.Points(24)
		body.Max.X -= vg.Points(side)
		drawGrid(grid, draw.Tiles{Rows: rows, Cols: cols, PadX: vg.Points(18), PadY: vg.Points(14), PadTop: vg.Points(s.PadTop)}, body)
		scalingLegend(legend, plots)
	})
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

func (p *Scaling) plot() *plot.Plot {
	pl := newPlot(p.Title, p.XLabel, p.YLabel, false)
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
func (p *Scaling) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	add := func(x, y float64) {
		if x > 0 && y > 0 && finite(y) {
			xmin, xmax, ymin, ymax = min(xmin, x), max(xmax, x), min(ymin, y), max(ymax, y)
		}
	}
	for _, q := range p.Points {
		add(q.X, q.Y)
		if c := q.CI95; c != nil {
			add(q.X, max(c[0], q.Y/5))
			add(q.X, c[1])
		}
	}
	floor := ymin / 10
	for _, q := range p.Points {
		for _, v := range q.Repeats {
			add(q.X, max(v, floor))
		}
	}
	for _, l := range p.Lines {
		for i, x := range l.X {
			add(x, l.Y[i])
		}
	}
	return xmin, xmax, ymin, ymax
}

func (p *Scaling) Plot(c draw.Canvas, pl *plot.Plot) {
	xs, ys := pl.Transforms(&c)
	at := func(x, y float64) vg.Point {
		return vg.Point{X: xs(x), Y: ys(min(max(y, pl.Y.Min), pl.Y.Max))}
	}
	for _, l := range p.Lines {
		var line []vg.Point
		for i, x := range l.X {
			line = append(line, at(x, l.Y[i]))
		}
		if len(line) > 1 {
			c.StrokeLines(l.style(), line)
		}
		for _, q := range line {
			c.DrawGlyph(draw.GlyphStyle{Color: l.style().Color, Radius: vg.Points(1.8), Shape: draw.BoxGlyph{}}, q)
		}
	}
	for _, q := range p.Points {
		for _, v := range q.Repeats {
			if v > 0 {
				c.DrawGlyph(draw.GlyphStyle{Color: pale(Palette[0]), Radius: vg.Points(1.4), Shape: draw.CircleGlyph{}}, at(q.X, v))
			}
		}
	}
	if r := p.Fit; r != nil {
		first, last := p.Points[0].X, p.Points[len(p.Points)-1].X
		fit := func(x float64) vg.Point { return at(x, math.Exp(r[1]+r[0]*math.Log(x))) }
		c.StrokeLines(fitStyle, []vg.Point{fit(first), fit(last)})
	}
	for _, q := range p.Points {
		if ci := q.CI95; ci != nil {
			c.StrokeLines(draw.LineStyle{Color: Palette[0], Width: vg.Points(1.4)}, []vg.Point{at(q.X, ci[0]), at(q.X, ci[1])})
		}
		if q.Y > 0 {
			c.DrawGlyph(measuredStyle, at(q.X, q.Y))
		}
	}
}

var (
	measuredStyle = draw.GlyphStyle{Color: Palette[0], Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
	fitStyle      = draw.LineStyle{Color: ink, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(3), vg.Points(2)}}
)

// scalingLegend names what is drawn in any panel.
func scalingLegend(c draw.Canvas, panels []*Scaling) {
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
		c.DrawGlyph(draw.GlyphStyle{Color: pale(Palette[0]), Radius: vg.Points(1.4), Shape: draw.CircleGlyph{}}, middle(a, b))
	})
	if slices.ContainsFunc(panels, func(p *Scaling) bool { return p.Fit != nil }) {
		entry("fitted slope", func(a, b vg.Point) { c.StrokeLines(fitStyle, []vg.Point{a, b}) })
	}
	y -= vg.Points(8)
	var seen []string
	for _, p := range panels {
		for _, l := range p.Lines {
			if slices.Contains(seen, l.Name) {
				continue
			}
			seen = append(seen, l.Name)
			entry(l.Name, func(a, b vg.Point) {
				c.StrokeLines(l.style(), []vg.Point{a, b})
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

// sizeTicks are those of a logarithmic axis of sizes, such as 20k: labels at 1, 2 and 5
// times powers of ten where these are few, at powers of ten else.
type sizeTicks struct{}

func (sizeTicks) Ticks(lo, hi float64) []plot.Tick {
	fives := math.Log10(hi/lo) <= 2.4
	var list []plot.Tick
	for e := math.Floor(math.Log10(lo)); e <= math.Log10(hi); e++ {
		for f := 1.0; f < 10; f++ {
			v := f * math.Pow(10, e)
			if v < lo || v > hi {
				continue
			}
			t := plot.Tick{Value: v}
			if f == 1 || fives && (f == 2 || f == 5) {
				t.Label = shortSize(v)
			}
			list = append(list, t)
		}
	}
	return list
}

// shortSize is a size in thousands or millions where that is shorter.
func shortSize(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.4gM", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.4gk", v/1e3)
	}
	return fmt.Sprintf("%.4g", v)
}
