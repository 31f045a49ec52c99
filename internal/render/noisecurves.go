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

// NoiseCurve are the scores of one loss and one method at rising label noise.
type NoiseCurve struct {
	Loss, Method string
	Rates        []float64 // ascending
	Scores       []Bar     // one for each rate; NaN values leave a gap
}

// NoisePanel is one plot of score against noise.
type NoisePanel struct {
	Title, YLabel string
	Percent       bool // scores are fractions, shown as percent
	Log           bool // the axis is logarithmic: for numbers of clusters
	Curves        []NoiseCurve
}

// NoiseCurves writes base.png and base.svg: panels, cols in a row, with a line for
// each loss and method and upright bars for its intervals. A loss has one colour, a
// method one kind of line and sign, in all panels. Panels of one YLabel have one
// scale.
func NoiseCurves(base, title, note, xLabel string, cols int, panels []NoisePanel) error {
	if len(panels) == 0 || cols < 1 {
		return fmt.Errorf("plot %s: %d panels in rows of %d; nothing to show", base, len(panels), cols)
	}
	d := &noiseStyle{low: math.Inf(1), high: math.Inf(-1), step: math.Inf(1), apart: true}
	for _, p := range panels {
		if err := d.see(p); err != nil {
			return fmt.Errorf("plot %s: panel %q: %w", base, p.YLabel, err)
		}
	}
	if math.IsInf(d.low, 0) {
		return fmt.Errorf("plot %s: no finite scores to show", base)
	}
	if math.IsInf(d.step, 0) {
		d.step = 1
	}
	cols = min(cols, len(panels))
	rows := (len(panels) + cols - 1) / cols
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, cols)
	}
	drawn := map[string][]*plot.Plot{}
	for i, p := range panels {
		pl := d.plot(p, xLabel)
		grid[i/cols][i%cols], drawn[p.YLabel] = pl, append(drawn[p.YLabel], pl)
	}
	for _, same := range drawn {
		oneScale(same)
	}
	side := d.side()
	width := vg.Points(66) + side + vg.Points(270)*vg.Length(cols)
	height := vg.Points(66) + vg.Points(215)*vg.Length(rows)
	return write(base, width, height, func(c draw.Canvas) {
		background(c)
		body := heading(c, title)
		s := lettering(10, faint)
		s.YAlign = text.YTop
		c.FillText(s, vg.Point{X: body.Min.X + vg.Points(2), Y: body.Max.Y + vg.Points(6)}, note)
		legend := body
		legend.Min.X, legend.Max.Y = body.Max.X-side+vg.Points(8), body.Max.Y-vg.Points(16)
		body.Max.X -= side
		tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: vg.Points(18), PadY: vg.Points(12), PadTop: vg.Points(12)}
		drawGrid(grid, tiles, body)
		d.legend(legend)
	})
}

// noiseStyle gives losses their colours and methods their lines.
type noiseStyle struct {
	losses, methods []string
	low, high, step float64 // of all rates; the smallest step between two
	apart           bool    // each panel has one method alone
}

var noiseDashes = [][]vg.Length{nil, {vg.Points(5), vg.Points(2.5)}, {vg.Points(1.2), vg.Points(2)}, {vg.Points(7), vg.Points(2), vg.Points(1.2), vg.Points(2)}}

var noiseShapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}}

// see checks a panel and takes its names and rates.
func (d *noiseStyle) see(p NoisePanel) error {
	for _, c := range p.Curves {
		d.apart = d.apart && c.Method == p.Curves[0].Method
		name := c.Loss + " " + c.Method
		if len(c.Rates) != len(c.Scores) {
			return fmt.Errorf("%s has %d rates and %d scores", name, len(c.Rates), len(c.Scores))
		}
		for i, r := range c.Rates {
			v := c.Scores[i]
			switch {
			case !finite(r):
				return fmt.Errorf("%s has the rate %v", name, r)
			case i > 0 && r <= c.Rates[i-1]:
				return fmt.Errorf("%s has the rate %v after %v; rates ascend", name, r, c.Rates[i-1])
			case math.IsInf(v.Value, 0) || v.Low > v.Value || v.High < v.Value:
				return fmt.Errorf("%s at rate %v: %v [%v, %v]", name, r, v.Value, v.Low, v.High)
			case p.Log && v.Value <= 0:
				return fmt.Errorf("%s at rate %v: %v has no logarithm", name, r, v.Value)
			}
			if i > 0 {
				d.step = min(d.step, r-c.Rates[i-1])
			}
			if !math.IsNaN(v.Value) {
				d.low, d.high = min(d.low, r), max(d.high, r)
			}
		}
		for _, n := range []struct {
			list *[]string
			name string
		}{{&d.losses, c.Loss}, {&d.methods, c.Method}} {
			if !slices.Contains(*n.list, n.name) {
				*n.list = append(*n.list, n.name)
			}
		}
	}
	return nil
}

func (d *noiseStyle) plot(p NoisePanel, xLabel string) *plot.Plot {
	label := p.YLabel
	if p.Percent {
		label += " (%)"
	}
	pl := newPlot(p.Title, xLabel, label, false)
	pl.Title.TextStyle.Font = sans(11, true)
	pl.Title.Padding = vg.Points(3)
	marks := &noiseMarks{p: p, style: d}
	pl.Add(marks)
	pl.X.Min, pl.X.Max = d.low-0.4*d.step, d.high+0.4*d.step
	if d.low == d.high {
		pl.X.Min, pl.X.Max = d.low-d.step, d.high+d.step
		pl.X.Tick.Marker = plot.ConstantTicks{{Value: d.low, Label: fmt.Sprintf("%.4g", d.low)}}
	}
	if p.Log {
		// Over a factor of 2.6 there is at least one tick.
		wide := max(1.15, math.Sqrt(2.6*pl.Y.Min/pl.Y.Max))
		pl.Y.Min, pl.Y.Max = pl.Y.Min/wide, pl.Y.Max*wide
		pl.Y.Scale, pl.Y.Tick.Marker = plot.LogScale{}, logTicks{}
	} else {
		room(&pl.Y)
	}
	return pl
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

// noiseMarks draws the curves of a panel.
type noiseMarks struct {
	p     NoisePanel
	style *noiseStyle
}

func (m *noiseMarks) unit(v float64) float64 {
	if m.p.Percent {
		return 100 * v
	}
	return v
}

// ends are those of an interval that can be drawn.
func (m *noiseMarks) ends(b Bar) (low, high float64, ok bool) {
	low = b.Low
	if m.p.Log { // Student's interval may reach below nothing
		low = max(low, b.Value/4)
	}
	return low, b.High, finite(low) && finite(b.High) && low < b.High
}

func (m *noiseMarks) DataRange() (xmin, xmax, ymin, ymax float64) {
	ymin, ymax = math.Inf(1), math.Inf(-1)
	for _, c := range m.p.Curves {
		for _, b := range c.Scores {
			if math.IsNaN(b.Value) {
				continue
			}
			low, high := b.Value, b.Value
			if l, h, ok := m.ends(b); ok {
				low, high = l, h
			}
			ymin, ymax = min(ymin, m.unit(low)), max(ymax, m.unit(high))
		}
	}
	if ymin > ymax {
		ymin, ymax = 0.5, 1
	}
	return m.style.low, m.style.high, ymin, ymax
}

func (m *noiseMarks) Plot(c draw.Canvas, p *plot.Plot) {
	xs, ys := p.Transforms(&c)
	for _, curve := range m.p.Curves {
		col, dashes, shape := m.style.of(curve)
		shift := m.style.shift(curve)
		var run []vg.Point
		flush := func() {
			if len(run) > 1 {
				c.StrokeLines(draw.LineStyle{Color: col, Width: vg.Points(1.3), Dashes: dashes}, run)
			}
			run = nil
		}
		for i, b := range curve.Scores {
			if math.IsNaN(b.Value) {
				flush()
				continue
			}
			x := xs(curve.Rates[i] + shift)
			if low, high, ok := m.ends(b); ok {
				c.StrokeLine2(draw.LineStyle{Color: pale(col), Width: vg.Points(2.4)}, x, ys(m.unit(low)), x, ys(m.unit(high)))
			}
			run = append(run, vg.Point{X: x, Y: ys(m.unit(b.Value))})
		}
		flush()
		for i, b := range curve.Scores { // on top of lines and bars
			if !math.IsNaN(b.Value) {
				c.DrawGlyph(draw.GlyphStyle{Color: col, Radius: vg.Points(2.3), Shape: shape}, vg.Point{X: xs(curve.Rates[i] + shift), Y: ys(m.unit(b.Value))})
			}
		}
	}
}

func (d *noiseStyle) of(c NoiseCurve) (color.RGBA, []vg.Length, draw.GlyphDrawer) {
	k := slices.Index(d.methods, c.Method)
	return Palette[slices.Index(d.losses, c.Loss)%len(Palette)], noiseDashes[k%len(noiseDashes)], noiseShapes[k%len(noiseShapes)]
}

// shift sets the curves of different losses and methods a little apart, in all panels
// alike, so that their intervals can be told.
func (d *noiseStyle) shift(c NoiseCurve) float64 {
	k, n := slices.Index(d.losses, c.Loss), len(d.losses)
	if !d.apart { // methods share panels
		k, n = k*len(d.methods)+slices.Index(d.methods, c.Method), n*len(d.methods)
	}
	if n < 2 {
		return 0
	}
	return d.step * 0.4 * (float64(k)/float64(n-1) - 0.5)
}

// side is the width of the legend: more than usual for long names.
func (d *noiseStyle) side() vg.Length {
	side, s := vg.Points(108), lettering(9.5, ink)
	for _, name := range append(slices.Clone(d.losses), d.methods...) {
		side = max(side, s.Width(name)+vg.Points(36))
	}
	return min(side, vg.Points(220))
}

// legend draws losses in their colours, then methods in their kinds of line.
func (d *noiseStyle) legend(c draw.Canvas) {
	const pitch = 15
	s := lettering(9.5, ink)
	s.YAlign = text.YCenter
	x, y := c.Min.X, c.Max.Y
	entry := func(name string, col color.RGBA, dashes []vg.Length, shape draw.GlyphDrawer) {
		y -= vg.Points(pitch)
		c.StrokeLine2(draw.LineStyle{Color: col, Width: vg.Points(1.5), Dashes: dashes}, x, y, x+vg.Points(20), y)
		if shape != nil {
			c.DrawGlyph(draw.GlyphStyle{Color: col, Radius: vg.Points(2.3), Shape: shape}, vg.Point{X: x + vg.Points(10), Y: y})
		}
		c.FillText(s, vg.Point{X: x + vg.Points(25), Y: y}, shorten(s, name, c.Max.X-x-vg.Points(25)))
	}
	for i, l := range d.losses {
		entry(l, Palette[i%len(Palette)], nil, nil)
	}
	if len(d.methods) < 2 {
		return
	}
	y -= vg.Points(6)
	for i, m := range d.methods {
		entry(m, faint, noiseDashes[i%len(noiseDashes)], noiseShapes[i%len(noiseShapes)])
	}
}
