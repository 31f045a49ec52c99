package render

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tercet/internal/lists"
)

// Replaced is a training with one image replaced, and how far it moved the network.
type Replaced struct {
	Name, Kind                           string
	LossMax, LossMean, Cosine, Neighbors float64 // Neighbors is a fraction
}

// Stability writes base.png and base.svg: four panels of bars, one for each training,
// in the order of the largest change of a loss. A kind of replacement has one color.
func Stability(base, title, note string, list []Replaced) error {
	if len(list) == 0 {
		return fmt.Errorf("plot %s: no trainings to show", base)
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Replaced) int { return cmp.Compare(b.LossMax, a.LossMax) })
	var kinds []string
	for _, r := range list {
		if !finite(r.LossMax) || !finite(r.LossMean) || !finite(r.Cosine) || !finite(r.Neighbors) {
			return fmt.Errorf("plot %s: image %s (%s) has numbers that are not finite", base, r.Name, r.Kind)
		}
		kinds = lists.AppendNew(kinds, r.Kind)
	}
	slices.Sort(kinds)
	hue := func(kind string) color.RGBA { return Palette[slices.Index(kinds, kind)%len(Palette)] }
	panels := []struct {
		label string
		value func(Replaced) float64
	}{
		{"largest change of a loss", func(r Replaced) float64 { return r.LossMax }},
		{"mean change of a loss", func(r Replaced) float64 { return r.LossMean }},
		{"mean 1 - cos of embeddings", func(r Replaced) float64 { return r.Cosine }},
		{"nearest images changed (%)", func(r Replaced) float64 { return 100 * r.Neighbors }},
	}
	grid := [][]*plot.Plot{make([]*plot.Plot, 2), make([]*plot.Plot, 2)}
	for i, panel := range panels {
		p := newPlot("", "", panel.label, false)
		p.Add(&movedBars{list, panel.value, hue})
		p.X.Min, p.X.Max = -0.6, float64(len(list))-0.4
		p.X.Tick.Marker, p.X.Tick.LineStyle.Color = movedTicks(list), color.Transparent
		p.X.Label.Text = "training image that is replaced"
		if p.Y.Max <= 0 { // nothing moved
			p.Y.Max = 1
		}
		p.Y.Min, p.Y.Max = 0, 1.05*p.Y.Max
		grid[i/2][i%2] = p
	}
	width := max(vg.Points(380), min(vg.Points(640), vg.Points(70)+vg.Points(26)*vg.Length(len(list))))
	return write(base, 2*width, vg.Points(500), func(c draw.Canvas) {
		background(c)
		body := heading(c, title)
		s := lettering(10, faint)
		s.YAlign = text.YTop
		c.FillText(s, vg.Point{X: body.Min.X + vg.Points(2), Y: body.Max.Y + vg.Points(6)}, note)
		x, words := body.Min.X+vg.Points(2), lettering(10, ink)
		words.YAlign = text.YCenter
		for _, k := range kinds {
			y := body.Max.Y - vg.Points(18)
			c.DrawGlyph(draw.GlyphStyle{Color: hue(k), Radius: vg.Points(4), Shape: draw.BoxGlyph{}}, vg.Point{X: x + vg.Points(6), Y: y})
			c.FillText(words, vg.Point{X: x + vg.Points(15), Y: y}, k)
			x += words.Width(k) + vg.Points(34)
		}
		tiles := draw.Tiles{Rows: 2, Cols: 2, PadX: vg.Points(22), PadY: vg.Points(16), PadTop: vg.Points(34), PadRight: vg.Points(8)}
		drawGrid(grid, tiles, body)
	})
}

// movedTicks names the bars; of many, some.
type movedTicks []Replaced

// mostNames is how many bars have their names below them.
const mostNames = 14

func (m movedTicks) Ticks(lo, hi float64) []plot.Tick {
	every := (len(m) + mostNames - 1) / mostNames
	var list []plot.Tick
	for i := 0; i < len(m); i += every {
		list = append(list, plot.Tick{Value: float64(i), Label: m[i].Name})
	}
	return list
}

// movedBars draws a bar for each training.
type movedBars struct {
	list  []Replaced
	value func(Replaced) float64
	hue   func(kind string) color.RGBA
}

func (b *movedBars) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, r := range b.list {
		ymax = max(ymax, b.value(r))
	}
	return 0, float64(len(b.list) - 1), 0, ymax
}

func (b *movedBars) Plot(c draw.Canvas, p *plot.Plot) {
	xs, ys := p.Transforms(&c)
	for i, r := range b.list {
		c.SetColor(b.hue(r.Kind))
		c.Fill(vg.Rectangle{Min: vg.Point{X: xs(float64(i) - 0.4), Y: ys(0)}, Max: vg.Point{X: xs(float64(i) + 0.4), Y: ys(b.value(r))}}.Path())
	}
}
