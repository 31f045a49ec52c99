package summary

import (
	"fmt"
	"slices"

	"tercet/internal/rundir"
	"tercet/internal/text"
)

// remarks says what makes the numbers of a summary less than they seem.
func (s *Summary) remarks(runs []*rundir.Run) []string {
	var out []string
	if len(runs) > 0 && !runs[0].Of.Standard() {
		note := "all scores are of the " + runs[0].Of.Words()
		if runs[0].Of.Split != "test" {
			note += ": they are not test scores"
		}
		out = append(out, note)
	}
	out = append(out, rundir.Warnings(runs, s.Metrics, s.missing(runs))...)
	if len(s.Groups) > 1 {
		out = append(out, rundir.UnlikeNotes(runs, s.Metrics)...)
	}
	for _, g := range s.Groups {
		out = append(out, s.pooled(g)...)
	}
	if slices.ContainsFunc(s.Groups, func(g *Group) bool { return g.N > 1 }) {
		out = append(out, "[low, high]: 95 % interval of Student's t over the runs of a group; it reflects further seeds, not other data")
	}
	out = append(out, s.beyond()...)
	return out
}

// missing names runs that do not count for a score because they lack it: by
// document where that is why, else by score. eval.json is always missed.
func (s *Summary) missing(runs []*rundir.Run) []string {
	var out []string
	for i, kind := range rundir.Kinds() {
		shown := slices.ContainsFunc(s.Metrics, func(m string) bool { return rundir.KindOf(m, runs) == kind })
		if note := rundir.Without(kind, runs); note != "" && (shown || i == 0) {
			out = append(out, note)
		}
	}
	for _, m := range s.Metrics {
		var dirs []string
		for _, r := range runs {
			if _, ok := r.Scores().Get(m); !ok && r.Has(rundir.KindOf(m, runs)) {
				dirs = append(dirs, r.Dir)
			}
		}
		if dirs != nil {
			out = append(out, fmt.Sprintf("no %s in %s; means of %s are over the other runs", m, text.Some(dirs), m))
		}
	}
	return out
}

// pooled finds, within one group, what should be equal and is not.
func (s *Summary) pooled(g *Group) []string {
	if g.N < 2 {
		return nil
	}
	out := rundir.LeftOut(g.Name, s.Metrics, g.LeftOut)
	out = append(out, rundir.Pooled(g.Name, g.runs)...)
	if len(s.GroupBy) == 0 {
		return append(out, rundir.SameSeed(g.Name, g.runs)...)
	}
	if note := g.otherKeys(); note != "" {
		out = append(out, note)
	}
	return out
}

// otherKeys says in what keys beside those of --group-by the runs of a group differ; "" for
// none.
func (g *Group) otherKeys() string {
	var keys []string
	for _, r := range g.runs {
		for _, l := range r.Labels {
			if v, ok := g.runs[0].Label(l.Key); l.Key != "name" && l.Key != "seed" && (!ok || v != l.Value) && !slices.Contains(keys, l.Key) {
				keys = append(keys, l.Key)
			}
		}
	}
	if keys == nil {
		return ""
	}
	return fmt.Sprintf("%s pools runs that also differ in %s; its interval is over those, too", g.Name, text.Some(keys))
}

// PoolNotes say of each group in what keys beside those asked for its runs differ.
func (s *Summary) PoolNotes() []string {
	var out []string
	for _, g := range s.Groups {
		if note := g.otherKeys(); note != "" {
			out = append(out, note)
		}
	}
	return out
}

// beyond notes the scores with an interval that leaves the score's range.
func (s *Summary) beyond() []string {
	var out []string
	for _, m := range s.Metrics {
		low, high, ok := ends(m)
		rows := []map[string]Estimate{}
		for _, g := range s.Groups {
			rows = append(rows, g.Scores)
		}
		for _, b := range s.baselines {
			rows = append(rows, b.scores)
		}
		if ok && slices.ContainsFunc(rows, func(r map[string]Estimate) bool {
			ci := r[m].CI95
			return ci != nil && (ci[0] < low || ci[1] > high)
		}) {
			out = append(out, m)
		}
	}
	if out == nil {
		return nil
	}
	return []string{fmt.Sprintf("an interval of %s reaches beyond the possible values: Student's t takes the runs for normally distributed, and with so few runs its interval is wide", text.Some(out))}
}
