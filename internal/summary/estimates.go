package summary

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/text"
)

// counted is the cell of the estimate in a row of n runs: where it is of fewer values, it
// says so.
func (e Estimate) counted(n int) render.Cell { return e.cell.Counted(e.N, n) }

// batch collects sets of scores, each to become one row of means.
type batch struct {
	metrics []string
	runs    []Run
	rows    []map[string]Estimate
}

// add makes a row of the scores of several runs, without those left out; run fills the
// map returned.
func (b *batch) add(scores []record.Scores, out map[string]string) map[string]Estimate {
	into := map[string]Estimate{}
	row := map[string]string{"row": fmt.Sprint(len(b.rows))}
	b.rows = append(b.rows, into)
	for _, sc := range scores {
		r := Run{Labels: row, Values: map[string]float64{}}
		for _, k := range b.metrics {
			v, ok := sc.Get(k)
			if _, left := out[k]; left || !ok {
				continue
			}
			r.Values[k] = v.Value
			e := into[k]
			if e.N++; e.N == 1 {
				e.Definition = v.Definition
			} else if e.Definition != v.Definition {
				e.Definition = "mixed"
			}
			into[k] = e
		}
		b.runs = append(b.runs, r)
	}
	return into
}

// run takes the means and their intervals.
func (b *batch) run() error {
	metrics := slices.DeleteFunc(slices.Clone(b.metrics), func(m string) bool {
		return !slices.ContainsFunc(b.runs, func(r Run) bool { _, ok := r.Values[m]; return ok })
	})
	t, err := Aggregate(b.runs, []string{"row"}, metrics)
	if err != nil {
		return err
	}
	for i, row := range t.Rows {
		for j, k := range metrics {
			e, ok := b.rows[i][k]
			if !ok {
				continue
			}
			e.cell = row[2+j]
			v, _ := e.cell.Value()
			e.Value = &v
			if low, high, ok := e.cell.Ends(); ok {
				e.CI95 = &[2]float64{low, high}
			}
			b.rows[i][k] = e
		}
	}
	return nil
}

// baseline is a row of a baseline's scores in the table.
type baseline struct {
	title  string
	n      int
	scores map[string]Estimate
}

// estimate fills the groups' scores, those of their baselines, and the rows of
// baselines for the table.
func (s *Summary) estimate(runs []*rundir.Run) error {
	b := &batch{metrics: s.Metrics}
	for _, g := range s.Groups {
		var own []record.Scores
		base := map[string][]record.Scores{}
		for _, r := range g.runs {
			own = append(own, r.Scores())
			if r.Eval == nil {
				continue
			}
			for name, j := range r.Eval.Baselines {
				base[name] = append(base[name], rundir.AllScores(j))
			}
		}
		g.LeftOut = rundir.Unlike(g.runs, s.Metrics)
		g.Scores = b.add(own, g.LeftOut)
		if len(base) > 0 {
			g.Baselines = map[string]map[string]Estimate{}
		}
		for _, name := range slices.Sorted(maps.Keys(base)) {
			g.Baselines[name] = b.add(base[name], g.LeftOut)
		}
	}
	for _, name := range baselineNames {
		s.baselineRows(b, name, runs)
	}
	return b.run()
}

// baselineRows are the rows of one baseline. Raw pixels are the same for all runs
// evaluated on the same images, the untrained network for all of one architecture:
// those share a row, in which a seed counts once, however many runs have it.
func (s *Summary) baselineRows(b *batch, name string, runs []*rundir.Run) {
	type shared struct {
		id     string
		of     []string
		dirs   []string
		seeds  []uint64
		scores []record.Scores
	}
	var rows []*shared
	for _, r := range runs {
		if r.Eval == nil {
			continue
		}
		j, ok := r.Eval.Baselines[name]
		if !ok || !slices.ContainsFunc(s.Metrics, func(m string) bool { _, ok := rundir.AllScores(j).Get(m); return ok }) {
			continue
		}
		id := fmt.Sprintf("%s %d", r.Eval.Source.Fingerprint, r.Eval.Source.Items)
		for _, m := range s.Metrics {
			if _, ok := rundir.AllScores(j).Get(m); ok {
				id += fmt.Sprintf(" %q", rundir.EvalSetting(r.Eval, m))
			}
		}
		if name == "untrained" {
			for _, l := range r.Labels {
				if strings.HasPrefix(l.Key, "model.") {
					id += fmt.Sprintf(" %q=%q", l.Key, l.Value)
				}
			}
		}
		i := slices.IndexFunc(rows, func(x *shared) bool { return x.id == id })
		if i < 0 {
			rows, i = append(rows, &shared{id: id}), len(rows)
		}
		row := rows[i]
		if g := s.groupOf(r); !slices.Contains(row.of, g.Name) {
			row.of = append(row.of, g.Name)
		}
		row.dirs = append(row.dirs, r.Dir)
		k := slices.Index(row.seeds, r.Manifest.Seed)
		if k >= 0 && equal(row.scores[k], rundir.AllScores(j), s.Metrics) {
			continue
		}
		row.seeds = append(row.seeds, r.Manifest.Seed)
		row.scores = append(row.scores, rundir.AllScores(j))
	}
	same := map[string]int{} // rows of the same groups, whose runs have different images
	for _, r := range rows {
		same[text.Some(r.of)]++
	}
	for _, r := range rows {
		title := name
		switch {
		case same[text.Some(r.of)] > 1:
			title += ": " + text.Some(r.dirs)
		case len(rows) > 1:
			title += ": " + text.Some(r.of)
		}
		s.baselines = append(s.baselines, baseline{title, len(r.scores), b.add(r.scores, nil)})
	}
}

func (s *Summary) groupOf(r *rundir.Run) *Group {
	i := slices.IndexFunc(s.Groups, func(g *Group) bool { return slices.Contains(g.runs, r) })
	return s.Groups[i]
}

func equal(a, b record.Scores, keys []string) bool {
	for _, k := range keys {
		x, _ := a.Get(k)
		y, _ := b.Get(k)
		if x.Value != y.Value {
			return false
		}
	}
	return true
}
