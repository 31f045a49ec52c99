package report

import (
	"math"
	"slices"

	"tercet/internal/render"
	"tercet/internal/verdict"
)

// EpochCurve is the error of a row during training.
type EpochCurve struct {
	Row    int          `json:"row"` // of rows
	Points []EpochPoint `json:"points"`
	Best   EpochPoint   `json:"best"` // the least mean test error
	Last   EpochPoint   `json:"last"`
	// Peak is where the mean test error stands highest above what comes before and
	// after; absent where it only falls or only rises. Rise and Fall are from the least
	// error before it and to the least after it, for each seed at the epochs that the
	// other seeds choose.
	Peak    *EpochPoint `json:"peak,omitempty"`
	Rise    *Estimate   `json:"rise,omitempty"`
	Fall    *Estimate   `json:"fall,omitempty"`
	Verdict string      `json:"verdict"`

	row *PairRow
}

// EpochPoint is an evaluation, means over the seeds.
type EpochPoint struct {
	Step  float64  `json:"step"`
	Epoch float64  `json:"epoch"`
	Test  Estimate `json:"test_error"`
	Train Estimate `json:"train_error"`
}

// EpochCurves fills Epochs: one for each row with evaluations of test pairs during
// training. Steps that a seed lacks are left out.
func (s *PairStudy) EpochCurves() {
	s.Epochs = nil
	var without []string
	for i, row := range s.Rows {
		test := row.during(func(p pairPoint) float64 { return p.test })
		train := row.during(func(p pairPoint) float64 { return p.train })
		if len(test) < 2 {
			without = append(without, commonName(row.own()))
			continue
		}
		c := EpochCurve{Row: i, row: row}
		for _, m := range test {
			p := EpochPoint{Step: m.step, Epoch: m.epoch, Test: estimateOf(m.values)}
			if k := slices.IndexFunc(train, func(t moment) bool { return t.step == m.step }); k >= 0 {
				p.Train = estimateOf(train[k].values)
			}
			c.Points = append(c.Points, p)
		}
		c.judge(test)
		s.Epochs = append(s.Epochs, c)
	}
	if without != nil {
		s.Notes = append(s.Notes, "no evaluations of test pairs during training (train.eval_every, eval.pairs): "+render.Listed(without))
	}
}

// moment is what all seeds of a row had at one step, in the order of the seeds.
type moment struct {
	step, epoch float64
	values      []float64
}

// during lists the moments at which every seed was measured.
func (row *PairRow) during(of func(pairPoint) float64) []moment {
	var out []moment
	for _, p := range row.runs[0].curve {
		m := moment{step: p.step, epoch: p.epoch}
		for _, r := range row.runs {
			k, ok := slices.BinarySearchFunc(r.curve, p.step, func(q pairPoint, step float64) int {
				switch {
				case q.step < step:
					return -1
				case q.step > step:
					return 1
				}
				return 0
			})
			if ok && !math.IsNaN(of(r.curve[k])) {
				m.values = append(m.values, of(r.curve[k]))
			}
		}
		if len(m.values) == len(row.runs) {
			out = append(out, m)
		}
	}
	return out
}

// judge finds the best moment and the peak.
func (c *EpochCurve) judge(test []moment) {
	var values [][]float64
	best := 0
	for i, m := range test {
		values = append(values, m.values)
		if *c.Points[i].Test.Value < *c.Points[best].Test.Value {
			best = i
		}
	}
	c.Best, c.Last = c.Points[best], c.Points[len(c.Points)-1]
	_, top, _, rise, fall := findPeak(values, prominent)
	if top >= 0 {
		c.Peak, c.Rise, c.Fall = &c.Points[top], rise, fall
	}
	c.Verdict = peakVerdict(rise, fall)
}

// EpochsTable has a row for each curve.
func (s *PairStudy) EpochsTable(full bool) *render.Table {
	t := &render.Table{Title: "error during training", Notes: append(slices.Clone(s.Notes), pairNote,
		"best: the least mean test error; peak: where the mean test error stands highest above what comes before and after; rise and fall: from the least error before it and to the least after it, for each seed at the epochs that the others choose; double descent: supported where both intervals are above 0, contradicted where one is below; no peak: the means only fall or only rise", verdict.Comparisons(len(s.Epochs)))}
	settingColumns(t)
	t.Columns = append(t.Columns, render.Column{Name: "n"}, render.Column{Name: "best epoch", Digits: 1}, errorColumn("best"), render.Column{Name: "peak epoch", Digits: 1}, errorColumn("peak"),
		errorColumn("rise"), errorColumn("fall"), render.Column{Name: "last epoch", Digits: 1}, errorColumn("last"), errorColumn("last train"), render.Column{Name: "double descent"})
	for _, c := range s.Epochs {
		at, peak := render.Missing(), render.Missing()
		if c.Peak != nil {
			at, peak = render.Number(c.Peak.Epoch), c.Peak.Test.cell
		}
		t.Rows = append(t.Rows, append(c.row.settingCells(), render.Int(c.row.N), render.Number(c.Best.Epoch), c.Best.Test.cell, at, peak,
			cellOf(c.Rise), cellOf(c.Fall), render.Number(c.Last.Epoch), c.Last.Test.cell, c.Last.Train.cell, render.Text(c.Verdict)))
	}
	if !full {
		dropConstant(t)
	}
	return t
}

// DrawEpochs draws error against epochs: a panel for each scenario and size.
func (s *PairStudy) DrawEpochs(base string) ([]string, error) {
	var rows []*PairRow
	for _, c := range s.Epochs {
		rows = append(rows, c.row)
	}
	return drawPairs(base, rows, false, func(rows []*PairRow, paint *paints) *render.Chart {
		c := &render.Chart{Title: "error during training: " + pictureOf(rows), SameY: true,
			Note: "mean over " + seedsOf(rows) + " with 95 % intervals of Student's t; test pairs by true labels, training pairs by the labels trained on"}
		for _, panel := range panelsOf(rows, (*PairRow).sizeName) {
			p := render.ChartPanel{Title: panel.title, XLabel: "epochs", YLabel: "error", LogX: true}
			for _, e := range s.Epochs {
				if !slices.Contains(panel.rows, e.row) {
					continue
				}
				name, col := e.row.noiseName(), paint.of(e.row)
				train := render.Trace{Name: name, Color: col, Form: render.DashedForm.Called("training error")}
				test := render.Trace{Name: name, Color: col, Form: render.SolidForm.Called("test error")}
				for _, q := range e.Points {
					test.X, test.Y = append(test.X, q.Epoch), append(test.Y, q.Test.bar())
					if q.Train.Value != nil {
						train.X, train.Y = append(train.X, q.Epoch), append(train.Y, q.Train.bar())
					}
				}
				p.Traces = append(p.Traces, train, test)
			}
			c.Panels = append(c.Panels, p)
		}
		c.Cols = columnsOf(len(c.Panels))
		return c
	})
}
