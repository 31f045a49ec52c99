package render

import (
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tercet/internal/lists"
)

// Bar is a value with its interval; Low and High NaN, or both equal to Value,
// mean none. A NaN value leaves a gap.
type Bar struct{ Value, Low, High float64 }

// LineChart is a picture of panels that share a legend: colors stand for one thing, such as
// the noise, forms of lines for another, such as test and training error.
type LineChart struct {
	Title, Note string
	Cols        int // panels in a row
	Panels      []LinePanel
}

// LinePanel is one plot of lines. Panels with the same YLabel share one scale.
type LinePanel struct {
	Title, XLabel, YLabel string
	Percent               bool // values are fractions, shown as percent
	LogX, LogY            bool
	Traces                []Line
}

// Line is a line of values with intervals over places.
type Line struct {
	Name  string // of its color in the legend
	Color int    // place in the palette
	Form  string // one of Forms
	Label string // of the form in the legend; "" leaves it out
	X     []float64
	Y     []Bar // NaN leaves a gap
}

// lineForm is how a line is drawn.
type lineForm struct {
	dashes []vg.Length
	shape  draw.GlyphDrawer // nil: no marks
	bare   bool             // no line
	wide   float64          // of the line, in points; 0 is 1.5
	band   bool             // between the ends of intervals, whatever the number of points
}

var lineForms = map[string]lineForm{
	"solid":    {shape: draw.CircleGlyph{}},
	"dashed":   {dashes: []vg.Length{vg.Points(4.5), vg.Points(2.5)}, shape: draw.RingGlyph{}},
	"dash-dot": {dashes: []vg.Length{vg.Points(7), vg.Points(2.5), vg.Points(1.5), vg.Points(2.5)}, wide: 1.2},
	"dotted":   {dashes: []vg.Length{vg.Points(1.2), vg.Points(2.2)}, wide: 1.2},
	"band":     {band: true, bare: true},
	"marks":    {shape: draw.CircleGlyph{}, bare: true},
}

// Forms lists how a Line can be drawn.
func Forms() []string { return sortedForms }

var sortedForms = slices.Sorted(maps.Keys(lineForms))

// Write draws base.png and base.svg.
func (c *LineChart) Write(base string) error {
	any := false
	for _, p := range c.Panels {
		for _, t := range p.Traces {
			if len(t.X) != len(t.Y) {
				return fmt.Errorf("plot %s: panel %q: %s has %d places and %d values", base, p.Title, t.Name, len(t.X), len(t.Y))
			}
			for i, x := range t.X {
				if !finite(x) || p.LogX && x <= 0 || p.LogY && t.Y[i].Value <= 0 {
					return fmt.Errorf("plot %s: panel %q: %s is %v at %v, which the axes cannot show", base, p.Title, t.Name, t.Y[i].Value, x)
				}
				any = any || finite(t.Y[i].Value)
			}
		}
	}
	if !any {
		return fmt.Errorf("plot %s: no finite values to show", base)
	}
	cols := max(1, min(c.Cols, len(c.Panels)))
	rows := (len(c.Panels) + cols - 1) / cols
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, cols)
	}
	drawn := map[string][]*plot.Plot{}
	for i, p := range c.Panels {
		pl := p.plot()
		grid[i/cols][i%cols], drawn[p.YLabel] = pl, append(drawn[p.YLabel], pl)
	}
	for _, same := range drawn {
		oneScale(same)
	}
	side := c.side()
	width := vg.Points(40+side) + vg.Points(290)*vg.Length(cols)
	height := vg.Points(70) + vg.Points(235)*vg.Length(rows)
	return write(base, width, height, func(cv draw.Canvas) {
		background(cv)
		body := heading(cv, c.Title)
		s := lettering(10, faint)
		s.YAlign = text.YTop
		cv.FillText(s, vg.Point{X: body.Min.X + vg.Points(2), Y: body.Max.Y + vg.Points(7)}, c.Note)
		legend := body
		legend.Min.X, legend.Max.Y = body.Max.X-vg.Points(side-10), body.Max.Y-vg.Points(24)
		body.Max.X -= vg.Points(side)
		tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: vg.Points(18), PadY: vg.Points(14), PadTop: vg.Points(14)}
		drawGrid(grid, tiles, body)
		c.legend(legend)
	})
}

// side is the width of the legend in points: more for long names.
func (c *LineChart) side() float64 {
	side, s := vg.Points(132), lettering(9.5, ink)
	for _, p := range c.Panels {
		for _, t := range p.Traces {
			side = max(side, s.Width(t.Name)+vg.Points(42), s.Width(t.Label)+vg.Points(42))
		}
	}
	return min(side, vg.Points(240)).Points()
}

func (p *LinePanel) plot() *plot.Plot {
	label := p.YLabel
	if p.Percent {
		label += " (%)"
	}
	pl := newPlot(p.Title, p.XLabel, label, false)
	pl.Title.TextStyle.Font = sans(11, true)
	pl.Title.Padding = vg.Points(4)
	pl.Add(&lineMarks{p})
	switch {
	case p.LogY: // over a factor of 2.6 there is at least one tick
		wide := max(1.15, math.Sqrt(2.6*pl.Y.Min/pl.Y.Max))
		pl.Y.Min, pl.Y.Max = pl.Y.Min/wide, pl.Y.Max*wide
		pl.Y.Scale, pl.Y.Tick.Marker = plot.LogScale{}, logTicks{}
	default:
		room(&pl.Y)
		if pl.Y.Min == 0 { // lines at 0 are not to lie on the frame
			pl.Y.Min = -0.025 * pl.Y.Max
		}
	}
	if !p.LogX {
		spread(&pl.X)
		return pl
	}
	wide := max(1.06, math.Pow(pl.X.Max/pl.X.Min, 0.04))
	pl.X.Min, pl.X.Max = pl.X.Min/wide, pl.X.Max*wide
	pl.X.Scale, pl.X.Tick.Marker = plot.LogScale{}, sizeTicks{}
	return pl
}

// lineMarks draws the traces of a panel: bands, then lines, then marks.
type lineMarks struct{ *LinePanel }

// unit is a value as the axis shows it.
func (p *LinePanel) unit(v float64) float64 {
	if p.Percent {
		return 100 * v
	}
	return v
}

// DataRange is that of values; intervals widen it by no more than its own span on
// either side, lest those of two seeds leave no room for anything else.
func (m *lineMarks) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	low, high := math.Inf(1), math.Inf(-1)
	for _, t := range m.Traces {
		for i, b := range t.Y {
			if !finite(b.Value) {
				continue
			}
			xmin, xmax = min(xmin, t.X[i]), max(xmax, t.X[i])
			ymin, ymax = min(ymin, m.unit(b.Value)), max(ymax, m.unit(b.Value))
			if b.wide() {
				low, high = min(low, m.unit(b.Low)), max(high, m.unit(b.High))
			}
		}
	}
	if xmin > xmax {
		return 1, 2, 0, 1
	}
	if m.LogY { // Student's interval may reach below nothing
		return xmin, xmax, min(ymin, max(low, ymin/4)), max(ymax, high)
	}
	span := max(ymax-ymin, 0.1*ymax)
	return xmin, xmax, min(ymin, max(low, ymin-span)), max(ymax, min(high, ymax+span))
}

func (m *lineMarks) Plot(c draw.Canvas, p *plot.Plot) {
	xs, ys := p.Transforms(&c)
	at := func(t Line, i int, v float64) vg.Point {
		return vg.Point{X: xs(t.X[i]), Y: ys(min(max(m.unit(v), p.Y.Min), p.Y.Max))}
	}
	for _, t := range m.Traces {
		for _, r := range t.runs() {
			if len(r) >= densePoints || t.form().band {
				edge := lists.Map(r, func(i int) vg.Point { return at(t, i, max(t.Y[i].Value, t.Y[i].High)) })
				for _, i := range slices.Backward(r) {
					edge = append(edge, at(t, i, min(t.Y[i].Value, t.Y[i].Low)))
				}
				k := t.color()
				c.FillPolygon(color.NRGBA{k.R, k.G, k.B, 40}, edge)
				continue
			}
			for _, i := range r {
				if b := t.Y[i]; b.wide() {
					low, high := at(t, i, b.Low), at(t, i, b.High)
					c.StrokeLine2(draw.LineStyle{Color: pale(t.color()), Width: vg.Points(2.6)}, low.X, low.Y, high.X, high.Y)
				}
			}
		}
	}
	for _, t := range m.Traces {
		for _, r := range t.runs() {
			line := lists.Map(r, func(i int) vg.Point { return at(t, i, t.Y[i].Value) })
			if len(line) > 1 && !t.form().bare {
				c.StrokeLines(t.style(), line)
			}
			for _, q := range line {
				if t.form().shape != nil && (len(r) < densePoints || t.form().bare) {
					c.DrawGlyph(draw.GlyphStyle{Color: t.color(), Radius: vg.Points(2.6), Shape: t.form().shape}, q)
				}
			}
		}
	}
}

func (t Line) style() draw.LineStyle {
	width := t.form().wide
	if width == 0 {
		width = 1.5
	}
	s := draw.LineStyle{Color: t.color(), Width: vg.Points(width), Dashes: t.form().dashes}
	if t.form().band {
		s.Color, s.Width = pale(t.color()), vg.Points(9)
	}
	return s
}

func (t Line) form() lineForm    { return lineForms[t.Form] }
func (t Line) color() color.RGBA { return Palette[t.Color%len(Palette)] }

// runs are the indices of a trace's values, parted at gaps.
func (t Line) runs() [][]int {
	var out [][]int
	var now []int
	for i, b := range t.Y {
		if finite(b.Value) {
			now = append(now, i)
			continue
		}
		if now != nil {
			out = append(out, now)
		}
		now = nil
	}
	if now != nil {
		out = append(out, now)
	}
	return out
}

// legend lists colors, then forms.
func (c *LineChart) legend(cv draw.Canvas) {
	const pitch = 15.5
	s := lettering(9.5, ink)
	s.YAlign = text.YCenter
	x, y := cv.Min.X, cv.Max.Y
	entry := func(name string, style draw.LineStyle, bare bool, shape draw.GlyphDrawer) {
		y -= vg.Points(pitch)
		if !bare {
			cv.StrokeLine2(style, x, y, x+vg.Points(22), y)
		}
		if shape != nil {
			cv.DrawGlyph(draw.GlyphStyle{Color: style.Color, Radius: vg.Points(2.6), Shape: shape}, vg.Point{X: x + vg.Points(11), Y: y})
		}
		cv.FillText(s, vg.Point{X: x + vg.Points(28), Y: y}, shorten(s, name, cv.Max.X-x-vg.Points(28)))
	}
	var names, forms []string
	for _, p := range c.Panels {
		for _, t := range p.Traces {
			if t.Name != "" && !slices.Contains(names, t.Name) {
				names = append(names, t.Name)
				entry(t.Name, draw.LineStyle{Color: t.color(), Width: vg.Points(3.5)}, false, nil)
			}
		}
	}
	y -= vg.Points(8)
	for _, p := range c.Panels {
		for _, t := range slices.Backward(p.Traces) { // what is drawn on top comes first
			if t.Label != "" && !slices.Contains(forms, t.Label) {
				forms = append(forms, t.Label)
				style := t.style()
				style.Color = faint
				entry(t.Label, style, t.form().bare && !t.form().band, t.form().shape)
			}
		}
	}
}

// oneScale gives plots the range of y that all of them need.
func oneScale(plots []*plot.Plot) {
	low, high := plots[0].Y.Min, plots[0].Y.Max
	for _, p := range plots {
		low, high = min(low, p.Y.Min), max(high, p.Y.Max)
	}
	for _, p := range plots {
		p.Y.Min, p.Y.Max = low, high
	}
}

// densePoints is the number of points from which a line has a band, without marks.
const densePoints = 24

// wide reports whether a bar has an interval to draw.
func (b Bar) wide() bool { return finite(b.Low) && finite(b.High) && b.Low < b.High }
