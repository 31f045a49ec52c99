package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/stat"
	"tercet/internal/study/observe"
)

// Rates are slopes of the log of mean scores on the log of a field. Rows that agree in
// all other fields are a curve, which has a slope for each score in Of.
type Rates struct {
	Along string   `yaml:"along"`
	Of    []RateOf `yaml:"of"`
}

// RateOf names a score whose slope is fitted.
type RateOf struct {
	Score     string `yaml:"score"`
	Otherwise string `yaml:"otherwise"` // the score of curves with a run that lacks Score
}

// Slope is the slope of log score on log size for a curve. Rate is nil if there is none;
// Note then says why.
type Slope struct {
	Curve string       `json:"curve,omitempty"` // fields in which curves differ
	Score string       `json:"score"`
	Rate  *record.Rate `json:"rate"`
	Note  string       `json:"note,omitempty"`

	rows []*Row // by ascending size
	of   *RateOf
}

func (t *Table) checkRates() error {
	if t.Rates == nil {
		return nil
	}
	if !slices.Contains(t.Rows, t.Rates.Along) {
		return fmt.Errorf("rates.along: %q is not a field of rows", t.Rates.Along)
	}
	for _, of := range t.Rates.Of {
		for _, name := range []string{of.Score, of.Otherwise} {
			if name != "" && t.Score(name) == nil {
				return fmt.Errorf("rates: unknown score %q", name)
			}
		}
	}
	return nil
}

// addRates fits the slopes of all curves and says them in notes.
func (d *Document) addRates() (notes []string) {
	t := d.table
	others := slices.DeleteFunc(slices.Clone(t.Rows), func(name string) bool { return name == t.Rates.Along })
	words := func(row *Row) string {
		var parts []string
		for _, name := range others {
			if v := row.Fields[name]; slices.ContainsFunc(d.Rows, func(r *Row) bool { return r.Fields[name] != v }) {
				parts = append(parts, v)
			}
		}
		return strings.Join(parts, ", ")
	}
	curves, order := observe.GroupBy(d.Rows, words)
	few := false
	for _, name := range order {
		var said []string
		for i := range t.Rates.Of {
			s := slopeOfRows(curves[name], t.Rates.Along, &t.Rates.Of[i])
			s.Curve = name
			d.Slopes, said = append(d.Slopes, s), append(said, s.words())
			few = few || s.fewRepeats()
		}
		notes = append(notes, strings.TrimPrefix(name+": ", ": ")+"slope of log mean on log n: "+strings.Join(said, "; "))
	}
	if few {
		notes = append(notes, fewRepeatsNote)
	}
	return notes
}

// slopeOfRows fits the slope of one score.
func slopeOfRows(rows []*Row, along string, of *RateOf) Slope {
	s := Slope{Score: of.Score, rows: rows, of: of}
	if of.Otherwise != "" && slices.ContainsFunc(rows, func(r *Row) bool { return len(r.values(of.Score)) < r.N }) {
		s.Score = of.Otherwise
	}
	var x []float64
	var y [][]float64
	for _, r := range rows {
		v, _ := strconv.ParseFloat(r.Fields[along], 64)
		x, y = append(x, v), append(y, r.values(s.Score))
	}
	if len(x) < 2 {
		s.Note = "a slope needs two sizes or more"
		return s
	}
	rate, err := stat.Slope(x, y, stat.Resamples, 0)
	if err != nil {
		s.Note = err.Error()
		return s
	}
	s.Rate = new(record.Rate(rate))
	switch {
	case rate.CI95 != nil:
	case rate.Resamples == 0:
		s.Note = "no interval: a size has one repeat"
	default:
		s.Note = "no interval: means of resamples are not positive; more repeats are needed"
	}
	return s
}

// words are the slope in a note, and how many runs have the score that it is not of.
func (s *Slope) words() string {
	name := s.Score
	have, all := 0, 0
	for _, r := range s.rows {
		have, all = have+len(r.values(s.of.Score)), all+r.N
	}
	if s.Score != s.of.Score && have > 0 {
		name += fmt.Sprintf(" (%d of %d runs have %s)", have, all, s.of.Score)
	}
	if s.Rate == nil {
		return fmt.Sprintf("%s: none (%s)", name, s.Note)
	}
	out := fmt.Sprintf("%s %.3f", name, s.Rate.Slope)
	if c := s.Rate.CI95; c != nil {
		out += fmt.Sprintf(" [%.3f, %.3f]", c[0], c[1])
	}
	if s.Note != "" {
		out += " (" + s.Note + ")"
	}
	return out
}

// enoughRepeats is how many values of a size make a bootstrap interval of a slope nearly as
// wide as it has to be.
const enoughRepeats = 10

// fewRepeatsNote has the shares of 95 % intervals that held the slope in a simulation.
const fewRepeatsNote = "a size has fewer than 10 repeats: bootstrap intervals of slopes over few repeats are somewhat too narrow (of 7 sizes, in a simulation, they held the slope in 84 % of cases with 3 repeats, 90 % with 5, 92 % with 10)"

// fewRepeats says whether the slope has an interval over fewer.
func (s *Slope) fewRepeats() bool {
	return s.Rate != nil && s.Rate.CI95 != nil && slices.ContainsFunc(s.rows, func(r *Row) bool { return len(r.values(s.Score)) < enoughRepeats })
}

// drawRates draws a picture for each value of the fields of Picture: a row of panels for
// each curve, on logarithmic axes with the fitted lines. Curves without a positive mean are
// left out.
func (p *Plot) drawRates(d *Document, base string) ([]string, error) {
	curves, order := observe.GroupBy(d.Slopes, func(s Slope) string { return s.Curve })
	sheets := map[string]*render.ScalingSheet{}
	var titles, out []string
	for _, name := range order {
		var row []*render.Scaling
		for i := range curves[name] {
			row = append(row, p.ratePanel(&curves[name][i]))
		}
		if !slices.ContainsFunc(row, func(s *render.Scaling) bool { return s != nil }) {
			continue
		}
		title := p.words(curves[name][0].rows[0], p.Picture, d.Rows, ", ")
		if sheets[title] == nil {
			sheets[title] = &render.ScalingSheet{Title: p.Title + ": " + title, Note: p.Note, Width: 310, Height: 270, PadTop: 16, RowScale: p.OneScale}
			titles = append(titles, title)
		}
		sheets[title].Rows = append(sheets[title].Rows, row)
	}
	if titles == nil {
		return nil, fmt.Errorf("plot %s: no mean is above 0, and a logarithmic axis shows no other", base)
	}
	for _, title := range titles {
		file := pictureFile(base, title)
		if err := sheets[title].Write(file); err != nil {
			return out, err
		}
		out = append(out, file+".png")
	}
	return out, nil
}

// ratePanel draws one slope with the lines of Y; nil where no mean is positive.
func (p *Plot) ratePanel(s *Slope) *render.Scaling {
	panel := &render.Scaling{Title: strings.TrimPrefix(s.Curve+": ", ": ") + s.Score, XLabel: p.XLabel, YLabel: p.YLabel}
	if r := s.Rate; r != nil {
		panel.SetFit(r.Slope, r.Intercept, r.CI95)
	}
	positive := false
	for _, r := range s.rows {
		x, _ := strconv.ParseFloat(r.Fields[p.X], 64)
		e := r.Scores[s.Score]
		positive = positive || e.Value > 0 && x > 0
		panel.Points = append(panel.Points, render.ScalingPoint{X: x, Y: e.Value, CI95: e.CI95, Repeats: r.values(s.Score)})
	}
	for i, l := range p.Y {
		if l.Of != s.of.Score {
			continue
		}
		line := render.ScalingLine{Name: l.Label, Color: 2, Dash: i}
		for _, r := range s.rows {
			x, _ := strconv.ParseFloat(r.Fields[p.X], 64)
			if e, ok := r.Scores[l.Score]; ok && e.Value > 0 {
				line.X, line.Y = append(line.X, x), append(line.Y, e.Value)
			}
		}
		if line.X != nil {
			panel.Lines = append(panel.Lines, line)
		}
	}
	if !positive {
		return nil
	}
	return panel
}
