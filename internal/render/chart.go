package render

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Chart is a picture of panels that share a legend: colours stand for one thing, such
// as the noise, forms of lines for another, such as test and training error.
type Chart struct {
	Title, Note string
	Cols        int
	Panels      []ChartPanel
	SameY       bool // all panels have one scale
}

// ChartPanel is one plot. Values are fractions, shown as percent.
type ChartPanel struct {
	Title, XLabel, YLabel string
	LogX                  bool
	Traces                []Trace
}

// Trace is a line of values with intervals over places.
type Trace struct {
	Name  string // of its colour in the legend
	Color color.RGBA
	Form  TraceForm
	X     []float64
	Y     []Bar // NaN leaves a gap
}

// TraceForm is how a line is drawn.
type TraceForm struct {
	Name   string // in the legend
	dashes []vg.Length
	Shape  draw.GlyphDrawer // nil: no marks
	bare   bool             // no line
	wide   float64          // of the line, in points; 0 is 1.5
	band   bool             // between the ends of intervals, whatever the number of points
}

var (
	SolidForm  = TraceForm{Shape: draw.CircleGlyph{}}
	DashedForm = TraceForm{dashes: []vg.Length{vg.Points(4.5), vg.Points(2.5)}, Shape: draw.RingGlyph{}}
	LongForm   = TraceForm{dashes: []vg.Length{vg.Points(7), vg.Points(2), vg.Points(1.5), vg.Points(2)}, Shape: draw.RingGlyph{}}
	BrokenForm = TraceForm{dashes: []vg.Length{vg.Points(7), vg.Points(2.5), vg.Points(1.5), vg.Points(2.5)}, wide: 1.2}
	BandForm   = TraceForm{band: true, bare: true}
	MarksForm  = TraceForm{Shape: draw.CircleGlyph{}, bare: true}
	DottedForm = TraceForm{dashes: []vg.Length{vg.Points(1.2), vg.Points(2.2)}, wide: 1.2}
)

func (f TraceForm) Called(name string) TraceForm {
	f.Name = name
	return f
}

// densePoints is the number of points from which a line has a band, without marks.
const densePoints = 24

// Write draws base.png and base.svg.
func (c *Chart) Write(base string) error {
	any := false
	for _, p := range c.Panels {
		for _, t := range p.Traces {
			if len(t.X) != len(t.Y) {
				return fmt.Errorf("plot %s: panel %q: %s has %d places and %d values", base, p.Title, t.Name, len(t.X), len(t.Y))
			}
			for i, x := range t.X {
				if !finite(x) || p.LogX && x <= 0 {
					return fmt.Errorf("plot %s: panel %q: %s is at %v", base, p.Title, t.Name, x)
				}
				any = any || finite(t.Y[i].Value)
			}
		}
	}
	if !any {
		return fmt.Errorf("plot %s: no finite values to show", base)
	}
	cols := min(c.Cols, len(c.Panels))
	rows := (len(c.Panels) + cols - 1) / cols
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, cols)
	}
	var drawn []*plot.Plot
	for i, p := range c.Panels {
		pl := p.plot()
		grid[i/cols][i%cols], drawn = pl, append(drawn, pl)
	}
	if c.SameY {
		oneScale(drawn)
	}
	const side = 132
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

func (p *ChartPanel) plot() *plot.Plot {
	pl := newPlot(p.Title, p.XLabel, p.YLabel+" (%)", false)
	pl.Title.TextStyle.Font = sans(11, true)
	pl.Title.Padding = vg.Points(4)
	pl.Add(&traceMarks{p.Traces})
	room(&pl.Y)
	if pl.Y.Min == 0 { // lines at 0 are not to lie on the frame
		pl.Y.Min = -0.025 * pl.Y.Max
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

// traceMarks draws the traces of a panel: bands, then lines, then marks.
type traceMarks struct{ traces []Trace }

// DataRange is that of values; intervals widen it by no more than its own span on
// either side, lest those of two seeds leave no room for anything else.
func (m *traceMarks) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	low, high := math.Inf(1), math.Inf(-1)
	for _, t := range m.traces {
		for i, b := range t.Y {
			if !finite(b.Value) {
				continue
			}
			xmin, xmax = min(xmin, t.X[i]), max(xmax, t.X[i])
			ymin, ymax = min(ymin, 100*b.Value), max(ymax, 100*b.Value)
			if b.wide() {
				low, high = min(low, 100*max(b.Low, 0)), max(high, 100*min(b.High, 1))
			}
		}
	}
	if xmin > xmax {
		return 1, 2, 0, 1
	}
	span := max(ymax-ymin, 0.1*ymax)
	return xmin, xmax, min(ymin, max(low, ymin-span)), max(ymax, min(high, ymax+span))
}

// wide tells whether a bar has an interval to draw.
func (b Bar) wide() bool { return finite(b.Low) && finite(b.High) && b.Low < b.High }

func (m *traceMarks) Plot(c draw.Canvas, p *plot.Plot) {
	xs, ys := p.Transforms(&c)
	at := func(t Trace, i int, v float64) vg.Point {
		return vg.Point{X: xs(t.X[i]), Y: ys(min(max(100*v, p.Y.Min), p.Y.Max))}
	}
	for _, t := range m.traces {
		for _, r := range t.runs() {
			if len(r) >= densePoints || t.Form.band {
				var edge []vg.Point
				for _, i := range r {
					edge = append(edge, at(t, i, max(t.Y[i].Value, t.Y[i].High)))
				}
				for _, i := range slices.Backward(r) {
					edge = append(edge, at(t, i, min(t.Y[i].Value, t.Y[i].Low)))
				}
				k := t.Color
				c.FillPolygon(color.NRGBA{k.R, k.G, k.B, 40}, edge)
				continue
			}
			for _, i := range r {
				if b := t.Y[i]; b.wide() {
					low, high := at(t, i, b.Low), at(t, i, b.High)
					c.StrokeLine2(draw.LineStyle{Color: pale(t.Color), Width: vg.Points(2.6)}, low.X, low.Y, high.X, high.Y)
				}
			}
		}
	}
	for _, t := range m.traces {
		for _, r := range t.runs() {
			var line []vg.Point
			for _, i := range r {
				line = append(line, at(t, i, t.Y[i].Value))
			}
			if len(line) > 1 && !t.Form.bare {
				c.StrokeLines(t.style(), line)
			}
			for _, q := range line {
				if t.Form.Shape != nil && (len(r) < densePoints || t.Form.bare) {
					c.DrawGlyph(draw.GlyphStyle{Color: t.Color, Radius: vg.Points(2.6), Shape: t.Form.Shape}, q)
				}
			}
		}
	}
}

func (t Trace) style() draw.LineStyle {
	width := t.Form.wide
	if width == 0 {
		width = 1.5
	}
	s := draw.LineStyle{Color: t.Color, Width: vg.Points(width), Dashes: t.Form.dashes}
	if t.Form.band {
		s.Color, s.Width = pale(t.Color), vg.Points(9)
	}
	return s
}

// runs are the indices of a trace's values, parted at gaps.
func (t Trace) runs() [][]int {
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

// legend lists colours, then forms.
func (c *Chart) legend(cv draw.Canvas) {
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
				entry(t.Name, draw.LineStyle{Color: t.Color, Width: vg.Points(3.5)}, false, nil)
			}
		}
	}
	y -= vg.Points(8)
	for _, p := range c.Panels {
		for _, t := range slices.Backward(p.Traces) { // what is drawn on top comes first
			if t.Form.Name != "" && !slices.Contains(forms, t.Form.Name) {
				forms = append(forms, t.Form.Name)
				t.Color = faint
				entry(t.Form.Name, t.style(), t.Form.bare && !t.Form.band, t.Form.Shape)
			}
		}
	}
}
