package making

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"tercet/internal/record"
)

// Task is a run with the commands that make it and its results, one after the other.
type Task struct {
	Dir      string
	Commands []Command
}

// Kept says that a run has results but no checkpoints, as folders of results and pruned runs
// have them: nothing more can be made of it.
func (t *Task) Kept() bool {
	m := t.manifest()
	_, none := os.Stat(filepath.Join(t.Dir, "checkpoints"))
	return m != nil && (m.Pruned || os.IsNotExist(none))
}

// CannotMake is the failure of a kept run that lacks results, nil of any other.
func (t *Task) CannotMake() *Failure {
	if !t.Kept() {
		return nil
	}
	if lacks := t.lacks(); lacks != nil {
		return &Failure{Dir: t.Dir, Lacks: lacks}
	}
	return nil
}

// lacks lists what the commands of a kept run would make and is not there. How new a file
// is does not count: a copy has other times.
func (t *Task) lacks() []string {
	var out []string
	for _, c := range t.Commands {
		switch status := t.status(); {
		case c.Train && (status == record.Collapsed || status == record.Diverged):
			return nil
		case c.Train && status != record.Finished:
			out = append(out, "a finished training")
		case c.Train || c.May != nil:
		default:
			file := c.result(t.Dir)
			if _, err := os.Stat(file); file != "" && err != nil {
				out = append(out, strings.TrimPrefix(file, t.Dir+string(filepath.Separator)))
			}
		}
	}
	return out
}

// Done says that what a command makes is there, and as new as it must be.
func (t *Task) Done(c Command) bool {
	if c.Train {
		return t.status() == record.Finished
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

// status is that of the run's manifest, "" where it has none that can be read.
func (t *Task) status() record.Status {
	if m := t.manifest(); m != nil {
		return m.Status
	}
	return ""
}

// manifest is what can be read of the run's, nil where there is none.
func (t *Task) manifest() *record.Manifest {
	b, err := os.ReadFile(filepath.Join(t.Dir, "manifest.json"))
	if err != nil {
		return nil
	}
	m := &record.Manifest{}
	if json.Unmarshal(b, m) != nil {
		return &record.Manifest{} // of another version, or damaged
	}
	return m
}

// add takes the commands of another step that the task does not have.
func (t *Task) add(commands []Command) {
	for _, c := range commands {
		if !slices.ContainsFunc(t.Commands, func(own Command) bool { return own.Train && c.Train || slices.Equal(own.Args, c.Args) }) {
			t.Commands = append(t.Commands, c)
		}
	}
}
