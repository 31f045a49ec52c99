package study

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Runner makes the runs of a study, several at a time.
type Runner struct {
	// Exec runs tercet with arguments, writes what it says to log, and returns its exit
	// code.
	Exec func(ctx context.Context, args []string, log io.Writer) (int, error)
	Jobs int
	Logs string // folder of logs, one for each run
	// Say tells that a run is done, or how it was lost. It is called by one task at a time.
	Say func(string)
}

// lost is the exit code of a training that diverged or collapsed, which is a result.
const lost = 5

// Failure is a command that failed.
type Failure struct {
	Dir, Line, Log string
	Code           int
}

func (f Failure) String() string {
	return fmt.Sprintf("%s: exit code %d of tercet %s; see %s", f.Dir, f.Code, f.Line, f.Log)
}

// Run makes the tasks, and returns those that failed. After ctx is done no other begins,
// and its cause is the error.
func (r *Runner) Run(ctx context.Context, tasks []*Task) ([]Failure, error) {
	if err := os.MkdirAll(r.Logs, 0o755); err != nil {
		return nil, err
	}
	queue := make(chan *Task)
	var failures []Failure
	var first error
	var mutex sync.Mutex
	var all sync.WaitGroup
	for range max(1, min(r.Jobs, len(tasks))) {
		all.Go(func() {
			for t := range queue {
				said, failure, err := r.make(ctx, t)
				mutex.Lock()
				switch {
				case err != nil && first == nil:
					first = err
				case failure != nil:
					failures = append(failures, *failure)
					said = failure.String()
				}
				if said != "" && r.Say != nil {
					r.Say(said)
				}
				mutex.Unlock()
			}
		})
	}
	for _, t := range tasks {
		if ctx.Err() != nil {
			break
		}
		select {
		case queue <- t:
		case <-ctx.Done():
		}
	}
	close(queue)
	all.Wait()
	if ctx.Err() != nil {
		return failures, context.Cause(ctx)
	}
	slices.SortFunc(failures, func(a, b Failure) int { return strings.Compare(a.Dir, b.Dir) })
	return failures, first
}

// make runs the commands of a task that are not done.
func (r *Runner) make(ctx context.Context, t *Task) (said string, failure *Failure, err error) {
	if t.Kept() {
		return t.Dir + ": kept without weights; what it lacks cannot be made", nil, nil
	}
	path := filepath.Join(r.Logs, filepath.Base(t.Dir)+".log")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return "", nil, err
	}
	defer log.Close()
	for _, c := range t.Commands {
		if t.Done(c) {
			continue
		}
		if ctx.Err() != nil {
			return "", nil, context.Cause(ctx)
		}
		line := strings.Join(c.Args, " ")
		fmt.Fprintf(log, "== tercet %s\n", line)
		code, err := r.Exec(ctx, c.Args, log)
		switch {
		case err != nil:
			return "", nil, err
		case ctx.Err() != nil:
			return "", nil, context.Cause(ctx)
		case code == lost && c.Train:
			return t.Dir + ": collapsed or diverged", nil, nil
		case slices.Contains(c.May, code):
			return fmt.Sprintf("%s: left out, since tercet %s gives exit code %d", t.Dir, line, code), nil, nil
		case code != 0:
			return "", &Failure{t.Dir, line, path, code}, nil
		}
	}
	return t.Dir + ": done", nil, nil
}

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
