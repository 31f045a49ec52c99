package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/study/observe"
)

// Step is a part of running a study: runs, the commands after each, and tables of them.
type Step struct {
	Name  string `yaml:"name"`
	About string `yaml:"about"`
	Extra bool   `yaml:"extra"` // only run where it is named
	// Configs are files, each with what is set in it: "FILE [KEY=VALUE...]".
	Configs []string `yaml:"configs"`
	// Like names a step above whose configs this one takes, with Override set in each:
	// "KEY=VALUE", with {config.KEY} of the config. Chosen is a table that keeps the best of
	// each seed: only the runs of Like that it keeps are made again.
	Like     string   `yaml:"like"`
	Override []string `yaml:"override"`
	Chosen   string   `yaml:"chosen"`
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

// Beside describes a second run that the commands of a run need, such as a reference,
// named {NAME} in them.
type Beside struct {
	Name   string   `yaml:"name"`
	Config string   `yaml:"config"`
	Same   []string `yaml:"same"` // config keys
}

// Command is a tercet command line with {run}, names of Beside and {flags}.
type Command struct {
	Line  string              `yaml:"run"`
	Makes string              `yaml:"makes"` // a file; a newer one than the run is kept
	Where observe.Where       `yaml:"where"` // conditions on config.KEY
	For   map[string][]string `yaml:"for"`   // one name with its values: a command for each
	Flags []observe.Case      `yaml:"flags"` // the first that fits stands for {flags}
	May   []int               `yaml:"may"`   // exit codes that end the run's commands without failure
}

func (s *Step) check() error {
	if s.Name == "" {
		return fmt.Errorf("a step needs a name")
	}
	if strings.ContainsAny(s.Name, "/\\{} ") {
		return fmt.Errorf("step %q: a name has no slash, space or brace: it is part of file names", s.Name)
	}
	for what, lines := range map[string][]string{"config": s.Configs, "line of finally": s.Finally, "table": s.Tables} {
		for _, line := range lines {
			if strings.TrimSpace(line) == "" {
				return fmt.Errorf("step %s: a %s is empty", s.Name, what)
			}
		}
	}
	for _, c := range slices.Concat(s.Before, s.Then) {
		if strings.TrimSpace(c.Line) == "" {
			return fmt.Errorf("step %s: a command needs run", s.Name)
		}
		for source := range c.Where {
			if !strings.HasPrefix(source, "config.") {
				return fmt.Errorf("step %s: where takes config.KEY, not %q", s.Name, source)
			}
		}
		if len(c.For) > 1 {
			return fmt.Errorf("step %s: for has one name", s.Name)
		}
		if name := s.unknown(slices.Concat([]string{"flags"}, slices.Collect(maps.Keys(c.For))), c.Line, c.Makes); name != "" {
			return fmt.Errorf("step %s: %s: {%s} stands for nothing; there are {run}, {flags}, {config.KEY} and names of other runs and of values that the step has", s.Name, c.Line, name)
		}
	}
	if name := (&Step{}).unknown(nil, s.Override...); name != "" {
		return fmt.Errorf("step %s: override: {%s} stands for nothing; there is {config.KEY}", s.Name, name)
	}
	if name := s.unknown(nil, s.Set...); name != "" {
		return fmt.Errorf("step %s: set: {%s} stands for nothing; there are {run}, {config.KEY} and names of other runs that the step has", s.Name, name)
	}
	return nil
}

// unknown returns the first name in braces that stands for nothing in a step's commands,
// besides those that are also known; "" where there is none.
func (s *Step) unknown(also []string, templates ...string) string {
	known := append([]string{"run"}, also...)
	for _, b := range s.Beside {
		known = append(known, b.Name)
	}
	found := ""
	for _, t := range templates {
		observe.Fill(t, func(source string) string {
			if found == "" && !slices.Contains(known, source) && !strings.HasPrefix(source, "config.") {
				found = source
			}
			return ""
		})
	}
	return found
}

// checkSteps refuses steps that are named twice or join steps that there are not.
func (s *Spec) checkSteps() error {
	for i := range s.Steps {
		if err := s.takeConfigs(i); err != nil {
			return fmt.Errorf("step %s: %w", s.Steps[i].Name, err)
		}
		if err := s.Steps[i].check(); err != nil {
			return err
		}
		if s.Step(s.Steps[i].Name) != &s.Steps[i] {
			return fmt.Errorf("there are two steps %s", s.Steps[i].Name)
		}
		for _, name := range s.Steps[i].With {
			if s.Step(name) == nil {
				return fmt.Errorf("step %s: with names no step: %q", s.Steps[i].Name, name)
			}
		}
	}
	return nil
}

// takeConfigs gives step i the configs of the step that it is like.
func (s *Spec) takeConfigs(i int) error {
	step := &s.Steps[i]
	base := slices.Index(s.StepNames(), step.Like)
	switch {
	case step.Like == "" && (step.Override != nil || step.Chosen != ""):
		return fmt.Errorf("override and chosen need the configs of another step: name it with like")
	case step.Like == "":
		return nil
	case base < 0 || base >= i:
		return fmt.Errorf("like names no step above: %q", step.Like)
	case step.Configs != nil:
		return fmt.Errorf("give like or configs, not both")
	}
	if t := s.Table(step.Chosen); step.Chosen != "" && (t == nil || t.Best == nil) {
		return fmt.Errorf("chosen names no table with best: %q", step.Chosen)
	}
	if from := s.Steps[base]; from.Override != nil || from.Chosen != "" {
		return fmt.Errorf("like names %s, which has override or chosen itself", from.Name)
	}
	step.Configs = s.Steps[base].Configs
	return nil
}

// Step is the step of a name, nil where there is none.
func (s *Spec) Step(name string) *Step {
	i := slices.IndexFunc(s.Steps, func(p Step) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Steps[i]
}

// StepNames lists the steps.
func (s *Spec) StepNames() []string {
	return lists.Map(s.Steps, func(p Step) string { return p.Name })
}
