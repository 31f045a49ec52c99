package render

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	plottext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tercet/internal/text"
)

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
