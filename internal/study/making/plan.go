// Package making makes the runs of a study: it plans the commands that its steps need, and runs
// those whose results are not there.
package making

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/config"
	"tercet/internal/lists"
	"tercet/internal/names"
	"tercet/internal/run"
	"tercet/internal/study"
	"tercet/internal/study/observe"
)

// Step is a step with its runs.
type Step struct {
	*study.Step
	Tasks []*Task  // those that no step before it has
	Runs  []string // all, with those of With
}

// Plan lists what the chosen steps of a study do, all but extra ones where none is named: runs in
// folder out, with overrides of their configs. A run that steps share is made once.
//
// Errors: steps that there are not, and those of configs.
func Plan(s *study.Spec, chosen []string, out string, sets []string) ([]*Step, error) {
	for _, name := range chosen {
		if s.Step(name) == nil {
			hint := ""
			if c := names.Closest(name, s.StepNames()); c != "" {
				hint = " (did you mean " + c + "?)"
			}
			return nil, fmt.Errorf("study %s has no step %q%s; it has %s", s.Name, name, hint, strings.Join(s.StepNames(), ", "))
		}
	}
	p := &planner{spec: s, out: out, sets: sets, tasks: map[string]*Task{}, runs: map[string][]string{}, known: map[string][]variant{}}
	var steps []*Step
	for i := range s.Steps {
		step := &s.Steps[i]
		if chosen == nil && step.Extra || chosen != nil && !slices.Contains(chosen, step.Name) {
			continue
		}
		planned, err := p.plan(step)
		if err != nil {
			return nil, fmt.Errorf("step %s: %w", step.Name, err)
		}
		steps = append(steps, planned)
	}
	return steps, nil
}

type planner struct {
	spec  *study.Spec
	out   string
	sets  []string
	tasks map[string]*Task    // by directory
	runs  map[string][]string // of steps
	known map[string][]variant
}

// variant is one run of a config.
type variant struct {
	dir  string
	keys map[string]string // config.KEY
}

func (p *planner) plan(step *study.Step) (*Step, error) {
	out := &Step{Step: step}
	list, err := p.list(step)
	if err != nil {
		return nil, err
	}
	for _, l := range list {
		out.Runs = append(out.Runs, l.dir)
		commands, err := p.commands(step, l.words, l.variant, l.task)
		if err != nil {
			return nil, err
		}
		if t := p.tasks[l.dir]; t != nil {
			t.add(commands)
			continue
		}
		t := &Task{Dir: l.dir, Commands: commands}
		p.tasks[l.dir] = t
		out.Tasks = append(out.Tasks, t)
	}
	p.runs[step.Name] = slices.Clone(out.Runs)
	for _, name := range step.With {
		if p.runs[name] == nil {
			list, err := p.list(p.spec.Step(name))
			if err != nil {
				return nil, err
			}
			p.runs[name] = lists.Map(list, func(l listed) string { return l.dir })
		}
		out.Runs = append(out.Runs, p.runs[name]...)
	}
	return out, nil
}

// variants are the runs of a config with what is set in it.
func (p *planner) variants(file string, sets []string) ([]variant, error) {
	id := strings.Join(append([]string{file}, sets...), " ")
	if v, ok := p.known[id]; ok {
		return v, nil
	}
	cfg, err := config.Load(file, sets)
	if err != nil {
		return nil, err
	}
	list, err := run.Variants(cfg)
	if err != nil {
		return nil, err
	}
	out := make([]variant, len(list))
	for i, v := range list {
		out[i] = variant{filepath.Join(p.out, v.Name), map[string]string{}}
		for _, l := range v.Origins() {
			out[i].keys["config."+l.Key] = l.Value
		}
	}
	p.known[id] = out
	return out, nil
}

// commands are those of a run.
func (p *planner) commands(step *study.Step, words []string, v variant, task string) ([]Command, error) {
	keys := maps.Clone(v.keys)
	keys["run"] = v.dir
	after := []string{filepath.Join(v.dir, "manifest.json")}
	for _, b := range step.Beside {
		other, err := p.beside(b, keys)
		if err != nil {
			return nil, err
		}
		keys[b.Name] = other
		after = append(after, filepath.Join(other, "manifest.json"))
	}
	text := func(source string) string { return keys[source] }
	var out []Command
	for i := range step.Before {
		out = append(out, planned(&step.Before[i], text, after[1:])...)
	}
	train := []string{"train", "--config", words[0]}
	for _, set := range slices.Concat(words[1:], p.sets) {
		train = append(train, "--set", set)
	}
	for _, set := range step.Set {
		train = append(train, "--set", observe.Fill(set, text))
	}
	out = append(out, Command{Args: append(train, "--runs-dir", p.out, "--task", task), Train: true})
	for i := range step.Then {
		out = append(out, planned(&step.Then[i], text, after)...)
	}
	return out, nil
}

// beside finds the run of another config that has the same values.
func (p *planner) beside(b study.Beside, keys map[string]string) (string, error) {
	variants, err := p.variants(b.Config, nil)
	if err != nil {
		return "", err
	}
	for _, v := range variants {
		if !slices.ContainsFunc(b.Same, func(key string) bool { return v.keys["config."+key] != keys["config."+key] }) {
			return v.dir, nil
		}
	}
	return "", fmt.Errorf("%s has no run with the same %s as %s", b.Config, strings.Join(b.Same, ", "), keys["run"])
}
