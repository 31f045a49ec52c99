package study

import (
	"slices"

	"tercet/internal/rundir"
	"tercet/internal/stat"
	"tercet/internal/study/observe"
	"tercet/internal/text"
	"tercet/internal/verdict"
)

// Quartiles are those of seeds, interpolated linearly.
type Quartiles struct {
	Median float64 `json:"median"`
	Q1     float64 `json:"q1"`
	Q3     float64 `json:"q3"`
}

func quartiles(values []float64) Quartiles {
	v := slices.Sorted(slices.Values(values))
	return Quartiles{stat.Quantile(v, 0.5), stat.Quantile(v, 0.25), stat.Quantile(v, 0.75)}
}

// The reducer "stream" describes each row's score against steps, where what it is fed is
// drawn again (online) or used again (offline). An offline row is set against an online one
// of the same noise and model at the last step of both.
func init() {
	reducers["stream"] = reducer{[]string{"step", "median", "q1", "q3", "offline - online", "partner", verdictField}, func(d *Document, _ [][]*Row) (rows []*Row, notes []string, err error) {
		rows, notes = d.streams(d.table.Reduce.Score)
		return rows, notes, nil
	}}
}

// streams are the rows that have a score during training, with notes on the others.
func (d *Document) streams(score string) (rows []*Row, notes []string) {
	var without []string
	for _, row := range d.all {
		at, values := row.during(score)
		if len(at) == 0 {
			without = append(without, rundir.CommonName(row.Dirs()))
			continue
		}
		out := from(row)
		out.lines = values
		for i, m := range at {
			out.Points = append(out.Points, Point{Step: m.Step, Epoch: m.Epoch, Quartiles: map[string]Quartiles{score: quartiles(values[i])}})
		}
		out.stop(out.last(), values[len(values)-1])
		rows = append(rows, out)
	}
	for _, row := range rows {
		if row.Fields["drawn"] != "offline" {
			continue
		}
		if partner := row.stream(rows); partner != nil {
			row.lessOnline(partner)
		}
	}
	if without != nil {
		notes = append(notes, noEvaluations+text.Some(without))
	}
	return rows, notes
}

// last is the last step of a row's curve.
func (row *Row) last() float64 { return row.Points[len(row.Points)-1].Step }

// stop shows the row's values at a step.
func (row *Row) stop(step float64, values []float64) {
	q := quartiles(values)
	row.Fields["step"] = observe.Short(step)
	row.Scores["median"], row.Scores["q1"], row.Scores["q3"] = Estimate{Value: q.Median, N: row.N}, Estimate{Value: q.Q1, N: row.N}, Estimate{Value: q.Q3, N: row.N}
}

// stream finds the online row that goes with an offline one: one that differs in nothing
// else, and of its scenario, where there is such; nil where there is none at all.
func (row *Row) stream(rows []*Row) *Row {
	best, out := 0, (*Row)(nil)
	for _, r := range rows {
		if r.Fields["drawn"] != "online" || !agree(r, row, []string{"data", "classes", "model", "parameters", "noise"}) {
			continue
		}
		like := 1
		if r.Fields["other"] == row.Fields["other"] {
			like += 2
		}
		if r.Fields["scenario"] == row.Fields["scenario"] {
			like++
		}
		if like > best {
			best, out = like, r
		}
	}
	return out
}

// lessOnline sets an offline row against an online one at the last step of both.
func (row *Row) lessOnline(online *Row) {
	step, d := row.lessAt(online)
	own := row.valuesAt(step)
	row.stop(step, own)
	row.Fields["partner"] = online.Fields["other"]
	if d == nil {
		row.Fields[verdictField] = "no seed in common"
		return
	}
	e := EstimateOf(d)
	row.Scores["offline - online"], row.lessOf = e, row.seeded(online, d)
	row.Fields[verdictField] = verdict.Above(0).Of(e.deciding())
}

// lessAt are the differences of two curves, seed by seed, at the last step of both.
func (row *Row) lessAt(other *Row) (step float64, d []float64) {
	step = min(row.last(), other.last())
	own, theirs := row.valuesAt(step), other.valuesAt(step)
	bothSeeds(row, other, func(i, k int) { d = append(d, own[i]-theirs[k]) })
	return step, d
}

// seeded are the differences of lessAt by seed, where both rows differ in nothing else.
func (row *Row) seeded(other *Row, d []float64) map[uint64]float64 {
	if row.Fields["other"] != other.Fields["other"] {
		return nil
	}
	out := map[uint64]float64{}
	bothSeeds(row, other, func(i, _ int) { out[row.Seeds[i]] = d[len(out)] })
	return out
}

// valuesAt are the values at a step, linear between evaluations; before the first one they
// are its.
func (row *Row) valuesAt(step float64) []float64 {
	i := slices.IndexFunc(row.Points, func(p Point) bool { return p.Step >= step })
	if i <= 0 {
		return row.lines[max(i, 0)]
	}
	before, at := row.Points[i-1].Step, row.Points[i].Step
	w := (step - before) / (at - before)
	out := make([]float64, len(row.lines[i]))
	for k := range out {
		out[k] = float64((1-w)*row.lines[i-1][k]) + float64(w*row.lines[i][k])
	}
	return out
}

// offlineLessOnline is the difference of an offline row to the online one that differs in
// nothing else.
func offlineLessOnline(i *item, _ *ClaimQuantity) []measured {
	row := i.row()
	e, ok := row.Scores["offline - online"]
	same := row.Fields["partner"] == row.Fields["other"] // the partner of another study is none
	return found(e, ok && same, map[string]string{"step": row.Fields["step"]})
}

// offlineBetween is how much more offline training loses to online in one set-up than in
// another: the difference to the online row of each, and of these the partner's less, seed
// by seed.
func offlineBetween(i *item, _ *ClaimQuantity) []measured {
	if i.b == nil {
		return nil
	}
	a, b := i.row(), i.b[0]
	own, theirs := a.lessOf, b.lessOf
	var d []float64
	for _, seed := range a.Seeds {
		v, ok := own[seed]
		if w, too := theirs[seed]; ok && too {
			d = append(d, v-w)
		}
	}
	return overSeeds(d, nil)
}

// onlineKinds is the difference to the partner, both online, at the last step of both.
func onlineKinds(i *item, _ *ClaimQuantity) []measured {
	if i.b == nil {
		return nil
	}
	step, d := i.row().lessAt(i.b[0])
	return overSeeds(d, map[string]string{"step": observe.Short(step)})
}
