package robustness

import (
	"fmt"
	"path/filepath"

	"tercet/internal/embed"
	"tercet/internal/record"
	"tercet/internal/render"
)

// worstPoints is the number of radii that the curve is drawn at.
const worstPoints = 77

// DrawWorst writes dir/worst.png and .svg: the share of queries that no perturbation found
// of up to a radius breaks, against the radius up to eps.
func DrawWorst(d *record.Worst, dir string) (string, error) {
	if err := embed.FigureFolder(dir); err != nil {
		return "", err
	}
	scale, x := 1.0, d.Options.Norm+" radius"
	if d.Options.Norm == "linf" {
		scale, x = 255, "radius (1/255 of the pixel range)"
	}
	panel := render.Panel{YLabel: "not broken (%)", FromZero: true}
	for _, g := range d.Galleries {
		radius, err := g.Radius.Values(d.Queries)
		if err != nil {
			return "", err
		}
		l := render.Series{Name: g.Gallery}
		for k := range worstPoints + 1 {
			at, left := d.Options.Eps*float64(k)/worstPoints, 0
			for _, r := range radius {
				if float64(r) > at*(1+1e-6) {
					left++
				}
			}
			l.X, l.Y = append(l.X, scale*at), append(l.Y, 100*float64(left)/float64(len(radius)))
		}
		panel.Lines = append(panel.Lines, l)
	}
	base := filepath.Join(dir, "worst")
	title := fmt.Sprintf("%s: worst case of %d queries", filepath.Base(d.Source.Run), d.Queries)
	return base + ".png", render.CurveGrid(base, title, "upper bounds: the smallest perturbation found for each query", x, []render.Panel{panel})
}
