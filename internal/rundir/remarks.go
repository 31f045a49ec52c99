package rundir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/names"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/text"
)

// Unfinished says why a run without results that count has not come to its last step.
func (r *Run) Unfinished() []string { return r.Only().Ended() }

// Ended says why a run has not come to its last step.
func (r *Run) Ended() []string {
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
		note += fmt.Sprintf("; tercet train %s %s continues it", option.Name("resume"), text.ShellWord(r.Dir))
	}
	if r.Eval != nil || r.Attack != nil || r.Cluster != nil {
		note += "; its scores count as they are"
	}
	return []string{note}
}

// pastBest says, of the last checkpoint after an early stop, that there is a better one.
func (r *Run) pastBest() string {
	best := r.Manifest.Best
	if r.Of.Checkpoint != names.Last || best == nil || best.Step == 0 || best.Step >= r.Manifest.Stopped.Step {
		return ""
	}
	return fmt.Sprintf("; the last checkpoint is past the best one, of step %d: %s best is of that", best.Step, option.Name("checkpoint"))
}

// changedKernels says where a run was trained at several kernel levels.
func (r *Run) changedKernels() []string {
	if all := r.Kernels(); all != r.Manifest.Kernel {
		return []string{fmt.Sprintf("%s: trained at several kernel levels (%s); the last bits differ from a run at one", r.Dir, all)}
	}
	return nil
}

// stale finds results that are of an older checkpoint than the run's.
func (r *Run) Stale() []string {
	var out []string
	for _, kind := range r.results() {
		from, _ := r.From(kind)
		if now, ok := r.outdated(from); ok {
			out = append(out, fmt.Sprintf("%s is of step %d, %s; %s recomputes it", r.path(kind), from.Step, r.nowAt(from, now), r.Command(kind)))
		}
	}
	return out
}

// nowAt says at which step a checkpoint is.
func (r *Run) nowAt(from record.Source, step int) string {
	switch {
	case SourceOf(from).Checkpoint == "best":
		return fmt.Sprintf("the best checkpoint is of step %d", step)
	case r.Manifest.Status == "running":
		return fmt.Sprintf("the run has come to step %d", step)
	}
	return fmt.Sprintf("the run is at step %d", step)
}

// partial says which results are of a part of the data only.
func (r *Run) partial() []string {
	var out []string
	for _, kind := range r.results() {
		from, _ := r.From(kind)
		if all := SetOf(r.Manifest.Data, SourceOf(from).Split).Items; all > 0 && from.Items < all {
			out = append(out, fmt.Sprintf("%s is of %d of the %d %s images", r.path(kind), from.Items, all, SourceOf(from).Split))
		}
	}
	return out
}

// Certain says which recall@k is 1 whatever the embeddings are, since no query has more
// than k other images.
func Certain(scores []string, runs []*Run) []string {
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
			out = append(out, fmt.Sprintf("%s is 1 by definition in %s: no query has more than %d other images", score, text.Some(dirs), k))
		}
	}
	return out
}

// attacked says what attack scores are of, where that is one and the same part
// of the images for all runs; differing budgets are named elsewhere.
func attacked(runs []*Run) []string {
	var note string
	for _, r := range runs {
		a := r.Attack
		if a == nil || a.Queries >= a.Source.Items {
			continue
		}
		n := fmt.Sprintf("attack scores: %s of %d images", Budget(a), a.Source.Items)
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
func meaningless(runs []*Run, scores []string) []string {
	if !slices.ContainsFunc(scores, func(m string) bool { return strings.HasPrefix(m, "ERS") }) {
		return nil
	}
	return repeated(runs, "ERS", func(r *Run) []string {
		if r.Attack == nil {
			return nil
		}
		return r.Attack.Warnings
	})
}

// repeated are the warnings of runs that contain a text, with the runs' directories.
func repeated(runs []*Run, text string, warnings func(*Run) []string) (out []string) {
	for _, r := range runs {
		for _, w := range warnings(r) {
			if strings.Contains(w, text) {
				out = append(out, r.Dir+": "+w)
			}
		}
	}
	return out
}

// mixed finds what makes runs incomparable.
func mixed(runs []*Run, scores []string) []string {
	var out []string
	for _, m := range scores {
		out = append(out, Differ(runs, "runs differ in the definition of "+m, func(r *Run) string {
			v, _ := r.Scores().Get(m)
			return v.Definition
		})...)
	}
	return append(out, Differ(runs, "attacks have different budgets", func(r *Run) string {
		if r.Attack == nil {
			return ""
		}
		return Budget(r.Attack)
	})...)
}

// Budget says what the attacker could do and to how many images.
func Budget(a *record.Attack) string {
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

// Differ returns a note with the values, each with a run that has it, if the
// runs have more than one; "" is no value.
func Differ(runs []*Run, what string, of func(*Run) string) []string {
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
	return []string{what + ": " + text.Some(parts)}
}
