package study

import (
	"cmp"
	"slices"

	"tercet/internal/rundir"
	"tercet/internal/study/observe"
	"tercet/internal/text"
)

// during lists the moments at which every observation of a row has an error, with its
// values in the order of the observations.
func (row *Row) during(name string) (at []observe.Moment, values [][]float64) {
	for _, m := range row.obs[0].Curve {
		var v []float64
		for _, o := range row.obs {
			k, ok := slices.BinarySearchFunc(o.Curve, m.Step, func(q observe.Moment, step float64) int { return cmp.Compare(q.Step, step) })
			if !ok {
				continue
			}
			if x, ok := o.Curve[k].Errors[name]; ok {
				v = append(v, x)
			}
		}
		if len(v) == len(row.obs) {
			at, values = append(at, m), append(values, v)
		}
	}
	return at, values
}

// noEvaluations begins the note on rows without a curve during training.
const noEvaluations = "no evaluations of test pairs during training (train.eval_every, eval.pairs): "

// The reducer "epochs" describes each row's score during training: its best value, its
// peak, and its last one. The errors are those of Observe.Events, of which Reduce.Score is
// the one that is described and "train" goes with the last.
func init() {
	reducers["epochs"] = reducer{[]string{"best epoch", "best", "peak epoch", "peak", "rise", "fall", "last epoch", "last", "last train", verdictField}, func(d *Document, curves [][]*Row) (rows []*Row, notes []string, err error) {
		var without []string
		for _, row := range d.all {
			if out := epochRow(row, d.table.Reduce.Score); out != nil {
				rows = append(rows, out)
			} else {
				without = append(without, rundir.CommonName(row.Dirs()))
			}
		}
		if without != nil {
			notes = append(notes, noEvaluations+text.Some(without))
		}
		return rows, notes, nil
	}}
}

func epochRow(row *Row, score string) *Row {
	at, values := row.during(score)
	if len(at) < 2 {
		return nil
	}
	out := from(row)
	out.Scores = map[string]Estimate{}
	trained, train := row.during("train")
	best := 0
	for i, m := range at {
		p := Point{Step: m.Step, Epoch: m.Epoch, Scores: map[string]Estimate{score: EstimateOf(values[i])}}
		for k, t := range trained {
			if t.Step == m.Step {
				p.Scores["train"] = EstimateOf(train[k])
			}
		}
		if out.Points = append(out.Points, p); p.Scores[score].Value < out.Points[best].Scores[score].Value {
			best = i
		}
	}
	put := func(name string, p Point) {
		out.Fields[name+" epoch"], out.Scores[name] = observe.Short(p.Epoch), p.Scores[score]
	}
	last := out.Points[len(out.Points)-1]
	put("best", out.Points[best])
	put("last", last)
	if e, ok := last.Scores["train"]; ok {
		out.Scores["last train"] = e
	}
	_, top, _, rise, fall := findPeak(values, prominent)
	if top >= 0 {
		put("peak", out.Points[top])
		out.Scores["rise"], out.Scores["fall"] = *rise, *fall
	}
	out.Fields[verdictField] = peakVerdict(rise, fall)
	return out
}
