package making

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tercet/internal/fsx"
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
		return fmt.Sprintf("%s: has no weights, so that its missing results (%s) cannot be computed; remove the folder, and the run is trained again", f.Dir, strings.Join(f.Lacks, ", "))
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
