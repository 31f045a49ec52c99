package render

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Series is a line: values Y at places X. Values that are not finite leave a gap.
type Series struct {
	Name   string
	X, Y   []float64
	Dashed bool

	every, left int // Add keeps one point of so many; how many it leaves out next
}

// mostPoints is where Add begins to leave points out: pictures have fewer columns,
// and drawing takes longer than the square of them.
const mostPoints = 1 << 13

// Add appends a point. Of a line that grows beyond mostPoints it keeps every second one,
// then every fourth, and so on: a log of any length can be drawn.
func (s *Series) Add(x, y float64) {
	if s.left > 0 {
		s.left--
		return
	}
	if len(s.X) == mostPoints {
		for i := range mostPoints / 2 {
			s.X[i], s.Y[i] = s.X[2*i], s.Y[2*i]
		}
		s.X, s.Y = s.X[:mostPoints/2], s.Y[:mostPoints/2]
		s.every = max(2, 2*s.every)
	}
	s.X, s.Y = append(s.X, x), append(s.Y, y)
	s.left = max(0, s.every-1)
}

// Panel is one plot of a stack, with its own y axis.
type Panel struct {
	YLabel   string
	Lines    []Series
	FromZero bool // the axis begins at 0, or below
}

// smoothFrom is the number of points from which a noisy line is shown pale with
// its running mean on top.
const smoothFrom = 150

// TrainingCurves writes base.png and base.svg: panels over one another that
// share the x axis, such as loss, recall and active fraction against the step.
func TrainingCurves(base, title, xLabel string, panels []Panel) error {
	low, high, err := places(base, panels)
	if err != nil {
		return err
	}
	column := make([][]*plot.Plot, len(panels))
	marks := make([][]mark, len(panels))
	for i, p := range panels {
		label := ""
		if i == len(panels)-1 {
			label = xLabel
		}
		pl := newPlot("", label, p.YLabel, true)
		if label == "" {
			pl.X.Tick.Marker = unlabeled{}
		}
		for j, l := range p.Lines {
			c := Palette[j%len(Palette)]
			if err := addLine(pl, l, c); err != nil {
				return fmt.Errorf("plot %s: line %q: %w", base, l.Name, err)
			}
			marks[i] = append(marks[i], mark{l.Name, draw.GlyphStyle{Color: c, Radius: vg.Points(4), Shape: draw.BoxGlyph{}}})
		}
		room(&pl.Y)
		pl.X.Min, pl.X.Max = low, high
		column[i] = []*plot.Plot{pl}
	}
	const above = 20 // room over each panel, for its legend
	height := vg.Points(70) + vg.Points(150+above)*vg.Length(len(panels))
	return write(base, vg.Points(560), height, func(c draw.Canvas) {
		background(c)
		body := heading(c, title)
		tiles := draw.Tiles{Rows: len(panels), Cols: 1, PadY: vg.Points(above), PadTop: vg.Points(above - 8), PadRight: vg.Points(14)}
		cells := plot.Align(column, tiles, body)
		for i := range panels {
			column[i][0].Draw(cells[i][0])
			if len(marks[i]) > 1 {
				line(cells[i][0], marks[i])
			}
		}
	})
}

// places returns the range of x that the panels share.
func places(base string, panels []Panel) (low, high float64, err error) {
	if len(panels) == 0 {
		return 0, 0, fmt.Errorf("plot %s: no panels", base)
	}
	any := false
	for _, p := range panels {
		for _, l := range p.Lines {
			if len(l.X) != len(l.Y) {
				return 0, 0, fmt.Errorf("plot %s: line %q has %d places and %d values", base, l.Name, len(l.X), len(l.Y))
			}
			for i, x := range l.X {
				if finite(x) && finite(l.Y[i]) {
					if !any {
						low, high, any = x, x, true
					}
					low, high = min(low, x), max(high, x)
				}
			}
		}
	}
	if !any {
		return 0, 0, fmt.Errorf("plot %s: no finite values to show", base)
	}
	if low == high {
		low, high = low-1, high+1
	}
	return low, high, nil
}

// unlabeled is ticks without words, for panels above another one.
type unlabeled struct{ ticks }

func (u unlabeled) Ticks(lo, hi float64) []plot.Tick {
	list := u.ticks.Ticks(lo, hi)
	for i := range list {
		list[i].Label = " " // not empty: that would be a minor tick, without grid line
	}
	return list
}

// line draws legend entries in one line above c, the last at the right.
func line(c draw.Canvas, marks []mark) {
	s := lettering(9.5, ink)
	s.YAlign = text.YCenter
	x, y := c.Max.X-vg.Points(10), c.Max.Y+vg.Points(7)
	c.Max.Y += vg.Points(20) // signs outside a canvas are not drawn
	for i := len(marks) - 1; i >= 0; i-- {
		x -= s.Width(marks[i].name)
		c.FillText(s, vg.Point{X: x, Y: y}, marks[i].name)
		x -= vg.Points(8)
		c.DrawGlyph(marks[i].style, vg.Point{X: x, Y: y})
		x -= vg.Points(16)
	}
}

// room widens an axis a little, so that lines do not lie on its frame.
func room(a *plot.Axis) {
	switch {
	case a.Min > a.Max:
		a.Min, a.Max = 0, 1
	case a.Min == a.Max:
		a.Min, a.Max = a.Min-0.5, a.Max+0.5
	default:
		span := a.Max - a.Min
		if a.Min >= 0 && a.Min < 0.3*span { // from 0 where that costs little
			a.Min = 0
		} else {
			a.Min -= 0.05 * span
		}
		a.Max += 0.05 * span
	}
}

func addLine(p *plot.Plot, l Series, c color.RGBA) error {
	runs := pieces(l)
	n := 0
	for _, r := range runs {
		n += len(r)
	}
	for _, r := range runs {
		if len(r) == 1 || n <= 12 { // a mark where no line could be seen
			s, err := plotter.NewScatter(r)
			if err != nil {
				return err
			}
			s.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(2.2), Shape: draw.CircleGlyph{}}
			p.Add(s)
		}
		if len(r) == 1 {
			continue
		}
		if n > smoothFrom {
			if err := stroke(p, r, pale(c), 0.7, false); err != nil {
				return err
			}
			r = runningMean(r, n/40)
		}
		if err := stroke(p, r, c, 1.6, l.Dashed); err != nil {
			return err
		}
	}
	return nil
}

func stroke(p *plot.Plot, r plotter.XYs, c color.Color, width float64, dashed bool) error {
	line, err := plotter.NewLine(r)
	if err != nil {
		return err
	}
	line.LineStyle = draw.LineStyle{Color: c, Width: vg.Points(width)}
	if dashed {
		line.Dashes = []vg.Length{vg.Points(4), vg.Points(2.5)}
	}
	p.Add(line)
	return nil
}

// pieces splits a line at values that are not finite.
func pieces(l Series) []plotter.XYs {
	var all []plotter.XYs
	var now plotter.XYs
	for i, x := range l.X {
		if finite(x) && finite(l.Y[i]) {
			now = append(now, plotter.XY{X: x, Y: l.Y[i]})
			continue
		}
		if now != nil {
			all = append(all, now)
		}
		now = nil
	}
	if now != nil {
		all = append(all, now)
	}
	return all
}

// runningMean replaces each value by the mean of those at most half places away.
func runningMean(r plotter.XYs, half int) plotter.XYs {
	sums := make([]float64, len(r)+1)
	for i, p := range r {
		sums[i+1] = sums[i] + p.Y
	}
	out := make(plotter.XYs, len(r))
	for i, p := range r {
		lo, hi := max(i-half, 0), min(i+half+1, len(r))
		out[i] = plotter.XY{X: p.X, Y: (sums[hi] - sums[lo]) / float64(hi-lo)}
	}
	return out
}

// pale mixes a color with three parts of paper.
func pale(c color.RGBA) color.RGBA {
	f := func(v uint8) uint8 { return uint8((int(v) + 3*255) / 4) }
	return color.RGBA{f(c.R), f(c.G), f(c.B), 255}
}
