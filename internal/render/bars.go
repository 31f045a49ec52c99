package render

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	plottext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tercet/internal/text"
)

// Bar is a value with its interval; Low and High NaN, or both equal to Value,
// mean none. A NaN value leaves a gap.
type Bar struct{ Value, Low, High float64 }

// BarSeries is one bar of each group, in one colour.
type BarSeries struct {
	Name string
	Bars []Bar // one for each group
}

// BarChart compares scores: groups along x, in each a bar of every series.
type BarChart struct {
	Title, YLabel string
	Groups        []string
	Series        []BarSeries
	Percent       bool // values are fractions, shown as percent
}

// Bars writes base.png and base.svg.
func Bars(base string, b BarChart) error {
	if len(b.Groups) == 0 || len(b.Series) == 0 {
		return fmt.Errorf("plot %s: %d groups of %d bars; nothing to show", base, len(b.Groups), len(b.Series))
	}
	for _, s := range b.Series {
		if len(s.Bars) != len(b.Groups) {
			return fmt.Errorf("plot %s: series %q has %d bars for %d groups", base, s.Name, len(s.Bars), len(b.Groups))
		}
		for i, v := range s.Bars {
			if math.IsInf(v.Value, 0) || v.Low > v.Value || v.High < v.Value {
				return fmt.Errorf("plot %s: series %q, group %q: %v [%v, %v]", base, s.Name, b.Groups[i], v.Value, v.Low, v.High)
			}
		}
	}
	label := b.YLabel
	if b.Percent {
		label += " (%)"
	}
	p := newPlot("", "", label, false)
	draws := &bars{b: b}
	p.Add(draws)
	p.X.Min, p.X.Max = -0.6, float64(len(b.Groups))-0.4
	if p.Y.Max <= p.Y.Min {
		p.Y.Max = p.Y.Min + 1
	}
	p.Y.Max += 0.09 * (p.Y.Max - p.Y.Min) // for the numbers above the bars
	p.X.Tick.Marker = groupTicks(b.Groups)
	p.X.Tick.Length = vg.Points(4) // distance of the names from the axis
	p.X.Tick.LineStyle.Color = color.Transparent
	p.X.Tick.Label.Color = ink
	p.X.Tick.Label.Font = sans(11, false)
	var marks []mark
	for i, s := range b.Series {
		marks = append(marks, mark{s.Name, draw.GlyphStyle{Color: Palette[i%len(Palette)], Radius: vg.Points(4), Shape: draw.BoxGlyph{}}})
	}
	widest := vg.Points(34 * float64(len(b.Series)))
	for _, g := range b.Groups {
		widest = max(widest, p.X.Tick.Label.Width(g))
	}
	width := max(vg.Points(360), vg.Points(80)+vg.Length(len(b.Groups))*(widest+vg.Points(26)))
	side := vg.Length(0)
	if len(marks) > 1 {
		side = vg.Points(110)
	}
	return write(base, width+side, vg.Points(330), func(c draw.Canvas) {
		background(c)
		body := heading(c, b.Title)
		p.Draw(draw.Crop(body, 0, -side-vg.Points(4), 0, 0))
		if side > 0 {
			body.Min.X = body.Max.X - side + vg.Points(6)
			key(body, marks)
		}
	})
}

type groupTicks []string

func (g groupTicks) Ticks(lo, hi float64) []plot.Tick {
	var list []plot.Tick
	for i, s := range g {
		list = append(list, plot.Tick{Value: float64(i), Label: s})
	}
	return list
}

// bars draws all series of a chart.
type bars struct{ b BarChart }

func (d *bars) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, s := range d.b.Series {
		for _, v := range s.Bars {
			for _, e := range []float64{v.Value, v.Low, v.High} {
				if finite(e) {
					ymin, ymax = min(ymin, d.scale(e)), max(ymax, d.scale(e))
				}
			}
		}
	}
	return 0, float64(len(d.b.Groups) - 1), ymin, ymax
}

func (d *bars) scale(v float64) float64 {
	if d.b.Percent {
		return 100 * v
	}
	return v
}

func (d *bars) Plot(c draw.Canvas, p *plot.Plot) {
	xs, ys := p.Transforms(&c)
	share := 0.8 / float64(len(d.b.Series))
	column := Column{Percent: d.b.Percent}
	for i, s := range d.b.Series {
		for g, v := range s.Bars {
			if math.IsNaN(v.Value) {
				continue
			}
			left := float64(g) - 0.4 + float64(i)*share
			x0, x1 := xs(left+0.04*share), xs(left+0.96*share)
			y0, y1 := ys(0), ys(d.scale(v.Value))
			c.SetColor(Palette[i%len(Palette)])
			c.Fill(vg.Rectangle{Min: vg.Point{X: x0, Y: y0}, Max: vg.Point{X: x1, Y: y1}}.Path())
			top := max(y0, y1)
			mid := (x0 + x1) / 2
			if finite(v.Low) && finite(v.High) && v.Low < v.High {
				lo, hi := ys(d.scale(v.Low)), ys(d.scale(v.High))
				line := draw.LineStyle{Color: ink, Width: vg.Points(1)}
				cap := min(vg.Points(4), (x1-x0)/4)
				c.StrokeLine2(line, mid, lo, mid, hi)
				c.StrokeLine2(line, mid-cap, lo, mid+cap, lo)
				c.StrokeLine2(line, mid-cap, hi, mid+cap, hi)
				top = max(top, hi)
			}
			words := lettering(8.5, ink)
			words.XAlign = plottext.XCenter
			c.FillText(words, vg.Point{X: mid, Y: top + vg.Points(3)}, column.number(v.Value))
		}
	}
	if p.Y.Min < 0 {
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: vg.Points(0.8)}, c.Min.X, ys(0), c.Max.X, ys(0))
	}
}

// ClusterSizes writes base.png and base.svg: how many clusters have how many
// members.
func ClusterSizes(base, title string, sizes []int) error {
	if len(sizes) == 0 {
		return fmt.Errorf("plot %s: no clusters", base)
	}
	smallest, largest, total := slices.Min(sizes), slices.Max(sizes), 0
	if smallest < 0 {
		return fmt.Errorf("plot %s: a cluster of %d members", base, smallest)
	}
	for _, s := range sizes {
		total += s
	}
	width := niceWidth(largest - smallest + 1)
	first := smallest / width * width
	bins := make([]int, (largest-first)/width+1)
	for _, s := range sizes {
		bins[(s-first)/width]++
	}
	label := "members of a cluster"
	if width > 1 {
		label += fmt.Sprintf(" (bins of %d)", width)
	}
	p := newPlot("", label, "clusters", false)
	h := &plotter.Histogram{Width: float64(width), FillColor: Palette[0], LineStyle: draw.LineStyle{Color: paper, Width: vg.Points(0.8)}}
	for i, n := range bins {
		lo := float64(first+i*width) - 0.5
		h.Bins = append(h.Bins, plotter.HistogramBin{Min: lo, Max: lo + float64(width), Weight: float64(n)})
	}
	p.Add(h)
	spread(&p.X)
	p.Y.Min = 0
	p.Y.Max *= 1.08
	p.X.Tick.Marker, p.Y.Tick.Marker = wholeTicks{}, wholeTicks{}
	sorted := slices.Sorted(slices.Values(sizes))
	note := fmt.Sprintf("%s, %s members; smallest %d, median %d, largest %d",
		text.Plural(len(sizes), "cluster", "clusters"), thousands(fmt.Sprint(total)), smallest, sorted[len(sorted)/2], largest)
	return write(base, vg.Points(520), vg.Points(330), func(c draw.Canvas) {
		background(c)
		body := heading(c, title)
		s := lettering(10, faint)
		s.YAlign = plottext.YTop
		c.FillText(s, vg.Point{X: body.Min.X + vg.Points(2), Y: body.Max.Y + vg.Points(6)}, note)
		p.Draw(draw.Crop(body, 0, -vg.Points(10), 0, -vg.Points(14)))
	})
}

// wholeTicks are those of ticks that stand at whole numbers, for counts.
type wholeTicks struct{}

func (wholeTicks) Ticks(lo, hi float64) []plot.Tick {
	if hi-lo >= 8 { // steps of 1 or more
		return ticks{}.Ticks(lo, hi)
	}
	var list []plot.Tick
	for v := math.Ceil(lo); v <= hi; v++ {
		list = append(list, plot.Tick{Value: v, Label: thousands(fmt.Sprintf("%.0f", v))})
	}
	return list
}

// niceWidth returns the smallest of 1, 2, 5, 10, 20, ... with at most 40 bins.
func niceWidth(span int) int {
	for w := 1; ; w *= 10 {
		for _, f := range []int{1, 2, 5} {
			if span/(w*f) < 40 {
				return w * f
			}
		}
	}
}
