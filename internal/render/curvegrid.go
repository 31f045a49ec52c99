package render

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// CurveGrid writes base.png and base.svg: panels side by side, two in a row, over
// one range of x. Lines of one name have one color in a panel, so that a dashed
// one is seen as the other form of a solid one; note says what the forms are.
func CurveGrid(base, title, note, xLabel string, panels []Panel) error {
	low, high, err := places(base, panels)
	if err != nil {
		return err
	}
	cols := min(2, len(panels))
	rows := (len(panels) + cols - 1) / cols
	grid, marks := make([][]*plot.Plot, rows), make([][][]mark, rows)
	for i := range grid {
		grid[i], marks[i] = make([]*plot.Plot, cols), make([][]mark, cols)
	}
	for i, p := range panels {
		pl := newPlot("", xLabel, p.YLabel, true)
		var names []string
		for _, l := range p.Lines {
			k := slices.Index(names, l.Name)
			if k < 0 {
				k, names = len(names), append(names, l.Name)
			}
			if err := addLine(pl, l, Palette[k%len(Palette)]); err != nil {
				return fmt.Errorf("plot %s: line %q: %w", base, l.Name, err)
			}
		}
		for k, n := range names {
			sign := draw.GlyphStyle{Color: Palette[k%len(Palette)], Radius: vg.Points(4), Shape: draw.BoxGlyph{}}
			marks[i/cols][i%cols] = append(marks[i/cols][i%cols], mark{n, sign})
		}
		if room(&pl.Y); p.FromZero {
			pl.Y.Min = min(pl.Y.Min, 0)
		}
		pl.X.Min, pl.X.Max = low, high
		grid[i/cols][i%cols] = pl
	}
	const above = 22 // room over each row, for its legends
	width := vg.Points(60) + vg.Points(340)*vg.Length(cols)
	height := vg.Points(66) + vg.Points(210+above)*vg.Length(rows)
	return write(base, width, height, func(c draw.Canvas) {
		background(c)
		body := heading(c, title)
		s := lettering(10, faint)
		s.YAlign = text.YTop
		c.FillText(s, vg.Point{X: body.Min.X + vg.Points(2), Y: body.Max.Y + vg.Points(6)}, note)
		tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: vg.Points(22), PadY: vg.Points(above), PadTop: vg.Points(above + 4), PadRight: vg.Points(10)}
		cells := plot.Align(grid, tiles, body)
		for i, row := range grid {
			for j, pl := range row {
				if pl == nil {
					continue
				}
				pl.Draw(cells[i][j])
				line(cells[i][j], marks[i][j])
			}
		}
	})
}
