package study

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/config"
	"tercet/internal/names"
	"tercet/internal/run"
)

// Step is a part of running a study: runs, the commands after each, and tables of them.
type Step struct {
	Name  string `yaml:"name"`
	About string `yaml:"about"`
	Extra bool   `yaml:"extra"` // only run where it is named
	// Configs are files, each with what is set in it: "FILE [KEY=VALUE...]".
	Configs []string `yaml:"configs"`
	// Beside are runs of other configs with the same values of some keys, one for each run;
	// their names stand for their directories in commands.
	Beside []Beside `yaml:"beside"`
	// Before are commands before a run is trained, Set what they make possible to set.
	Before []Command `yaml:"before"`
	Set    []string  `yaml:"set"`
	Then   []Command `yaml:"then"`
	// Finally are commands on all runs, {runs}.
	Finally []string `yaml:"finally"`
	// Tables are arguments of tercet report --table, over the step's runs and those of the
	// steps of With.
	Tables []string `yaml:"tables"`
	With   []string `yaml:"with"`
}

// Beside is a run that belongs to another one.
type Beside struct {
	Name   string   `yaml:"name"`
	Config string   `yaml:"config"`
	Same   []string `yaml:"same"` // config keys
}

// Command is a tercet command line with {run}, names of Beside and {flags}.
type Command struct {
	Line  string              `yaml:"run"`
	Makes string              `yaml:"makes"` // a file; a newer one than the run is kept
	Where Where               `yaml:"where"` // conditions on config.KEY
	For   map[string][]string `yaml:"for"`   // one name with its values: a command for each
	Flags []Case              `yaml:"flags"` // the first that fits stands for {flags}
	May   []int               `yaml:"may"`   // exit codes that end the run's commands without failure
}

func (s *Step) check() error {
	if s.Name == "" {
		return fmt.Errorf("a step needs a name")
	}
	for _, c := range slices.Concat(s.Before, s.Then) {
		if c.Line == "" {
			return fmt.Errorf("step %s: a command needs run", s.Name)
		}
		for source := range c.Where {
			if !strings.HasPrefix(source, "config.") {
				return fmt.Errorf("step %s: where is about config.KEY, not %q", s.Name, source)
			}
		}
		if len(c.For) > 1 {
			return fmt.Errorf("step %s: for has one name", s.Name)
		}
	}
	return nil
}

// checkSteps refuses steps that are named twice or join steps that there are not.
func (s *Spec) checkSteps() error {
	for i := range s.Steps {
		if err := s.Steps[i].check(); err != nil {
			return err
		}
		if s.step(s.Steps[i].Name) != &s.Steps[i] {
			return fmt.Errorf("there are two steps %s", s.Steps[i].Name)
		}
		for _, name := range s.Steps[i].With {
			if s.step(name) == nil {
				return fmt.Errorf("step %s: with names no step: %q", s.Steps[i].Name, name)
			}
		}
	}
	return nil
}

func (s *Spec) step(name string) *Step {
	i := slices.IndexFunc(s.Steps, func(p Step) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Steps[i]
}

// StepNames lists the steps.
func (s *Spec) StepNames() []string {
	var out []string
	for _, p := range s.Steps {
		out = append(out, p.Name)
	}
	return out
}

// Planned is a command with its arguments.
type Planned struct {
	Args  []string
	Makes string   // "" where the command decides itself
	After []string // files that what it makes must be newer than
	May   []int
	Train bool // it trains the run
}

// Task is a run with the commands that make it and its results, one after the other.
type Task struct {
	Dir      string
	Commands []Planned
}

// PlannedStep is a step with its runs.
type PlannedStep struct {
	*Step
	Tasks []*Task  // those that no step before it has
	Runs  []string // all, with those of With
}

// Plan lists what the chosen steps do, all but extra ones where none is named: runs in
// folder out, with overrides of their configs. A run that steps share is made once.
//
// Errors: steps that there are not, and those of configs.
func (s *Spec) Plan(chosen []string, out string, sets []string) ([]*PlannedStep, error) {
	for _, name := range chosen {
		if s.step(name) == nil {
			hint := ""
			if c := names.Closest(name, s.StepNames()); c != "" {
				hint = " (did you mean " + c + "?)"
			}
			return nil, fmt.Errorf("study %s has no step %q%s; it has %s", s.Name, name, hint, strings.Join(s.StepNames(), ", "))
		}
	}
	p := &planner{spec: s, out: out, sets: sets, tasks: map[string]*Task{}, runs: map[string][]string{}, known: map[string][]variant{}}
	var steps []*PlannedStep
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
	spec  *Spec
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

func (p *planner) plan(step *Step) (*PlannedStep, error) {
	out := &PlannedStep{Step: step}
	for _, c := range step.Configs {
		words := strings.Fields(c)
		variants, err := p.variants(words[0], slices.Concat(words[1:], p.sets))
		if err != nil {
			return nil, err
		}
		for i, v := range variants {
			dir := v.dir
			out.Runs = append(out.Runs, dir)
			commands, err := p.commands(step, words, v, fmt.Sprintf("%d/%d", i+1, len(variants)))
			if err != nil {
				return nil, err
			}
			if t := p.tasks[dir]; t != nil {
				t.add(commands)
				continue
			}
			t := &Task{Dir: dir, Commands: commands}
			p.tasks[dir] = t
			out.Tasks = append(out.Tasks, t)
		}
	}
	p.runs[step.Name] = slices.Clone(out.Runs)
	for _, name := range step.With {
		other := p.spec.step(name)
		if p.runs[name] == nil {
			for _, c := range other.Configs {
				words := strings.Fields(c)
				variants, err := p.variants(words[0], slices.Concat(words[1:], p.sets))
				if err != nil {
					return nil, err
				}
				for _, v := range variants {
					p.runs[name] = append(p.runs[name], v.dir)
				}
			}
		}
		out.Runs = append(out.Runs, p.runs[name]...)
	}
	return out, nil
}

// add takes the commands of another step that the task does not have.
func (t *Task) add(commands []Planned) {
	for _, c := range commands {
		if !slices.ContainsFunc(t.Commands, func(own Planned) bool { return own.Train && c.Train || slices.Equal(own.Args, c.Args) }) {
			t.Commands = append(t.Commands, c)
		}
	}
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
func (p *planner) commands(step *Step, words []string, v variant, task string) ([]Planned, error) {
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
	var out []Planned
	for i := range step.Before {
		out = append(out, step.Before[i].planned(text, after[1:])...)
	}
	train := []string{"train", "--config", words[0]}
	for _, set := range slices.Concat(words[1:], p.sets) {
		train = append(train, "--set", set)
	}
	for _, set := range step.Set {
		train = append(train, "--set", fill(set, text))
	}
	out = append(out, Planned{Args: append(train, "--runs-dir", p.out, "--task", task), Train: true})
	for i := range step.Then {
		out = append(out, step.Then[i].planned(text, after)...)
	}
	return out, nil
}

// beside finds the run of another config that has the same values.
func (p *planner) beside(b Beside, keys map[string]string) (string, error) {
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

// planned are the command for a run, or for each value of For.
func (c *Command) planned(text func(string) string, after []string) []Planned {
	if !c.Where.fits(text) {
		return nil
	}
	values, name := []string{""}, ""
	for k, v := range c.For {
		name, values = k, v
	}
	var out []Planned
	for _, value := range values {
		with := func(source string) string {
			switch source {
			case name:
				return value
			case "flags":
				for _, f := range c.Flags {
					if f.Where.fits(text) {
						return f.As
					}
				}
				return ""
			}
			return text(source)
		}
		out = append(out, Planned{Args: args(c.Line, with), Makes: fill(c.Makes, with), After: after, May: c.May})
	}
	return out
}

// args are the words of a command line, each filled by itself, so that a path with blanks
// is one argument; {flags} are words of their own.
func args(line string, text func(string) string) []string {
	var out []string
	for _, word := range strings.Fields(line) {
		if word == "{flags}" {
			out = append(out, strings.Fields(text("flags"))...)
			continue
		}
		out = append(out, fill(word, text))
	}
	return out
}

// Kept says that a run has results but no checkpoints, as folders of results have them:
// nothing can be made of it again, and it counts as done.
func (t *Task) Kept() bool {
	_, err := os.Stat(filepath.Join(t.Dir, "manifest.json"))
	_, none := os.Stat(filepath.Join(t.Dir, "checkpoints"))
	return err == nil && os.IsNotExist(none)
}

// Done says that what a command makes is there, and as new as it must be.
func (t *Task) Done(c Planned) bool {
	if c.Train {
		return t.status() == "finished"
	}
	if c.Makes == "" {
		return false
	}
	made, err := os.Stat(c.Makes)
	if err != nil {
		return false
	}
	for _, file := range c.After {
		if info, err := os.Stat(file); err != nil || !made.ModTime().After(info.ModTime()) {
			return false
		}
	}
	return true
}

// status is that of the run's manifest, "" where it has none.
func (t *Task) status() string {
	var m struct {
		Status string `json:"status"`
	}
	b, err := os.ReadFile(filepath.Join(t.Dir, "manifest.json"))
	if err != nil || json.Unmarshal(b, &m) != nil {
		return ""
	}
	return m.Status
}
