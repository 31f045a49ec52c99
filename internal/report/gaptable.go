package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/render"
	"tercet/internal/theory/measure"
)

// Table has a row for each number of training images. Controlled gaps have columns where
// there are any.
func (s *GapStudy) Table(full bool) *render.Table {
	any := s.controlled()
	t := &render.Table{Title: "generalization gap against the number of training images", Columns: []render.Column{{Name: "data"}, {Name: "setting"}, {Name: "n"}, {Name: "runs"}}}
	for _, of := range []string{"loss", "error"} {
		for _, what := range []string{"train", "test", "gap", "gap, controlled"} {
			if any || what != "gap, controlled" {
				t.Columns = append(t.Columns, render.Column{Name: of + " " + what, Digits: 5})
			}
		}
	}
	t.Columns = append(t.Columns, render.Column{Name: "bound, gamma 0"}, render.Column{Name: "bound"}, render.Column{Name: "bound is"})
	for _, c := range s.Curves {
		for _, p := range c.Points {
			bound, at, vacuous := render.Missing(), render.Missing(), render.Missing()
			if p.Bound != nil {
				bound, vacuous = p.Bound.cell.Brief(), render.Text("not vacuous")
				if p.Vacuous {
					vacuous = render.Text("vacuous")
				}
			}
			if p.BoundAt != nil {
				at = p.BoundAt.cell.Brief()
			}
			row := []render.Cell{render.Text(c.Data), render.Text(c.Setting), render.Int(p.N), render.Int(len(p.Runs))}
			for _, m := range []GapMeans{p.Loss, p.Error} {
				row = append(row, m.Train.cell.Brief(), m.Test.cell.Brief(), m.Gap.cell)
				switch {
				case m.Controlled != nil:
					row = append(row, m.Controlled.cell)
				case any:
					row = append(row, render.Missing())
				}
			}
			t.Rows = append(t.Rows, append(row, bound, at, vacuous))
		}
	}
	for _, c := range s.Curves {
		name := strings.TrimPrefix(c.Setting+": ", ": ")
		t.Notes = append(t.Notes, name+"slope of log "+c.slopeOf()+" on log n: "+rateWords("loss", c.LossRate, c.LossRateNote)+"; "+rateWords("0-1 error", c.ErrorRate, c.ErrorRateNote))
	}
	if any {
		t.Notes = append(t.Notes, "controlled: gap and a multiple of train - test of a reference, a network that knows none of the images")
	}
	t.Notes = append(t.Notes, slices.Concat(s.Notes, []string{
		"gap: mean over runs, test less training, with its 95 % interval by Student's t; the slope's is by bootstrap over the runs of each n",
		"bound: Theorem 1 of Chen et al. on the loss, at the gamma that was measured; at gamma 0 it is what is left for a learner that no image could sway; vacuous: above the largest gap there can be",
	})...)
	if s.fewRepeats() {
		t.Notes = append(t.Notes, fewRepeatsNote)
	}
	if !full {
		dropConstant(t)
	}
	return t
}

// enoughRepeats is how many runs of a size make a bootstrap interval of a slope nearly as
// wide as it has to be.
const enoughRepeats = 10

// fewRepeatsNote has the shares of 95 % intervals that held the slope in a simulation.
const fewRepeatsNote = "a size has fewer than 10 repeats: bootstrap intervals of slopes over few repeats are somewhat too narrow (of 7 sizes, in a simulation, they held the slope in 84 % of cases with 3 repeats, 90 % with 5, 92 % with 10)"

// fewRepeats says whether a slope has an interval over fewer.
func (s *GapStudy) fewRepeats() bool {
	return slices.ContainsFunc(s.Curves, func(c *GapCurve) bool {
		interval := func(r *measure.Rate) bool { return r != nil && r.CI95 != nil }
		return (interval(c.LossRate) || interval(c.ErrorRate)) && slices.ContainsFunc(c.Points, func(p *GapPoint) bool { return len(p.Runs) < enoughRepeats })
	})
}

// controlled says whether some runs have a controlled gap.
func (s *GapStudy) controlled() bool {
	return slices.ContainsFunc(s.Curves, func(c *GapCurve) bool { return c.Controlled || c.Partly > 0 })
}

// slopeOf says which gap the slopes are of.
func (c *GapCurve) slopeOf() string {
	switch {
	case c.Controlled:
		return "controlled gap"
	case c.Partly > 0:
		return fmt.Sprintf("plain gap (%d of the runs have a controlled one, not all)", c.Partly)
	}
	return "gap"
}

func rateWords(name string, r *measure.Rate, note string) string {
	if r == nil {
		return fmt.Sprintf("%s: none (%s)", name, note)
	}
	s := fmt.Sprintf("%s %.3f", name, r.Slope)
	if c := r.CI95; c != nil {
		s += fmt.Sprintf(" [%.3f, %.3f]", c[0], c[1])
	}
	if note != "" {
		s += " (" + note + ")"
	}
	return s
}

// series is a curve of gaps as the pictures of stability draw it.
func (c *GapCurve) series(name string, rate *measure.Rate, of func(*GapPoint) GapMeans, bounds bool) measure.Series {
	s := measure.Series{Name: name, Quantity: "gap", Axis: "training images", Rate: rate}
	for _, p := range c.Points {
		m := of(p)
		gap, repeats := m.slope(c.Controlled)
		q := measure.Point{X: float64(p.N), Measured: measure.Estimate{Value: *gap.Value, CI95: gap.CI95, N: gap.N}, Repeats: repeats}
		if bounds && p.Bound != nil {
			q.Bounds = append(q.Bounds, measure.Bound{Source: "Th. 1, gamma 0", Form: "corrected", Constants: "paper", Value: *p.Bound.Value})
		}
		if bounds && p.BoundAt != nil {
			q.Bounds = append(q.Bounds, measure.Bound{Source: "Th. 1", Form: "corrected", Constants: "paper", Value: *p.BoundAt.Value})
		}
		s.Points = append(s.Points, q)
	}
	return s
}

// DrawCurves writes base-DATA.png and .svg for each data set: the gaps of the loss, beside
// the bound, and of the 0-1 error against n, on logarithmic axes with their fitted lines.
// It returns the PNG files.
func (s *GapStudy) DrawCurves(base string) ([]string, error) {
	if e := filepath.Ext(base); strings.EqualFold(e, ".png") || strings.EqualFold(e, ".svg") {
		base = strings.TrimSuffix(base, e)
	}
	var datas, out []string
	for _, c := range s.Curves {
		if !slices.Contains(datas, c.Data) {
			datas = append(datas, c.Data)
		}
	}
	for _, data := range datas {
		var rows [][]*render.Scaling
		for _, c := range s.Curves {
			if c.Data != data {
				continue
			}
			name := strings.TrimPrefix(c.Setting+": ", ": ")
			if c.Controlled {
				name += "controlled, "
			}
			row := []*render.Scaling{
				newStabilityPanel(c.series(name+"loss ("+c.Loss+")", c.LossRate, func(p *GapPoint) GapMeans { return p.Loss }, true), nil),
				newStabilityPanel(c.series(name+"0-1 error", c.ErrorRate, func(p *GapPoint) GapMeans { return p.Error }, false), nil),
			}
			if row[0] != nil || row[1] != nil {
				rows = append(rows, row)
			}
		}
		if rows == nil {
			return out, fmt.Errorf("plot %s: no mean gap on %s is above 0, and a logarithmic axis shows no other", base, data)
		}
		file := base + "-" + strings.ToLower(strings.ReplaceAll(data, " ", "-"))
		note := "random triplets of test images less those of training images; slope: of log mean gap on log n"
		if s.controlled() {
			note += "; controlled: less the same of a reference"
		}
		if err := drawPanels(file, "generalization gap against training images: "+data, note, rows, false); err != nil {
			return out, err
		}
		out = append(out, file+".png")
	}
	return out, nil
}

// drawPanels draws rows of as many panels each, those of a row on one scale if alike is
// set.
func drawPanels(base, title, note string, rows [][]*render.Scaling, alike bool) error {
	sheet := &render.ScalingSheet{Title: title, Note: note, Rows: rows, Width: 310, Height: 270, PadTop: 16, RowScale: alike}
	return sheet.Write(base)
}
