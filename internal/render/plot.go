package render

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"tercet/internal/fsx"
)

// Plots are written twice, base.png (at dots per inch) and base.svg, for base a
// path without one of these extensions; a given one is taken off.
const dots = 144

// newPlot returns an empty plot in the house's style: sans serif, thin axes, a
// light grid, upright lines only if asked for.
func newPlot(title, x, y string, upright bool) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.TextStyle.Font = sans(13, true)
	p.Title.TextStyle.Color = ink
	p.Title.Padding = vg.Points(8)
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = sans(11, false)
		a.Label.TextStyle.Color = ink
		a.Label.Padding = vg.Points(5)
		a.Tick.Label.Font = sans(9.5, false)
		a.Tick.Label.Color = faint
		a.Tick.Length = vg.Points(3)
		a.LineStyle.Color, a.Tick.LineStyle.Color = faint, faint
		a.LineStyle.Width, a.Tick.LineStyle.Width = vg.Points(0.6), vg.Points(0.6)
		a.Tick.Marker = ticks{}
	}
	p.X.Padding, p.Y.Padding = 0, 0
	g := plotter.NewGrid()
	g.Horizontal.Color, g.Vertical.Color = rule, rule
	g.Horizontal.Width, g.Vertical.Width = vg.Points(0.5), vg.Points(0.5)
	if !upright {
		g.Vertical.Color = nil
	}
	p.Add(g)
	return p
}

func sans(size float64, bold bool) font.Font {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return f
}

func lettering(size float64, c color.Color) text.Style {
	return text.Style{Color: c, Font: sans(size, false), Handler: plot.DefaultTextHandler}
}

// ticks puts labels at multiples of 1, 2 or 5 times a power of ten, with the
// same number of digits each.
type ticks struct{}

func (ticks) Ticks(lo, hi float64) []plot.Tick {
	if !(hi > lo) || math.IsInf(hi-lo, 0) {
		return []plot.Tick{{Value: lo, Label: fmt.Sprintf("%.4g", lo)}}
	}
	step := math.Pow(10, math.Floor(math.Log10(hi-lo)))
	for (hi-lo)/step < 4 {
		step /= 2
		if (hi-lo)/step < 4 {
			step /= 2.5
		}
	}
	for (hi-lo)/step > 8 {
		step *= 2
	}
	digits := 0
	for s := step; digits < 12 && math.Abs(s-math.Round(s)) > 1e-6*s; s *= 10 {
		digits++
	}
	var list []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+1e-9*step; i++ {
		v := i * step
		label := fmt.Sprintf("%.*f", digits, v+0)
		switch {
		case math.Abs(v) < step/1e6:
			v, label = 0, "0"
		case digits >= 5 || math.Abs(hi) >= 1e7:
			label = fmt.Sprintf("%.3g", v)
		case math.Abs(hi) >= 10000:
			label = thousands(label)
		}
		list = append(list, plot.Tick{Value: v, Label: label})
	}
	return list
}

// logTicks puts labels at 1, 2 and 5 times powers of ten, where those are too many at
// powers of ten alone.
type logTicks struct{}

func (logTicks) Ticks(lo, hi float64) []plot.Tick {
	var list []plot.Tick
	for e := math.Floor(math.Log10(lo)); e <= math.Log10(hi); e++ {
		for _, f := range []float64{1, 2, 5} {
			v := f * math.Pow(10, e)
			if v < lo || v > hi || f != 1 && hi/lo > 1000 {
				continue
			}
			label := fmt.Sprintf("%.4g", v)
			if v >= 10000 {
				label = thousands(fmt.Sprintf("%.0f", v))
			}
			list = append(list, plot.Tick{Value: v, Label: label})
		}
	}
	return list
}

// thousands groups the digits of a whole number.
func thousands(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// drawing draws on a canvas of any kind.
type drawing func(c draw.Canvas)

// write draws to base.png and base.svg, w x h points.
func write(base string, w, h vg.Length, d drawing) error {
	if e := filepath.Ext(base); strings.EqualFold(e, ".png") || strings.EqualFold(e, ".svg") {
		base = strings.TrimSuffix(base, e)
	}
	bitmap := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dots), vgimg.UseBackgroundColor(paper))
	d(draw.New(bitmap))
	var b bytes.Buffer
	if err := encode(&b, bitmap.Image()); err != nil {
		return fmt.Errorf("plot %s.png: %w", base, err)
	}
	if err := fsx.WriteFile(base+".png", b.Bytes(), 0o644); err != nil {
		return err
	}
	vector := vgsvg.New(w, h)
	d(draw.New(vector))
	b.Reset()
	if _, err := vector.WriteTo(&b); err != nil {
		return fmt.Errorf("plot %s.svg: %w", base, err)
	}
	return fsx.WriteFile(base+".svg", b.Bytes(), 0o644)
}

// background makes the canvas white: SVG has no ground of its own.
func background(c draw.Canvas) {
	if _, white := c.Canvas.(*vgimg.Canvas); white {
		return
	}
	c.SetColor(paper)
	c.Fill(c.Rectangle.Path())
}

// heading draws a bold title at the top and returns the canvas below it.
func heading(c draw.Canvas, title string) draw.Canvas {
	if title == "" {
		return draw.Crop(c, vg.Points(8), -vg.Points(8), vg.Points(6), -vg.Points(8))
	}
	s := lettering(15, ink)
	s.Font = sans(15, true)
	s.XAlign, s.YAlign = text.XLeft, text.YTop
	c.FillText(s, vg.Point{X: c.Min.X + vg.Points(10), Y: c.Max.Y - vg.Points(9)}, title)
	return draw.Crop(c, vg.Points(8), -vg.Points(8), vg.Points(6), -vg.Points(36))
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// mark is a legend entry: a colored sign and its name.
type mark struct {
	name  string
	style draw.GlyphStyle
}

// key draws legend entries from the top left corner of c, in as many columns as
// fit, names cut to the room they have.
func key(c draw.Canvas, marks []mark) {
	const line, width = 15, 92
	rows := max(1, int((c.Max.Y-c.Min.Y)/vg.Points(line)))
	s := lettering(9.5, ink)
	s.YAlign = text.YCenter
	for i, m := range marks {
		x := c.Min.X + vg.Points(width)*vg.Length(i/rows)
		y := c.Max.Y - vg.Points(line)*(vg.Length(i%rows)+0.5)
		c.DrawGlyph(m.style, vg.Point{X: x + vg.Points(6), Y: y})
		c.FillText(s, vg.Point{X: x + vg.Points(14), Y: y}, shorten(s, m.name, vg.Points(width-16)))
	}
}

func shorten(s text.Style, words string, width vg.Length) string {
	if s.Width(words) <= width {
		return words
	}
	r := []rune(words)
	for len(r) > 0 && s.Width(string(r)+"…") > width {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}

// drawGrid draws plots in aligned cells of body; nil leaves a cell empty.
func drawGrid(grid [][]*plot.Plot, tiles draw.Tiles, body draw.Canvas) {
	cells := plot.Align(grid, tiles, body)
	for i, row := range grid {
		for j, p := range row {
			if p != nil {
				p.Draw(cells[i][j])
			}
		}
	}
}
