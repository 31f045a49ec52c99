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

// Map is a scatter plot of points colored by label.
type Map struct {
	Title  string
	Points []float64 // n x 2: x, y
	Labels []int32   // n; negative means none and is drawn in pale gray
	Names  []string  // of the labels, optional
	// Signs are color and shape of each label, numbered as the legend of a map with
	// all labels from 0 on has them; those that are not there have the sign of their
	// place among the labels. Two maps of the same points can so be given like signs
	// for like things.
	Signs map[int32]int
}

// named is the number of labels up to which each has a sign of its own and a
// place in the legend: ten colors in two shapes.
const named = 20

var shapes = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.RingGlyph{},
	draw.TriangleGlyph{}, draw.SquareGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{},
}

// shown is the number of points of which a map shows all.
const shown = 20000

// Scatter writes base.png and base.svg: maps side by side, such as one by class
// and one by cluster of the same points.
func Scatter(base, title, xLabel, yLabel string, maps []Map) error {
	if len(maps) == 0 {
		return fmt.Errorf("plot %s: no maps", base)
	}
	row := make([]*plot.Plot, len(maps))
	marks := make([][]mark, len(maps))
	notes := make([]string, len(maps))
	side := vg.Points(8)
	for i, m := range maps {
		y := yLabel
		if i > 0 {
			y = ""
		}
		p, k, note, err := m.plot(xLabel, y)
		if err != nil {
			return fmt.Errorf("plot %s: map %q: %w", base, m.Title, err)
		}
		row[i], marks[i], notes[i] = p, k, note
	}
	const width, height = 390, 390
	total := vg.Length(0)
	for i := range maps {
		total += vg.Points(width) + side + keyWidth(marks[i])
	}
	return write(base, total, vg.Points(height), func(c draw.Canvas) {
		background(c)
		body := heading(c, title)
		x := body.Min.X
		for i, p := range row {
			cell := body
			cell.Min.X, cell.Max.X = x, x+vg.Points(width)-vg.Points(8)
			cell.Min.Y += vg.Points(18)
			p.Draw(cell)
			s := lettering(9.5, faint)
			c.FillText(s, vg.Point{X: x + vg.Points(30), Y: body.Min.Y + vg.Points(3)}, notes[i])
			x += vg.Points(width)
			if len(marks[i]) > 0 {
				k := cell
				k.Min.X, k.Max.X = x, x+keyWidth(marks[i])
				k.Max.Y -= vg.Points(26)
				key(k, marks[i])
				x += keyWidth(marks[i])
			}
			x += side
		}
	})
}

// keyWidth is the room that key needs beside a map: columns of keyRows entries.
func keyWidth(marks []mark) vg.Length {
	const keyRows = 20
	if len(marks) == 0 {
		return 0
	}
	return vg.Points(14) + vg.Points(92)*vg.Length((len(marks)+keyRows-1)/keyRows)
}

func (m Map) plot(xLabel, yLabel string) (*plot.Plot, []mark, string, error) {
	n := len(m.Labels)
	if n == 0 || len(m.Points) != 2*n {
		return nil, nil, "", fmt.Errorf("%d coordinates for %d labels; two for each are needed", len(m.Points), n)
	}
	distinct := slices.Clone(m.Labels)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	lost := false
	for len(distinct) > 0 && distinct[0] < 0 {
		lost, distinct = true, distinct[1:]
	}
	rank := map[int32]int{}
	for i, l := range distinct {
		rank[l] = i
		if s, ok := m.Signs[l]; ok {
			rank[l] = s
		}
	}
	for i, v := range m.Points {
		if !finite(v) {
			return nil, nil, "", fmt.Errorf("point %d has the coordinate %v", i/2, v)
		}
	}
	order := scattered(n)
	count := thousands(fmt.Sprint(n)) + " points"
	if n > shown {
		order = order[:shown]
		count = fmt.Sprintf("%s of %s", thousands(fmt.Sprint(shown)), count)
	}
	// Smaller and more transparent signs the more points there are.
	many := math.Sqrt(float64(len(order)))
	radius := min(max(13/math.Sqrt(many), 1.1), 3.2)
	alpha := uint8(min(max(255*14/many, 110), 230))
	var points plotter.XYs
	var styles []draw.GlyphStyle
	for _, drawNone := range []bool{true, false} { // points without a label lie below the others
		for _, i := range order {
			if l := m.Labels[i]; (l < 0) == drawNone {
				points = append(points, plotter.XY{X: m.Points[2*i], Y: m.Points[2*i+1]})
				if drawNone {
					styles = append(styles, none(radius))
				} else {
					styles = append(styles, sign(rank[l], radius, alpha))
				}
			}
		}
	}
	s, err := plotter.NewScatter(points)
	if err != nil {
		return nil, nil, "", err
	}
	s.GlyphStyleFunc = func(i int) draw.GlyphStyle { return styles[i] }
	p := newPlot(m.Title, xLabel, yLabel, true)
	p.Title.TextStyle.XAlign = plottext.XCenter
	p.Add(s)
	spread(&p.X)
	spread(&p.Y)
	var marks []mark
	if len(distinct) > named {
		return p, nil, fmt.Sprintf("%s, %d labels: colors repeat, in %d shapes", count, len(distinct), min(len(shapes), (len(distinct)+9)/10)), nil
	}
	for _, l := range distinct {
		name := fmt.Sprint(l)
		if int(l) < len(m.Names) {
			name = m.Names[l]
		}
		marks = append(marks, mark{name, sign(rank[l], 3.6, 255)})
	}
	if lost {
		marks = append(marks, mark{"none", none(3.6)})
	}
	return p, marks, count + ", " + text.Plural(len(distinct), "label", "labels"), nil
}

func spread(a *plot.Axis) {
	span := a.Max - a.Min
	if span == 0 {
		span = 1
	}
	a.Min, a.Max = a.Min-0.04*span, a.Max+0.04*span
}

func sign(rank int, radius float64, alpha uint8) draw.GlyphStyle {
	c := Palette[rank%len(Palette)]
	return draw.GlyphStyle{
		Color:  color.NRGBA{c.R, c.G, c.B, alpha},
		Radius: vg.Points(radius), Shape: shapes[rank/len(Palette)%len(shapes)],
	}
}

func none(radius float64) draw.GlyphStyle {
	return draw.GlyphStyle{Color: color.RGBA{0xC8, 0xC8, 0xC8, 255}, Radius: vg.Points(0.8 * radius), Shape: draw.CircleGlyph{}}
}

// scattered returns 0 to n-1 in a fixed order that visits no region of the
// indices twice in a row, so that no class lies on top of all others.
func scattered(n int) []int {
	step := int(0.6180339887 * float64(n))
	for step = max(step, 1); gcd(step, n) != 1; step++ {
	}
	order := make([]int, n)
	for i := range order {
		order[i] = int(int64(i) * int64(step) % int64(n))
	}
	return order
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
