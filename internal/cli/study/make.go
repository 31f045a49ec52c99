package study

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/cli/base"
	"tercet/internal/cli/report"
	"tercet/internal/fsx"
	"tercet/internal/lists"
	"tercet/internal/study"
	"tercet/internal/study/making"
)

// Make makes the runs of the steps, then their tables; what fails is said at the end.
func Make(ctx context.Context, s *base.Streams, spec *study.Spec, steps []*making.Step, out string, jobs int, run tercetRunner) error {
	logs := filepath.Join(out, "logs")
	r := &making.Runner{Exec: func(ctx context.Context, args []string, log io.Writer) (int, error) { return run(ctx, args, log, log) }, Jobs: jobs, Logs: logs, Say: func(said string) { s.Note("%s", said) }}
	var failed []making.Failure
	for _, step := range steps {
		s.Note("step %s: %d runs", step.Name, len(step.Runs))
		failures, err := r.Run(ctx, step.Tasks)
		failed = append(failed, failures...)
		if err != nil {
			return err
		}
		if err := finish(ctx, s, spec, step, out, run); err != nil {
			s.Note("warning: step %s: %v", step.Name, err)
			failed = append(failed, making.Failure{Dir: "step " + step.Name, Line: "report", Log: stepLog(out, step), Code: base.ExitCode(err)})
		}
	}
	if failed == nil {
		return nil
	}
	words := lists.Map(failed, func(f making.Failure) string { return f.String() })
	return &base.ExitError{Code: base.ExitFailed, Err: fmt.Errorf("%d of the study's commands failed:\n%s", len(failed), strings.Join(words, "\n"))}
}

// finish runs a step's last commands and writes its tables, as far as it has runs.
func finish(ctx context.Context, s *base.Streams, spec *study.Spec, step *making.Step, out string, run tercetRunner) error {
	runs := slices.DeleteFunc(slices.Clone(step.Runs), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "manifest.json"))
		return err != nil
	})
	if len(runs) == 0 {
		return nil
	}
	log, err := fsx.OpenAppend(stepLog(out, step))
	if err != nil {
		return err
	}
	defer log.Close()
	if err := log.Truncate(0); err != nil {
		return err
	}
	for _, line := range step.Finally {
		if code, err := run(ctx, withRuns(line, runs), log, log); err != nil || code != 0 {
			return &base.ExitError{Code: max(code, base.ExitFailed), Err: fmt.Errorf("tercet %s: exit code %d; see %s", line, code, log.Name())}
		}
	}
	var failed error // a table that cannot be made does not keep the others from being made
	for _, table := range step.Tables {
		if err := writeTables(ctx, s, spec, step, strings.Fields(table), runs, out, run, log); err != nil {
			failed = errors.Join(failed, err)
			if ctx.Err() != nil {
				break
			}
		}
	}
	return failed
}

// stepLog is the file of what the commands after the runs of a step say.
func stepLog(out string, step *making.Step) string {
	return filepath.Join(out, "logs", "step-"+step.Name+".log")
}

// writeTables writes a table of tercet report in every format, draws it if it has a
// picture, and prints it.
func writeTables(ctx context.Context, s *base.Streams, spec *study.Spec, step *making.Step, table, runs []string, out string, run tercetRunner, log io.Writer) error {
	path := filepath.Join(out, "tables", strings.Join(slices.Compact([]string{spec.Name, step.Name, table[0]}), "-"))
	if slices.Contains(table, "--grid") {
		path += "-grid"
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	for _, f := range []struct{ name, ending string }{{"text", ".txt"}, {"markdown", ".md"}, {"latex", ".tex"}, {"csv", ".csv"}, {"json", ".json"}} {
		args := slices.Concat([]string{"report", "--format", f.name, "--table"}, table)
		switch {
		case f.name == "json":
			args = slices.Concat([]string{"report", "--json", "--table"}, table)
		case f.name == "text" && report.Draws(table[0]):
			args = append(args, "--curves", path)
		}
		var b strings.Builder
		code, err := run(ctx, append(args, runs...), &b, log)
		if err == nil && code != 0 {
			err = &base.ExitError{Code: code, Err: fmt.Errorf("table %s: exit code %d", strings.Join(table, " "), code)}
		}
		if err != nil {
			return err
		}
		if err := fsx.WriteFile(path+f.ending, []byte(b.String()), 0o644); err != nil {
			return err
		}
		if f.name == "text" {
			if _, err := fmt.Fprintln(s.Out, b.String()); err != nil {
				return err
			}
		}
	}
	s.Note("wrote %s.txt, .md, .tex, .csv and .json", path)
	return nil
}
