package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tercet/internal/render"
	"tercet/internal/text"
	"tercet/internal/verdict"
)

// WidthPeak says where along a curve over widths the test error is largest, and from
// where on training pairs are told as well as can be.
type WidthPeak struct {
	Data       string   `json:"data"`
	Model      string   `json:"model"`
	Classes    int      `json:"classes"`
	Scenario   string   `json:"scenario"`
	Negatives  string   `json:"negatives"`
	Order      string   `json:"order"`
	Online     bool     `json:"online"`
	Other      string   `json:"other,omitempty"`
	Noise      string   `json:"noise"`
	Wanted     float64  `json:"wanted"`
	N          int      `json:"n"`      // seeds that all widths have
	Widths     int      `json:"widths"` // how many
	Width      int      `json:"width"`  // of the peak: the largest mean test error
	Parameters int      `json:"parameters"`
	Test       Estimate `json:"test_error"` // there
	// Rise is from the least test error of the narrower networks, Fall to that of the
	// widest, for each seed at the widths that the other seeds choose. Where the largest
	// mean is at an end, the one of that end is to the largest between the ends; absent
	// where nothing is between.
	Rise   *Estimate `json:"rise,omitempty"`
	Fall   *Estimate `json:"fall,omitempty"`
	Widest Estimate  `json:"widest"` // test error
	// Fits is the smallest width with a mean training error less than 0.001 above its
	// floor of duplicates; absent where there is none.
	Fits           *int   `json:"interpolates,omitempty"`
	FitsParameters *int   `json:"interpolates_parameters,omitempty"`
	Verdict        string `json:"verdict"` // on a rise and a fall, both by their intervals

	rows []*PairRow // by ascending size
}

// interpolated is the training error above the floor below which a network is said to
// fit all that can be fitted.
const interpolated = 1e-3

// DoubleDescent fills Peaks: one for each setting that occurs at several widths.
func (s *PairStudy) DoubleDescent() {
	s.Peaks = nil
	var single []string
	for _, rows := range s.widthCurves() {
		if len(rows) < 2 {
			single = append(single, commonName(rows[0].own()))
			continue
		}
		if p := peakOf(rows); p != nil {
			s.Peaks = append(s.Peaks, *p)
		}
	}
	if single != nil {
		s.Notes = append(s.Notes, "at one width only, so on no curve: "+render.Listed(single))
	}
}

// widthCurves are the rows of one setting but for the width, by ascending size.
func (s *PairStudy) widthCurves() [][]*PairRow {
	var order []string
	curves := map[string][]*PairRow{}
	for _, row := range s.Rows {
		id := row.runs[0].butWidth()
		if curves[id] == nil {
			order = append(order, id)
		}
		curves[id] = append(curves[id], row)
	}
	var out [][]*PairRow
	for _, id := range order {
		rows := curves[id]
		slices.SortStableFunc(rows, func(a, b *PairRow) int { return cmp.Compare(a.Parameters, b.Parameters) })
		out = append(out, rows)
	}
	return out
}

func peakOf(rows []*PairRow) *WidthPeak {
	judged := slices.DeleteFunc(slices.Clone(rows), func(r *PairRow) bool { _, ok := r.Scores[testError]; return !ok })
	if len(judged) < 2 {
		return nil
	}
	seeds, values := inCommon(judged)
	if len(seeds) == 0 {
		return nil
	}
	_, at, _, rise, fall := findPeak(values, largest)
	top, last := judged[at], judged[len(judged)-1]
	p := &WidthPeak{
		Data: top.Data, Model: top.Model, Classes: top.Classes, Scenario: top.Scenario, Negatives: top.Negatives, Order: top.Order, Online: top.Online,
		Other: top.other(), Noise: top.Noise, Wanted: top.Wanted, N: len(seeds), Widths: len(judged), Width: top.Width, Parameters: top.Parameters,
		Test: top.Scores[testError], Rise: rise, Fall: fall, Widest: last.Scores[testError], rows: rows,
	}
	for _, r := range rows {
		if v, ok := r.mean(aboveFloor); ok && v < interpolated {
			p.Fits, p.FitsParameters = &r.Width, &r.Parameters
			break
		}
	}
	if up, down := between(values); p.Rise == nil {
		p.Rise = up
	} else if p.Fall == nil {
		p.Fall = down
	}
	p.Verdict = peakVerdict(p.Rise, p.Fall)
	return p
}

// inCommon are the seeds that all rows have, and their test errors (rows, seeds).
func inCommon(rows []*PairRow) (seeds []uint64, values [][]float64) {
	for _, seed := range rows[0].Seeds {
		if !slices.ContainsFunc(rows, func(r *PairRow) bool { return !slices.Contains(r.Seeds, seed) }) {
			seeds = append(seeds, seed)
		}
	}
	for _, r := range rows {
		var v []float64
		for _, seed := range seeds {
			v = append(v, r.runs[slices.Index(r.Seeds, seed)].scores()[testError])
		}
		values = append(values, v)
	}
	return seeds, values
}

// PeaksTable has a row for each curve.
func (s *PairStudy) PeaksTable(full bool) *render.Table {
	t := &render.Table{Title: "double descent over width", Notes: append(slices.Clone(s.Notes), pairNote,
		"peak: the width with the largest mean test error; rise: from the best narrower one, fall: to the widest, for each seed at the widths that the others choose, and where the peak is at an end from or to the largest between the ends; double descent: supported where both intervals are above 0, contradicted where one is below; interpolates: smallest width with a training error less than 0.1 % above its floor of duplicates", verdict.Comparisons(len(s.Peaks)))}
	for _, name := range []string{"data", "classes", "scenario", "negatives", "order", "drawn", "other", "noise", "model", "widths", "n", "peak", "parameters"} {
		t.Columns = append(t.Columns, render.Column{Name: name})
	}
	t.Columns = append(t.Columns, errorColumn("test_error"), errorColumn("rise"), errorColumn("fall"), errorColumn("widest"), render.Column{Name: "interpolates"}, render.Column{Name: "double descent"})
	for _, p := range s.Peaks {
		row := p.rows[0]
		fits := render.Missing()
		if p.Fits != nil {
			fits = render.Int(*p.Fits)
			if *p.Fits == 0 {
				fits = render.Int(*p.FitsParameters)
			}
		}
		t.Rows = append(t.Rows, []render.Cell{
			render.Text(p.Data), render.Int(p.Classes), render.Text(p.Scenario), render.Text(p.Negatives), render.Text(p.Order), render.Text(row.drawn()), render.Text(p.Other), render.Text(row.noiseName()),
			render.Text(p.Model), render.Int(p.Widths), render.Int(p.N), render.Int(p.Width), render.Int(p.Parameters), p.Test.cell, cellOf(p.Rise), cellOf(p.Fall), p.Widest.cell, fits, render.Text(p.Verdict),
		})
	}
	if !full {
		dropConstant(t)
	}
	return t
}

// WidthCurves draws error against size: a picture for each data set, model and number
// of classes, base-DATA.png and .svg with what else tells them apart. It returns the
// PNG files.
func (s *PairStudy) WidthCurves(base string) ([]string, error) {
	var rows []*PairRow
	for _, p := range s.Peaks {
		rows = append(rows, p.rows...)
	}
	return drawPairs(base, rows, false, func(rows []*PairRow, paint *paints) *render.Chart {
		c := &render.Chart{Note: "mean over " + seedsOf(rows) + " with 95 % intervals of Student's t; test pairs by true labels, training pairs by the labels trained on", SameY: true}
		for _, panel := range panelsOf(rows, nil) {
			p := render.ChartPanel{Title: panel.title, XLabel: "parameters", YLabel: "error", LogX: true}
			for _, peak := range s.Peaks {
				if !slices.Contains(panel.rows, peak.rows[0]) {
					continue
				}
				for _, line := range []struct {
					key  string
					form render.TraceForm
				}{{floorError, render.DottedForm.Called("floor of duplicates")}, {trainError, render.DashedForm.Called("training error")}, {testError, render.SolidForm.Called("test error")}} {
					t := render.Trace{Name: peak.rows[0].noiseName(), Color: paint.of(peak.rows[0]), Form: line.form}
					high := 0.0
					for _, r := range peak.rows {
						if e, ok := r.Scores[line.key]; ok {
							t.X, t.Y = append(t.X, float64(r.Parameters)), append(t.Y, e.bar())
							high = max(high, *e.Value)
						}
					}
					if line.key == floorError {
						for i := range t.Y { // of the same graphs at all widths: an interval says nothing
							t.Y[i].Low, t.Y[i].High = t.Y[i].Value, t.Y[i].Value
						}
					}
					if len(t.X) > 0 && (line.key != floorError || high > 0) {
						p.Traces = append(p.Traces, t)
					}
				}
			}
			c.Panels = append(c.Panels, p)
		}
		c.Cols = columnsOf(len(c.Panels))
		c.Title = "error against size of the network: " + pictureOf(rows)
		return c
	})
}

// cellOf is an empty cell where there is no estimate.
func cellOf(e *Estimate) render.Cell {
	if e == nil {
		return render.Missing()
	}
	return e.cell
}

// bar is an estimate as pictures show it.
func (e Estimate) bar() render.Bar {
	b := render.Bar{Value: *e.Value, Low: *e.Value, High: *e.Value}
	if e.CI95 != nil {
		b.Low, b.High = e.CI95[0], e.CI95[1]
	}
	return b
}

// seedsOf says how many seeds rows have.
func seedsOf(rows []*PairRow) string {
	low, high := rows[0].N, rows[0].N
	for _, r := range rows {
		low, high = min(low, r.N), max(high, r.N)
	}
	if low == high {
		return text.Plural(low, "seed", "seeds")
	}
	return fmt.Sprintf("%d to %d seeds", low, high)
}

// butWidth is the setting without the width.
func (p *pairRun) butWidth() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %d", p.Manifest.Data.Name, p.Manifest.Data.Train.Classes)
	for _, l := range p.Labels {
		if !slices.Contains([]string{"name", "seed", "model.width", "model.embedding"}, l.Key) {
			fmt.Fprintf(&b, " %q=%q", l.Key, l.Value)
		}
	}
	return b.String()
}
