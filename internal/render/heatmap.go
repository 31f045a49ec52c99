package render

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// heatStops are the colors from 0 to the largest value, evenly apart; lightness
// falls all the way.
var heatStops = []color.RGBA{
	{0xF4, 0xF8, 0xFC, 255}, {0xB5, 0xD4, 0xEA, 255}, {0x4E, 0x97, 0xC9, 255}, {0x0B, 0x5C, 0x9E, 255}, {0x05, 0x2C, 0x5C, 255},
}

// heat is the color of a fraction in [0, 1].
func heat(f float64) color.RGBA {
	at := f * float64(len(heatStops)-1)
	i := min(int(at), len(heatStops)-2)
	a, b, t := heatStops[i], heatStops[i+1], at-float64(i)
	mix := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + t*(float64(y)-float64(x)))) }
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// Bounds of a heat map.
const (
	maxHeat  = 20000 // cells
	numbered = 450   // cells up to which each has its number
)

// Heatmap writes base.png and base.svg: values, one for each row and column, as
// colors from 0 to the largest, such as a contingency table of clusters and classes.
// Where there are few, each cell that is not 0 has its number. Rows and columns stand
// in the caller's order, the first row at the top. Values are finite and not
// negative. Lines of words stand below the title.
func Heatmap(base, title, xLabel, yLabel string, rows, cols []string, values [][]float64, words ...string) error {
	if len(rows) == 0 || len(cols) == 0 {
		return fmt.Errorf("heat map %s: %d rows of %d columns; nothing to show", base, len(rows), len(cols))
	}
	if len(rows) > maxHeat/len(cols) {
		return fmt.Errorf("heat map %s: %d rows of %d columns; at most %d cells are visible: leave out the smallest", base, len(rows), len(cols), maxHeat)
	}
	if len(values) != len(rows) {
		return fmt.Errorf("heat map %s: values of %d rows for %d names", base, len(values), len(rows))
	}
	h := &heatmap{rows: rows, cols: cols, values: values, xLabel: xLabel, yLabel: yLabel, whole: true}
	for i, r := range values {
		if len(r) != len(cols) {
			return fmt.Errorf("heat map %s: row %q has %d values for %d columns", base, rows[i], len(r), len(cols))
		}
		for j, v := range r {
			if !finite(v) || v < 0 {
				return fmt.Errorf("heat map %s: row %q, column %q: %v", base, rows[i], cols[j], v)
			}
			h.whole = h.whole && v == math.Trunc(v)
			h.top = max(h.top, v)
		}
	}
	h.measure()
	below := lettering(heatWords, faint)
	width, line := h.width(title), vg.Points(heatWords+4)
	for _, w := range words {
		width = max(width, below.Width(w)+vg.Points(24))
	}
	return write(base, width, h.height()+line*vg.Length(len(words)), func(c draw.Canvas) {
		background(c)
		body := heading(c, title)
		below.YAlign = text.YTop
		for _, w := range words {
			c.FillText(below, vg.Point{X: c.Min.X + vg.Points(10), Y: body.Max.Y + vg.Points(4)}, w)
			body.Max.Y -= line
		}
		h.draw(body)
	})
}

// heatmap is a heat map with its measures in points.
type heatmap struct {
	rows, cols       []string
	values           [][]float64
	xLabel, yLabel   string
	whole            bool
	top              float64
	cellW, cellH     vg.Length
	left, below      vg.Length // room of the names
	upright, numbers bool      // column names turned; cells with numbers
}

const (
	heatSize  = 8.5 // of letters
	heatWords = 10  // of letters below the title
	heatSide  = 26  // room of an axis' label
	heatScale = 64  // room of the color scale
)

func (h *heatmap) measure() {
	s := lettering(heatSize, ink)
	widest := func(names []string) vg.Length {
		w := vg.Length(0)
		for _, n := range names {
			w = max(w, s.Width(n))
		}
		return min(w, vg.Points(110))
	}
	h.numbers = len(h.rows)*len(h.cols) <= numbered
	h.cellW = min(max(vg.Points(640)/vg.Length(len(h.cols)), vg.Points(2)), vg.Points(38))
	h.cellH = min(max(vg.Points(520)/vg.Length(len(h.rows)), vg.Points(2)), vg.Points(24))
	if h.numbers {
		h.cellH = max(h.cellH, vg.Points(13))
		for _, r := range h.values {
			for _, v := range r {
				h.cellW = max(h.cellW, s.Width(h.number(v))+vg.Points(6))
			}
		}
	}
	names := widest(h.cols)
	h.left = widest(h.rows) + vg.Points(8)
	h.upright = names > h.cellW-vg.Points(3)
	if h.below = vg.Points(heatSize + 8); h.upright {
		h.below = names + vg.Points(10)
	}
}

func (h *heatmap) width(title string) vg.Length {
	s := lettering(15, ink)
	s.Font = sans(15, true)
	w := vg.Points(16+heatSide+heatScale) + h.left + h.cellW*vg.Length(len(h.cols))
	return max(w, s.Width(title)+vg.Points(24))
}

func (h *heatmap) height() vg.Length {
	return vg.Points(36+6+heatSide) + h.below + max(h.cellH*vg.Length(len(h.rows)), vg.Points(60))
}

func (h *heatmap) number(v float64) string {
	switch {
	case v == 0:
		return ""
	case h.whole:
		return thousands(fmt.Sprintf("%.0f", v))
	}
	return Column{Digits: 2}.number(v)
}

// fraction is where v stands on the scale of colors.
func (h *heatmap) fraction(v float64) float64 {
	if h.top == 0 {
		return 0
	}
	return v / h.top
}

func (h *heatmap) draw(c draw.Canvas) {
	x0, y0 := c.Min.X+vg.Points(heatSide)+h.left, c.Max.Y
	x1, y1 := x0+h.cellW*vg.Length(len(h.cols)), y0-h.cellH*vg.Length(len(h.rows))
	seam := vg.Points(0.7) // between cells that are large enough
	if min(h.cellW, h.cellH) < vg.Points(6) {
		seam = -vg.Points(0.1) // none: cells overlap a little, or viewers show hairlines
	}
	s := lettering(heatSize, ink)
	s.XAlign, s.YAlign = text.XCenter, text.YCenter
	for i, r := range h.values {
		for j, v := range r {
			x, y := x0+h.cellW*vg.Length(j), y0-h.cellH*vg.Length(i+1)
			f := h.fraction(v)
			c.SetColor(heat(f))
			c.Fill(vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + h.cellW - seam, Y: y + h.cellH - seam}}.Path())
			if h.numbers {
				if s.Color = ink; f > 0.45 {
					s.Color = paper
				}
				c.FillText(s, vg.Point{X: x + h.cellW/2, Y: y + h.cellH/2}, h.number(v))
			}
		}
	}
	h.names(c, x0, y0, y1)
	l := lettering(11, ink)
	l.XAlign = text.XCenter
	c.FillText(l, vg.Point{X: (x0 + x1) / 2, Y: y1 - h.below - vg.Points(13)}, h.xLabel)
	l.Rotation, l.YAlign = math.Pi/2, text.YTop
	c.FillText(l, vg.Point{X: c.Min.X + vg.Points(2), Y: (y0 + y1) / 2}, h.yLabel)
	h.scale(c, x1+vg.Points(14), y0)
}

// names writes those of rows and columns, of many only every few.
func (h *heatmap) names(c draw.Canvas, x0, y0, y1 vg.Length) {
	s := lettering(heatSize, faint)
	every := func(cell vg.Length) int { return int(math.Ceil(float64(vg.Points(heatSize+2) / cell))) }
	s.XAlign, s.YAlign = text.XRight, text.YCenter
	for i := 0; i < len(h.rows); i += every(h.cellH) {
		c.FillText(s, vg.Point{X: x0 - vg.Points(5), Y: y0 - h.cellH*(vg.Length(i)+0.5)}, shorten(s, h.rows[i], vg.Points(110)))
	}
	step := 1
	s.XAlign, s.YAlign = text.XCenter, text.YTop
	if h.upright {
		step = every(h.cellW)
		s.Rotation, s.XAlign, s.YAlign = math.Pi/2, text.XRight, text.YCenter
	}
	for j := 0; j < len(h.cols); j += step {
		c.FillText(s, vg.Point{X: x0 + h.cellW*(vg.Length(j)+0.5), Y: y1 - vg.Points(5)}, shorten(lettering(heatSize, faint), h.cols[j], vg.Points(110)))
	}
}

// scale draws the colors with their values, from y down.
func (h *heatmap) scale(c draw.Canvas, x, y vg.Length) {
	const steps, wide = 60, 11
	height := min(max(h.cellH*vg.Length(len(h.rows)), vg.Points(60)), vg.Points(150))
	bottom := y - height
	for i := range steps {
		lo := bottom + height*vg.Length(i)/steps
		c.SetColor(heat((float64(i) + 0.5) / steps))
		c.Fill(vg.Rectangle{Min: vg.Point{X: x, Y: lo}, Max: vg.Point{X: x + vg.Points(wide), Y: min(lo+2*height/steps, y)}}.Path()) // the next covers half, so that no hairline shows
	}
	s := lettering(heatSize, faint)
	s.YAlign = text.YCenter
	if h.top == 0 {
		c.FillText(s, vg.Point{X: x + vg.Points(wide+5), Y: bottom}, "0")
		return
	}
	for _, t := range (ticks{}).Ticks(0, h.top) {
		c.FillText(s, vg.Point{X: x + vg.Points(wide+5), Y: bottom + height*vg.Length(t.Value/h.top)}, t.Label)
	}
}
