package report

import (
	"slices"
	"sort"

	"tercet/internal/render"
	"tercet/internal/stat"
	"tercet/internal/verdict"
)

// StreamCurve is the test error of a row against steps, where what it is fed is drawn
// anew (online) or used again (offline).
type StreamCurve struct {
	Row    int           `json:"row"` // of rows
	Points []StreamPoint `json:"points"`
	// Of an offline row with an online one of the same noise and model: the step up to
	// which both were trained, their test errors there, and the difference offline -
	// online, seed by seed. Verdict is that on offline
	// training being worse, by its interval.
	Online  *int      `json:"online_row,omitempty"`
	Step    float64   `json:"step"`       // else the last one
	Test    Quartiles `json:"test_error"` // at that step
	Against *Estimate `json:"offline_less_online,omitempty"`
	Verdict string    `json:"verdict,omitempty"`

	row    *PairRow
	values []moment
}

// StreamPoint is an evaluation over the seeds.
type StreamPoint struct {
	Step float64   `json:"step"`
	Test Quartiles `json:"test_error"`
}

// Quartiles are those of seeds, interpolated linearly.
type Quartiles struct {
	Median float64 `json:"median"`
	Q1     float64 `json:"q1"`
	Q3     float64 `json:"q3"`
}

func quartiles(values []float64) Quartiles {
	v := slices.Clone(values)
	sort.Float64s(v)
	return Quartiles{stat.Quantile(v, 0.5), stat.Quantile(v, 0.25), stat.Quantile(v, 0.75)}
}

// StreamCurves fills Streams: one for each row with evaluations of test pairs during
// training.
func (s *PairStudy) StreamCurves() {
	s.Streams = nil
	var without []string
	for i, row := range s.Rows {
		c := StreamCurve{Row: i, row: row, values: row.during(func(p pairPoint) float64 { return p.test })}
		if len(c.values) == 0 {
			without = append(without, commonName(row.own()))
			continue
		}
		for _, m := range c.values {
			c.Points = append(c.Points, StreamPoint{m.step, quartiles(m.values)})
		}
		last := c.Points[len(c.Points)-1]
		c.Step, c.Test = last.Step, last.Test
		s.Streams = append(s.Streams, c)
	}
	for i := range s.Streams {
		if c := &s.Streams[i]; !c.row.Online {
			if j := s.stream(c.row); j >= 0 {
				c.compare(&s.Streams[j])
			}
		}
	}
	if without != nil {
		s.Notes = append(s.Notes, "no evaluations of test pairs during training (train.eval_every, eval.pairs): "+render.Listed(without))
	}
}

// stream finds the online curve that goes with an offline row: one that differs in
// nothing else, and of its scenario, where there is such; -1 where there is none at all.
func (s *PairStudy) stream(row *PairRow) int {
	best, at := 0, -1
	for i, c := range s.Streams {
		r := c.row
		if !(r.Online && r.Data == row.Data && r.Classes == row.Classes && r.Model == row.Model && r.Parameters == row.Parameters && r.noiseName() == row.noiseName()) {
			continue
		}
		like := 1
		if r.other() == row.other() {
			like += 2
		}
		if r.Scenario == row.Scenario {
			like++
		}
		if like > best {
			best, at = like, i
		}
	}
	return at
}

// compare sets an offline curve against an online one at the last step of both.
func (c *StreamCurve) compare(online *StreamCurve) {
	c.Online = &online.Row
	c.Step = min(c.Points[len(c.Points)-1].Step, online.Points[len(online.Points)-1].Step)
	own, other := valuesAt(c.values, c.Step), valuesAt(online.values, c.Step)
	c.Test = quartiles(own)
	var d []float64
	for i, seed := range c.row.Seeds {
		if k := slices.Index(online.row.Seeds, seed); k >= 0 {
			d = append(d, own[i]-other[k])
		}
	}
	if d == nil {
		c.Verdict = "no seed in common"
		return
	}
	e := estimateOf(d)
	c.Against = &e
	c.Verdict = verdict.Above(0).Of(e.CI95)
}

// valuesAt are the values at a step, linear between evaluations; before the first one
// they are its.
func valuesAt(m []moment, step float64) []float64 {
	i := slices.IndexFunc(m, func(a moment) bool { return a.step >= step })
	if i <= 0 {
		return m[max(i, 0)].values
	}
	w := (step - m[i-1].step) / (m[i].step - m[i-1].step)
	out := make([]float64, len(m[i].values))
	for k := range out {
		out[k] = (1-w)*m[i-1].values[k] + w*m[i].values[k]
	}
	return out
}

// StreamsTable has a row for each curve.
func (s *PairStudy) StreamsTable(full bool) *render.Table {
	t := &render.Table{Title: "online and offline", Notes: append(slices.Clone(s.Notes),
		"test errors in percent: the median over n seeds and its quartiles, at the last step of both where there is an online run of the same noise and model, else at the last one; offline - online: mean and 95 % interval of Student's t over seeds that both have; online: pairs drawn anew each epoch, images distorted anew each time, or one epoch in all")}
	settingColumns(t)
	t.Columns = append(t.Columns, render.Column{Name: "n"}, render.Column{Name: "step"}, errorColumn("median"), errorColumn("q1"), errorColumn("q3"), errorColumn("offline - online"), render.Column{Name: "offline worse"})
	for _, c := range s.Streams {
		t.Rows = append(t.Rows, append(c.row.settingCells(), render.Int(c.row.N), render.Int(int(c.Step)), render.Number(c.Test.Median), render.Number(c.Test.Q1), render.Number(c.Test.Q3), cellOf(c.Against), render.Text(c.Verdict)))
	}
	if !full {
		dropConstant(t)
	}
	return t
}

// DrawStreams draws test error against steps: a panel without noise, and one with noise
// for each scenario of the offline rows.
func (s *PairStudy) DrawStreams(base string) ([]string, error) {
	var rows []*PairRow
	for _, c := range s.Streams {
		rows = append(rows, c.row)
	}
	return drawPairs(base, rows, false, func(rows []*PairRow, paint *paints) *render.Chart {
		c := &render.Chart{Title: "online and offline: " + pictureOf(rows), SameY: true, Note: "median over " + seedsOf(rows) + " with quartiles; test pairs by true labels"}
		sizes := []string{""}
		if varies(rows, (*PairRow).sizeName) {
			sizes = nil
			for _, r := range rows {
				if !slices.Contains(sizes, r.sizeName()) {
					sizes = append(sizes, r.sizeName())
				}
			}
		}
		var scenarios []string
		for _, r := range rows {
			if !r.Online && r.Noise != "none" && !slices.Contains(scenarios, r.Scenario) {
				scenarios = append(scenarios, r.Scenario)
			}
		}
		for _, size := range sizes {
			for _, scenario := range append([]string{""}, scenarios...) {
				if p := s.streamPanel(rows, paint, scenario, size); len(p.Traces) > 0 {
					c.Panels = append(c.Panels, p)
				}
			}
		}
		c.Cols = columnsOf(len(c.Panels))
		return c
	})
}

// streamPanel draws what has no noise where scenario is "", else that scenario with
// noise. Online rows that are the stream of an offline one of the panel are drawn in it.
func (s *PairStudy) streamPanel(rows []*PairRow, paint *paints, scenario, size string) render.ChartPanel {
	p := render.ChartPanel{Title: "no noise", XLabel: "steps", YLabel: "test error"}
	if scenario != "" {
		p.Title = scenarioName(scenario) + ", noise"
	}
	if size != "" {
		p.Title += ", " + size
	}
	of := func(r *PairRow) bool {
		return slices.Contains(rows, r) && (r.Noise == "none") == (scenario == "") && (size == "" || r.sizeName() == size)
	}
	wanted := map[int]bool{}
	for _, c := range s.Streams {
		if of(c.row) && (scenario == "" || c.row.Scenario == scenario) {
			wanted[c.Row] = true
			if c.Online != nil {
				wanted[*c.Online] = true
			}
		}
	}
	for _, c := range slices.Backward(s.Streams) { // online comes last, on top
		if !wanted[c.Row] {
			continue
		}
		t := render.Trace{Name: c.row.noiseName(), Color: paint.of(c.row), Form: render.SolidForm.Called("online")}
		if !c.row.Online {
			t.Form = render.DashedForm.Called("offline, " + scenarioName(c.row.Scenario))
			if c.row.Scenario == "s2" {
				t.Form = render.LongForm.Called(t.Form.Name)
			}
		}
		if scenario == "" { // colours tell what the lines are fed
			t.Name, t.Color = "no noise, online", render.Palette[9]
			if !c.row.Online {
				t.Name, t.Color = "no noise, "+scenarioName(c.row.Scenario), render.Palette[2]
				if c.row.Scenario == "s2" {
					t.Color = render.Palette[4]
				}
			}
		}
		for _, q := range c.Points {
			t.X, t.Y = append(t.X, q.Step), append(t.Y, render.Bar{Value: q.Test.Median, Low: q.Test.Q1, High: q.Test.Q3})
		}
		p.Traces = append(p.Traces, t)
	}
	return p
}
