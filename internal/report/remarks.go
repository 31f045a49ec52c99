package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/names"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/text"
)

// remarks says what makes the numbers of a summary less than they seem.
func (s *Summary) remarks(runs []*RunDir) []string {
	var out []string
	if len(runs) > 0 && !runs[0].Of.standard() {
		note := "all scores are of the " + runs[0].Of.words()
		if runs[0].Of.Split != "test" {
			note += ": they are no test scores"
		}
		out = append(out, note)
	}
	out = append(out, cautions(runs, s.Metrics, s.missing(runs))...)
	if len(s.Groups) > 1 {
		out = append(out, unlikeNotes(runs, s.Metrics, (*RunDir).measured)...)
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
func (s *Summary) missing(runs []*RunDir) []string {
	var out []string
	for i, k := range kinds {
		shown := slices.ContainsFunc(s.Metrics, func(m string) bool { return kindOf(m, runs).name == k.name })
		if note := k.missing(runs); note != "" && (shown || i == 0) {
			out = append(out, note)
		}
	}
	for _, m := range s.Metrics {
		var dirs []string
		for _, r := range runs {
			if _, ok := r.scores().Get(m); !ok && kindOf(m, runs).has(r) {
				dirs = append(dirs, r.Dir)
			}
		}
		if dirs != nil {
			out = append(out, fmt.Sprintf("no %s in %s; means of %s are over the other runs", m, render.Listed(dirs), m))
		}
	}
	return out
}

// unfinished says why a run has not come to its last step.
func (r *RunDir) unfinished() []string {
	m := r.Manifest
	if m.Status == "finished" && m.Stopped != nil {
		return []string{fmt.Sprintf("%s: stopped early at step %d of %d: %s", r.Dir, m.Stopped.Step, m.Of, m.Stopped.Reason) + r.pastBest()}
	}
	if m.Status == "finished" {
		return nil
	}
	note := fmt.Sprintf("%s: %s at step %d of %d", r.Dir, m.Status, m.Steps, m.Of)
	if m.Status == "running" {
		note = r.Dir + ": running, or killed"
	}
	line, _, _ := strings.Cut(m.Message, "\n")
	if line, _, _ = strings.Cut(line, ". "); line != "" { // what helps is in the manifest
		note += ": " + line
	}
	if m.Status == "interrupted" || m.Status == "running" {
		note += fmt.Sprintf("; tercet train --resume %s continues it", word(r.Dir))
	}
	if r.Eval != nil || r.Attack != nil || r.Cluster != nil {
		note += "; its scores count as they are"
	}
	return []string{note}
}

// pastBest says, of the last checkpoint after an early stop, that there is a better one.
func (r *RunDir) pastBest() string {
	best := r.Manifest.Best
	if r.Of.Checkpoint != names.Last || best == nil || best.Step == 0 || best.Step >= r.Manifest.Stopped.Step {
		return ""
	}
	return fmt.Sprintf("; the last checkpoint is past the best one, of step %d: --checkpoint best is of that", best.Step)
}

// changedKernels says where a run was trained at several kernel levels.
func (r *RunDir) changedKernels() []string {
	if all := kernels(&r.Manifest); all != r.Manifest.Kernel {
		return []string{fmt.Sprintf("%s: trained at several kernel levels (%s); the last bits differ from a run at one", r.Dir, all)}
	}
	return nil
}

// sources are the documents of a run with what they were computed from.
func (r *RunDir) sources() map[string]record.Source {
	out := map[string]record.Source{}
	if r.Eval != nil {
		out["eval"] = r.Eval.Source
	}
	if r.Attack != nil {
		out["attack"] = r.Attack.Source
	}
	if r.Cluster != nil {
		out["cluster"] = r.Cluster.Source
	}
	return out
}

// stale finds results that are of an older checkpoint than the run's.
func (r *RunDir) stale() []string {
	var out []string
	src := r.sources()
	for _, k := range kinds {
		from, ok := src[k.name]
		if !ok {
			continue
		}
		if now, ok := r.outdated(from); ok {
			out = append(out, fmt.Sprintf("%s is of step %d, %s; tercet %s --run %s%s recomputes it",
				k.path(r), from.Step, r.nowAt(from, now), k.command, word(r.Dir), r.Of.flags()))
		}
	}
	return out
}

// nowAt says at which step a checkpoint is.
func (r *RunDir) nowAt(from record.Source, step int) string {
	switch {
	case sourceOf(from).Checkpoint == "best":
		return fmt.Sprintf("the best checkpoint is of step %d", step)
	case r.Manifest.Status == "running":
		return fmt.Sprintf("the run has come to step %d", step)
	}
	return fmt.Sprintf("the run is at step %d", step)
}

// partial says which results are of a part of the data only.
func (r *RunDir) partial() []string {
	var out []string
	for _, k := range kinds {
		from, ok := r.sources()[k.name]
		if !ok {
			continue
		}
		if all := itemsOf(r.Manifest.Data, sourceOf(from).Split); all > 0 && from.Items < all {
			out = append(out, fmt.Sprintf("%s is of %d of the %d %s images", k.path(r), from.Items, all, sourceOf(from).Split))
		}
	}
	return out
}

// certain says which recall@k is 1 whatever the embeddings are, since no query has more
// than k other images.
func certain(scores []string, runs []*RunDir) []string {
	var out []string
	for _, score := range scores {
		digits, ok := strings.CutPrefix(score, "recall@")
		k, err := strconv.Atoi(digits)
		if !ok || err != nil {
			continue
		}
		var dirs []string
		for _, r := range runs {
			if r.Eval != nil && r.Eval.Source.Items > 0 && k >= r.Eval.Source.Items-1 {
				dirs = append(dirs, r.Dir)
			}
		}
		if dirs != nil {
			out = append(out, fmt.Sprintf("%s is 1 by definition in %s: no query has more than %d other images", score, render.Listed(dirs), k))
		}
	}
	return out
}

// attacked says what attack scores are of, where that is one and the same part
// of the images for all runs; differing budgets are named elsewhere.
func attacked(runs []*RunDir) []string {
	var note string
	for _, r := range runs {
		a := r.Attack
		if a == nil || a.Queries >= a.Source.Items {
			continue
		}
		n := fmt.Sprintf("attack scores: %s of %d images", budget(a), a.Source.Items)
		if note != "" && n != note {
			return nil
		}
		note = n
	}
	if note == "" {
		return nil
	}
	return []string{note}
}

// meaningless repeats what attack.json warns of where ERS is shown: a collapsed
// network scores well.
func meaningless(runs []*RunDir, scores []string) []string {
	if !slices.ContainsFunc(scores, func(m string) bool { return strings.HasPrefix(m, "ERS") }) {
		return nil
	}
	var out []string
	for _, r := range runs {
		if r.Attack == nil {
			continue
		}
		for _, w := range r.Attack.Warnings {
			if strings.Contains(w, "ERS") {
				out = append(out, r.Dir+": "+w)
			}
		}
	}
	return out
}

// mixed finds what makes runs incomparable.
func mixed(runs []*RunDir, scores []string) []string {
	var out []string
	for _, m := range scores {
		out = append(out, differ(runs, "runs differ in the definition of "+m, func(r *RunDir) string {
			v, _ := r.scores().Get(m)
			return v.Definition
		})...)
	}
	return append(out, differ(runs, "attacks have different budgets", func(r *RunDir) string {
		if r.Attack == nil {
			return ""
		}
		return budget(r.Attack)
	})...)
}

// budget says what the attacker could do and to how many images.
func budget(a *record.Attack) string {
	o := a.Options
	out := fmt.Sprintf("%s eps %s, %d steps of %s (%s", o.Norm, text.Eps(o.Norm, o.Eps), o.Iterations, text.Eps(o.Norm, o.Step), o.Rule)
	if o.Direction != "" && o.Direction != "sign" {
		out += ", " + o.Direction + " gradient"
	}
	out += fmt.Sprintf("), %s, %s iterate", text.Plural(o.Restarts, o.Start+" start", o.Start+" starts"), o.Keep)
	for _, n := range []struct {
		name  string
		value int
	}{{"w", o.W}, {"m", o.M}} {
		if n.value > 1 {
			out += fmt.Sprintf(", %s = %d", n.name, n.value)
		}
	}
	if o.Near {
		out += ", near targets"
	}
	if o.Pure {
		out += ", pure distances"
	}
	switch {
	case o.XiScale > 0:
		out += fmt.Sprintf(", xi scale %.5g", o.XiScale)
	case o.XiWeight > 0:
		out += fmt.Sprintf(", xi %.5g", o.XiWeight)
	}
	if o.Draws > 1 {
		out += fmt.Sprintf(", %d draws", o.Draws)
	}
	sampled := ""
	if o.Sample && a.Queries < a.Source.Items {
		sampled = "sampled "
	}
	return out + ", " + text.Plural(a.Queries, sampled+"query", sampled+"queries")
}

// pooled finds, within one group, what should be equal and is not.
func (s *Summary) pooled(g *Group) []string {
	if g.N < 2 {
		return nil
	}
	out := leftOut(g.Name, s.Metrics, g.LeftOut)
	out = append(out, differ(g.runs, g.Name+": made by different versions", func(r *RunDir) string { return versions(&r.Manifest) })...)
	out = append(out, differ(g.runs, g.Name+": made at different kernel levels", func(r *RunDir) string { return kernels(&r.Manifest) })...)
	seeds := map[uint64]string{}
	var twice []string
	for _, r := range g.runs {
		if first, ok := seeds[r.Manifest.Seed]; ok {
			twice = append(twice, fmt.Sprintf("%s and %s (%d)", first, r.Dir, r.Manifest.Seed))
			continue
		}
		seeds[r.Manifest.Seed] = r.Dir
	}
	if twice != nil && len(s.GroupBy) == 0 {
		out = append(out, fmt.Sprintf("%s: the same seed twice, so the interval is too narrow: %s", g.Name, render.Listed(twice)))
	}
	if len(s.GroupBy) == 0 {
		return out
	}
	var keys []string
	for _, r := range g.runs {
		for _, l := range r.Labels {
			if v, ok := g.runs[0].label(l.Key); l.Key != "name" && l.Key != "seed" && (!ok || v != l.Value) && !slices.Contains(keys, l.Key) {
				keys = append(keys, l.Key)
			}
		}
	}
	if keys != nil {
		out = append(out, fmt.Sprintf("%s pools runs that also differ in %s; its interval is over those, too", g.Name, render.Listed(keys)))
	}
	return out
}

// differ returns a note with the values, each with a run that has it, if the
// runs have more than one; "" is no value.
func differ(runs []*RunDir, what string, of func(*RunDir) string) []string {
	var values, parts []string
	for _, r := range runs {
		if v := of(r); v != "" && !slices.Contains(values, v) {
			values = append(values, v)
			parts = append(parts, fmt.Sprintf("%s (%s)", v, r.Dir))
		}
	}
	if len(values) < 2 {
		return nil
	}
	return []string{what + ": " + render.Listed(parts)}
}
