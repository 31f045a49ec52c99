package study

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Task is a run with the commands that make it and its results, one after the other.
type Task struct {
	Dir      string
	Commands []Planned
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
