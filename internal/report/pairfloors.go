package report

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"tercet/internal/render"
	"tercet/internal/text"
	"tercet/internal/verdict"
)

// PairFloor sets the training error of a row beside what is said to be unavoidable:
// that of pairs that carry both labels, and the bounds of Theorem 1 of DIBS.
type PairFloor struct {
	Row   int      `json:"row"`         // of rows
	Train Estimate `json:"train_error"` // by the labels trained on
	Floor Estimate `json:"floor_duplicates"`
	Above Estimate `json:"above_floor"`     // Train - Floor, run by run
	Lower *float64 `json:"lower,omitempty"` // E_sim + the lower bound
	Upper *float64 `json:"upper,omitempty"` // E_sim + E_diff
	// Multicut is the error of the best sets of classes on graphs with such noise, mean
	// over drawn ones: no relation that is transitive has a lesser one.
	Multicut *Estimate `json:"multicut,omitempty"`
	// Meets is the verdict on Above less than 0.001.
	Meets string `json:"meets"`
	// Verdicts on the bounds by the interval of Train.
	LowerVerdict string `json:"lower_verdict,omitempty"`
	UpperVerdict string `json:"upper_verdict,omitempty"`

	row *PairRow
}

// TrainingFloors fills Floors: one for each setting on a dense or full graph, with its
// largest network. Errors wrap ErrRun: files that cannot be used.
func (s *PairStudy) TrainingFloors() error {
	s.floors()
	return s.partitions()
}

// floors fills Floors but for what is drawn.
func (s *PairStudy) floors() {
	s.Floors = nil
	narrower := 0
	for _, rows := range s.widthCurves() {
		row := rows[len(rows)-1]
		if row.Scenario == "s1" {
			continue
		}
		narrower += len(rows) - 1
		f := PairFloor{Row: slices.Index(s.Rows, row), row: row, Train: row.Scores[trainError], Floor: row.Scores[floorError], Above: row.Scores[aboveFloor]}
		f.Meets = verdict.Below(interpolated).Of(f.Above.CI95)
		if v, ok := row.mean(boundLower); ok {
			u, _ := row.mean(boundUpper)
			f.Lower, f.Upper = &v, &u
			f.LowerVerdict, f.UpperVerdict = verdict.AtLeast(v).Of(f.Train.CI95), verdict.AtMost(u).Of(f.Train.CI95)
		}
		s.Floors = append(s.Floors, f)
	}
	slices.SortStableFunc(s.Floors, func(a, b PairFloor) int { return a.Row - b.Row })
	s.Line = fitLine(s.Floors)
	if narrower > 0 {
		s.Notes = append(s.Notes, "of each setting the largest network alone: "+text.Plural(narrower, "narrower one is", "narrower ones are")+" left out")
	}
}

// FloorsTable has a row for each setting.
func (s *PairStudy) FloorsTable(full bool) *render.Table {
	t := &render.Table{Title: "training error and its floor", Notes: append(slices.Clone(s.Notes), pairNote,
		"floor: pairs that carry both labels, which nothing gets right; above: training error less floor, run by run; it meets the floor where its interval is below 0.1 %; lower and upper: E_sim + the bounds of Theorem 1 of DIBS, each with its verdict by the interval of the training error; multicut: error of the best partition into classes, exact, mean over drawn graphs with such noise (partition.json)")}
	settingColumns(t)
	t.Columns = append(t.Columns, render.Column{Name: "n"}, errorColumn("train_error"), errorColumn("floor"), errorColumn("above"), render.Column{Name: "meets the floor"},
		errorColumn("lower"), render.Column{Name: "lower bound"}, errorColumn("upper"), render.Column{Name: "upper bound"}, errorColumn("multicut"))
	for _, f := range s.Floors {
		lower, upper := render.Missing(), render.Missing()
		if f.Lower != nil {
			lower, upper = render.Number(*f.Lower), render.Number(*f.Upper)
		}
		t.Rows = append(t.Rows, append(f.row.settingCells(), render.Int(f.row.N), f.Train.cell, f.Floor.cell, f.Above.cell, render.Text(f.Meets), lower, render.Text(f.LowerVerdict), upper, render.Text(f.UpperVerdict), cellOf(f.Multicut)))
	}
	if s.Line != nil {
		t.Notes = append(t.Notes, s.Line.String())
	}
	if !full {
		dropConstant(t)
	}
	return t
}

// DrawFloors draws the training error against the number of classes and against the
// effective noise, with its floor and bounds.
func (s *PairStudy) DrawFloors(base string) ([]string, error) {
	var rows []*PairRow
	for _, f := range s.Floors {
		rows = append(rows, f.row)
	}
	return drawPairs(base, rows, true, func(rows []*PairRow, paint *paints) *render.Chart {
		c := &render.Chart{Title: "training error and its floor: " + pictureOf(rows), Cols: 2,
			Note: "mean over " + seedsOf(rows) + " with 95 % intervals of Student's t; errors by the labels trained on"}
		for _, p := range []*floorAxis{
			{label: "classes", place: func(r *PairRow) float64 { return float64(r.Classes) }, name: (*PairRow).noiseName,
				common: func(r *PairRow) string { return "" }, color: paint.of},
			{label: "effective noise (%)", place: func(r *PairRow) float64 { return 100 * r.Wanted }, name: func(r *PairRow) string { return strings.ToUpper(r.Noise) },
				common: func(r *PairRow) string { return text.Plural(r.Classes, "class", "classes") }, color: func(r *PairRow) color.RGBA { return noiseHue(r.Noise) }},
		} {
			if varies(rows, func(r *PairRow) string { return fmt.Sprint(p.place(r)) }) || p.label != "classes" && c.Panels == nil {
				c.Panels = append(c.Panels, s.floorPanel(rows, p))
			}
		}
		return c
	})
}

// floorAxis is what a panel of floors has along its x axis.
type floorAxis struct {
	label  string
	place  func(*PairRow) float64
	name   func(*PairRow) string // of a line
	common func(*PairRow) string // what rows of a line have in common beside it
	color  func(*PairRow) color.RGBA
}

// floorLine is a line of a panel of floors.
type floorLine struct {
	of     *PairRow
	floors []PairFloor
}

// floorPanel draws rows along an axis: lines of more than one place, where there are
// such. What has no noise begins each line against noise.
func (s *PairStudy) floorPanel(rows []*PairRow, axis *floorAxis) render.ChartPanel {
	like := func(a, b *PairRow) bool {
		return a.Negatives == b.Negatives && a.Order == b.Order && a.Model == b.Model && a.other() == b.other() && a.Online == b.Online && axis.common(a) == axis.common(b)
	}
	noise := axis.label != "classes"
	var lines []*floorLine
	for _, f := range s.Floors {
		if !slices.Contains(rows, f.row) || noise && f.row.Noise == "none" {
			continue
		}
		k := slices.IndexFunc(lines, func(l *floorLine) bool { return axis.name(l.of) == axis.name(f.row) && like(l.of, f.row) })
		if k < 0 {
			k, lines = len(lines), append(lines, &floorLine{of: f.row})
		}
		lines[k].floors = append(lines[k].floors, f)
	}
	if slices.ContainsFunc(lines, func(l *floorLine) bool { return len(l.floors) > 1 }) {
		lines = slices.DeleteFunc(lines, func(l *floorLine) bool { return len(l.floors) < 2 })
	}
	var shown []*PairRow
	for _, l := range lines {
		for _, f := range s.Floors {
			if noise && f.row.Noise == "none" && slices.Contains(rows, f.row) && like(l.of, f.row) {
				l.floors = append(l.floors, f)
			}
		}
		slices.SortStableFunc(l.floors, func(a, b PairFloor) int { return cmp.Compare(axis.place(a.row), axis.place(b.row)) })
		shown = append(shown, l.of)
	}
	p := render.ChartPanel{XLabel: axis.label, YLabel: "training error"}
	if len(shown) > 0 && !varies(shown, axis.common) {
		p.Title = axis.common(shown[0])
	}
	for k, l := range lines {
		name, col := axis.name(l.of), axis.color(l.of)
		if varies(shown, axis.common) {
			name, col = name+", "+axis.common(l.of), render.Palette[k%len(render.Palette)]
		}
		for _, part := range []func(*PairRow) string{func(r *PairRow) string { return r.Negatives }, func(r *PairRow) string { return r.Order }, (*PairRow).other} {
			if part(l.of) != part(shown[0]) { // such as random negatives
				name, col = name+", "+part(l.of), render.Palette[(4+k)%len(render.Palette)]
			}
		}
		p.Traces = append(p.Traces, l.traces(name, col, axis.place)...)
	}
	dodge(&p)
	return p
}

// partitionForm is that of the best partition.
var partitionForm = render.BrokenForm.Called("best partition")

// traces are the bounds, the floor and the measured error of a line.
func (l *floorLine) traces(name string, col color.RGBA, place func(*PairRow) float64) []render.Trace {
	bounds := render.Trace{Name: name, Color: col, Form: render.BandForm.Called("bounds of Theorem 1")}
	floor := render.Trace{Name: name, Color: col, Form: render.DottedForm.Called("floor of duplicates")}
	train := render.Trace{Name: name, Color: col, Form: render.MarksForm.Called("training error")}
	best := render.Trace{Name: name, Color: col, Form: partitionForm}
	for _, f := range l.floors {
		x := place(f.row)
		if f.Multicut != nil {
			best.X, best.Y = append(best.X, x), append(best.Y, f.Multicut.bar())
		}
		if f.Lower != nil {
			bounds.X, bounds.Y = append(bounds.X, x), append(bounds.Y, render.Bar{Value: (*f.Lower + *f.Upper) / 2, Low: *f.Lower, High: *f.Upper})
		}
		floor.X, floor.Y = append(floor.X, x), append(floor.Y, render.Bar{Value: *f.Floor.Value, Low: *f.Floor.Value, High: *f.Floor.Value})
		train.X, train.Y = append(train.X, x), append(train.Y, f.Train.bar())
	}
	if len(best.X) > 0 {
		return []render.Trace{bounds, best, floor, train}
	}
	return []render.Trace{bounds, floor, train}
}

// dodge sets the marks of different colours a little apart, so that all can be seen.
func dodge(p *render.ChartPanel) {
	var colors []color.RGBA
	low, high := math.Inf(1), math.Inf(-1)
	for _, t := range p.Traces {
		if !slices.Contains(colors, t.Color) {
			colors = append(colors, t.Color)
		}
		for _, x := range t.X {
			low, high = min(low, x), max(high, x)
		}
	}
	for _, t := range p.Traces {
		if t.Form.Shape == nil {
			continue
		}
		k := float64(slices.Index(colors, t.Color)) - float64(len(colors)-1)/2
		for i := range t.X {
			t.X[i] += k * 0.013 * (high - low)
		}
	}
}
