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

	"tercet/internal/fsx"
	"tercet/internal/names"
	"tercet/internal/record"
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
	Lacks          []string // what a run without weights lacks; no command ran
}

func (f Failure) String() string {
	if f.Lacks != nil {
		return fmt.Sprintf("%s: has no weights, so that nothing more can be made of it; it lacks %s; remove the folder, and the run is trained again", f.Dir, strings.Join(f.Lacks, ", "))
	}
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
		return t.Dir + ": kept without weights, with all results", t.CannotMake(), nil
	}
	path := filepath.Join(r.Logs, filepath.Base(t.Dir)+".log")
	log, err := fsx.OpenAppend(path)
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
			return "", &Failure{Dir: t.Dir, Line: line, Log: path, Code: code}, nil
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
// nothing more can be made of it.
func (t *Task) Kept() bool {
	_, err := os.Stat(filepath.Join(t.Dir, "manifest.json"))
	_, none := os.Stat(filepath.Join(t.Dir, "checkpoints"))
	return err == nil && os.IsNotExist(none)
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

// result is the file that a command makes, "" where that is not known.
func (c Planned) result(dir string) string {
	flag := func(name string) string {
		if i := slices.Index(c.Args, name); i >= 0 && i+1 < len(c.Args) {
			return c.Args[i+1]
		}
		return ""
	}
	if c.Makes != "" || flag("--run") != dir || flag("--out") != "" {
		return c.Makes
	}
	return filepath.Join(dir, names.Result(c.Args[0], flag("--split"), flag("--checkpoint"))+".json")
}

// Done says that what a command makes is there, and as new as it must be.
func (t *Task) Done(c Planned) bool {
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

// status is that of the run's manifest, "" where it has none.
func (t *Task) status() record.Status {
	var m struct {
		Status record.Status `json:"status"`
	}
	b, err := os.ReadFile(filepath.Join(t.Dir, "manifest.json"))
	if err != nil || json.Unmarshal(b, &m) != nil {
		return ""
	}
	return m.Status
}
