package render

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// DotChart is a picture of values with intervals for each of several names, one below the
// other, with a panel for each kind of value. A line marks 0.
type DotChart struct {
	Title, Note string
	Names       []string // from the top
	Panels      []DotPanel
}

// DotPanel has the values of one kind. Dots whose interval has 0 inside, or that have no
// interval, are gray.
type DotPanel struct {
	Title, XLabel string
	Percent       bool  // values are differences of fractions, shown as percentage points
	Values        []Bar // of each name; NaN leaves a gap
}

// Write draws base.png and base.svg.
func (c *DotChart) Write(base string) error {
	if len(c.Names) == 0 || len(c.Panels) == 0 {
		return fmt.Errorf("plot %s: no values to show", base)
	}
	side := vg.Length(0)
	for _, name := range c.Names {
		side = max(side, lettering(9.5, ink).Width(name))
	}
	grid := [][]*plot.Plot{nil}
	for _, panel := range c.Panels {
		if len(panel.Values) != len(c.Names) {
			return fmt.Errorf("plot %s: panel %q has %d values for %d names", base, panel.Title, len(panel.Values), len(c.Names))
		}
		grid[0] = append(grid[0], panel.plot(c.Names))
	}
	width := (vg.Points(300) + side) * vg.Length(len(c.Panels))
	height := vg.Points(105) + vg.Points(15)*vg.Length(len(c.Names))
	return write(base, width, height, func(cv draw.Canvas) {
		background(cv)
		body := heading(cv, c.Title)
		s := lettering(10, faint)
		s.YAlign = text.YTop
		cv.FillText(s, vg.Point{X: body.Min.X + vg.Points(2), Y: body.Max.Y + vg.Points(7)}, c.Note)
		drawGrid(grid, draw.Tiles{Rows: 1, Cols: len(c.Panels), PadX: vg.Points(14), PadTop: vg.Points(16), PadRight: vg.Points(10)}, body)
	})
}

func (p *DotPanel) plot(names []string) *plot.Plot {
	label := p.XLabel
	if p.Percent {
		label += " (percentage points)"
	}
	pl := newPlot(p.Title, label, "", true)
	pl.Title.TextStyle.Font = sans(11, true)
	pl.Title.Padding = vg.Points(4)
	pl.Add(&dotMarks{p})
	pl.Y.Min, pl.Y.Max = 0.4-float64(len(names)), 0.6
	pl.Y.Tick.Marker, pl.Y.Tick.LineStyle.Color = nameTicks(names), color.Transparent
	pl.Y.Tick.Label.Color = ink
	spread(&pl.X)
	return pl
}

// nameTicks are names at 0, -1, -2 and so on.
type nameTicks []string

func (n nameTicks) Ticks(_, _ float64) []plot.Tick {
	var list []plot.Tick
	for i, name := range n {
		list = append(list, plot.Tick{Value: -float64(i), Label: name})
	}
	return list
}

// dotMarks draws the values of a panel.
type dotMarks struct{ *DotPanel }

func (m *dotMarks) at(v float64) float64 {
	if m.Percent {
		return 100 * v
	}
	return v
}

// DataRange has 0, and all intervals.
func (m *dotMarks) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, b := range m.Values {
		for _, v := range []float64{b.Value, b.Low, b.High} {
			if finite(v) {
				xmin, xmax = min(xmin, m.at(v)), max(xmax, m.at(v))
			}
		}
	}
	if xmin == xmax {
		xmax = 1
	}
	return xmin, xmax, -float64(len(m.Values) - 1), 0
}

func (m *dotMarks) Plot(c draw.Canvas, p *plot.Plot) {
	xs, ys := p.Transforms(&c)
	zero := draw.LineStyle{Color: ink, Width: vg.Points(0.8)}
	c.StrokeLine2(zero, xs(0), c.Min.Y, xs(0), c.Max.Y)
	for i, b := range m.Values {
		if !finite(b.Value) {
			continue
		}
		hue, y := faint, ys(-float64(i))
		if b.wide() && (b.Low > 0 || b.High < 0) {
			hue = Palette[0]
		}
		if b.wide() && !math.IsInf(b.Low, 0) && !math.IsInf(b.High, 0) {
			c.StrokeLine2(draw.LineStyle{Color: hue, Width: vg.Points(1.3)}, xs(m.at(b.Low)), y, xs(m.at(b.High)), y)
		}
		c.DrawGlyph(draw.GlyphStyle{Color: hue, Radius: vg.Points(2.8), Shape: draw.CircleGlyph{}}, vg.Point{X: xs(m.at(b.Value)), Y: y})
	}
}
