package making

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tercet/internal/config"
	"tercet/internal/rundir"
	"tercet/internal/study"
	"tercet/internal/study/observe"
)

// listed is a run of a step.
type listed struct {
	variant
	words []string // the config and what is set in it
	task  string   // which run of the config: i/n
}

// list lists the runs of a step: all of its configs, or those that a table chooses.
//
// Errors: those of configs, and of runs that there must be to choose among.
func (p *planner) list(step *study.Step) ([]listed, error) {
	all, err := p.all(step.Configs, step.Override)
	if err != nil || step.Chosen == "" {
		return all, err
	}
	base, err := p.all(step.Configs, nil)
	if err != nil {
		return nil, err
	}
	if len(base) != len(all) {
		return nil, fmt.Errorf("%d runs after override, %d of step %s: with chosen each needs its own", len(all), len(base), step.Like)
	}
	keep, err := p.chosen(step, base)
	if err != nil {
		return nil, err
	}
	var out []listed
	for i, l := range all {
		if slices.Contains(keep, base[i].dir) {
			out = append(out, l)
		}
	}
	return out, nil
}

// all are the runs of configs, with overrides of each.
func (p *planner) all(configs, override []string) (out []listed, err error) {
	for _, c := range configs {
		words := strings.Fields(c)
		if override != nil {
			if words, err = overridden(words, override); err != nil {
				return nil, err
			}
		}
		variants, err := p.variants(words[0], slices.Concat(words[1:], p.sets))
		if err != nil {
			return nil, err
		}
		for i, v := range variants {
			out = append(out, listed{v, words, fmt.Sprintf("%d/%d", i+1, len(variants))})
		}
	}
	return out, nil
}

// overridden adds overrides, which may hold values of the config.
func overridden(words, override []string) ([]string, error) {
	cfg, err := config.Load(words[0], words[1:])
	if err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for _, l := range cfg.Origins() {
		keys["config."+l.Key] = l.Value
	}
	out := slices.Clone(words)
	for _, set := range override {
		out = append(out, observe.Fill(set, func(source string) string { return keys[source] }))
	}
	return out, nil
}

// chosen lists the directories of runs that a step's table chooses. All must have ended.
func (p *planner) chosen(step *study.Step, base []listed) ([]string, error) {
	var runs []*rundir.Run
	left := 0
	for _, l := range base {
		r, err := rundir.Read(l.dir)
		if err != nil || !r.Finished() && !r.Lost() {
			left++
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(l.keys)) {
			r.Labels = append(r.Labels, rundir.Label{Key: strings.TrimPrefix(key, "config."), Value: l.keys[key]})
		}
		runs = append(runs, r)
	}
	if left > 0 {
		return nil, fmt.Errorf("%w: the runs that are best in step %s are not known: %d of its %d runs have not ended; run step %s first", rundir.ErrRun, step.Like, left, len(base), step.Like)
	}
	keep, err := p.spec.Table(step.Chosen).Chosen(runs)
	if err != nil {
		return nil, fmt.Errorf("to choose among the runs of step %s: %w", step.Like, err)
	}
	return keep, nil
}
