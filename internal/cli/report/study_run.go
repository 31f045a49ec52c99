package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/fsx"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/report"
	"tercet/internal/study"
)

type studyRunOptions struct {
	out    string
	sets   []string
	jobs   string
	dryRun bool
}

func newStudyRun(s *base.Streams) *cobra.Command {
	var o studyRunOptions
	return base.Command{
		Use:   "run SPEC [STEP...]",
		Short: "Make the runs of a study and print its tables",
		Long: `
Trains the runs of a study's steps and evaluates, attacks or clusters each as the study
says, several at a time, then prints its tables. What is finished and up to date is
skipped: the same command resumes after an interruption. A run that collapses or
diverges is a result. What fails is listed at the end, with its log; other runs continue.
SPEC is the name of a built-in study or a YAML file; its configs are found from the
working directory. Without STEP all steps are run but those that are marked extra.
Logs are in OUT/logs, tables (txt, md, tex, csv, json) and pictures in OUT/tables.`,
		Examples: []base.Example{
			{Why: "what a study would do", Line: "tercet study run clustering mnist --dry-run"},
			{Why: "two runs at a time, one seed", Line: "tercet study run pairs order --jobs 2 --set 'sweep.seed=[0]'", Heavy: true},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Args:  cobra.MinimumNArgs(1),
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringVarP(&o.out, "runs-dir", "o", "runs", "folder of run directories")
			fs.StringArrayVar(&o.sets, "set", nil, "override config keys of all runs: `KEY=VALUE` (repeatable)")
			fs.StringVar(&o.jobs, "jobs", "auto", "make `N` runs at once, each on its share of the threads; auto: one per thread")
			fs.BoolVar(&o.dryRun, "dry-run", false, "print the command lines that are left to do, and stop")
		},
		Run: func(ctx context.Context, args []string) error { return runStudyRun(ctx, s, args, o) },
	}.Build()
}

func runStudyRun(ctx context.Context, s *base.Streams, args []string, o studyRunOptions) error {
	jobs, err := base.ParseJobs(o.jobs)
	if err != nil {
		return err
	}
	spec, err := studySpec(args[0])
	if err != nil {
		return err
	}
	if len(spec.Steps) == 0 {
		return base.Usagef("study %s has no steps: it compares runs that there are (tercet study report)", spec.Name)
	}
	var chosen []string
	if len(args) > 1 {
		chosen = args[1:]
	}
	steps, err := spec.Plan(chosen, o.out, o.sets)
	if err != nil {
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	if o.dryRun {
		return dryRun(s, steps)
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return makeStudy(ctx, s, spec, steps, o.out, jobs, func(ctx context.Context, args []string, out, log io.Writer) (int, error) {
		return runProgram(ctx, program, append([]string{"--threads", fmt.Sprint(max(1, par.Threads()/jobs))}, args...), out, log)
	})
}

// dryRun prints the command lines that are not done.
func dryRun(s *base.Streams, steps []*study.PlannedStep) error {
	type line struct {
		Step string `json:"step"`
		Run  string `json:"run,omitempty"`
		Line string `json:"command"`
	}
	lines := []line{}
	for _, step := range steps {
		for _, t := range step.Tasks {
			for _, c := range t.Commands {
				if !t.Kept() && !t.Done(c) {
					lines = append(lines, line{step.Name, t.Dir, commandLine(c.Args)})
				}
			}
		}
		for _, f := range step.Finally {
			lines = append(lines, line{step.Name, "", commandLine(withRuns(f, step.Runs))})
		}
	}
	doc := struct {
		Schema string `json:"schema"`
		Lines  []line `json:"commands"`
	}{record.StudyPlanSchema, lines}
	return s.Result(doc, func(w io.Writer) error {
		for _, l := range lines {
			if _, err := fmt.Fprintln(w, l.Line); err != nil {
				return err
			}
		}
		return nil
	})
}

func commandLine(args []string) string {
	words := []string{"tercet"}
	for _, a := range args {
		words = append(words, report.Word(a))
	}
	return strings.Join(words, " ")
}

// withRuns are the words of a command line on all runs.
func withRuns(line string, runs []string) []string {
	var out []string
	for _, word := range strings.Fields(line) {
		if word == "{runs}" {
			out = append(out, runs...)
			continue
		}
		out = append(out, word)
	}
	return out
}

// runProgram runs a program and returns its exit code; a ctx that is done interrupts it.
func runProgram(ctx context.Context, program string, args []string, out, log io.Writer) (int, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = out, log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// tercetRunner runs tercet with arguments and returns its exit code.
type tercetRunner func(ctx context.Context, args []string, out, log io.Writer) (int, error)

// makeStudy makes the runs of the steps, then their tables; what fails is said at the end.
func makeStudy(ctx context.Context, s *base.Streams, spec *study.Spec, steps []*study.PlannedStep, out string, jobs int, run tercetRunner) error {
	logs := filepath.Join(out, "logs")
	r := &study.Runner{Exec: func(ctx context.Context, args []string, log io.Writer) (int, error) { return run(ctx, args, log, log) }, Jobs: jobs, Logs: logs, Say: func(said string) { s.Note("%s", said) }}
	var failed []study.Failure
	for _, step := range steps {
		s.Note("step %s: %d runs", step.Name, len(step.Runs))
		failures, err := r.Run(ctx, step.Tasks)
		failed = append(failed, failures...)
		if err != nil {
			return err
		}
		if err := finish(ctx, s, spec, step, out, run); err != nil {
			s.Note("warning: step %s: %v", step.Name, err)
			failed = append(failed, study.Failure{Dir: step.Name, Line: "report", Log: filepath.Join(logs, step.Name+".log"), Code: base.ExitCode(err)})
		}
	}
	if failed == nil {
		return nil
	}
	words := make([]string, len(failed))
	for i, f := range failed {
		words[i] = f.String()
	}
	return &base.ExitError{Code: base.ExitFailed, Err: fmt.Errorf("%d of the study's commands failed:\n%s", len(failed), strings.Join(words, "\n"))}
}

// finish runs a step's last commands and writes its tables, as far as it has runs.
func finish(ctx context.Context, s *base.Streams, spec *study.Spec, step *study.PlannedStep, out string, run tercetRunner) error {
	runs := slices.DeleteFunc(slices.Clone(step.Runs), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "manifest.json"))
		return err != nil
	})
	if len(runs) == 0 {
		return nil
	}
	log, err := os.Create(filepath.Join(out, "logs", "step-"+step.Name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	for _, line := range step.Finally {
		if code, err := run(ctx, withRuns(line, runs), log, log); err != nil || code != 0 {
			return &base.ExitError{Code: max(code, base.ExitFailed), Err: fmt.Errorf("tercet %s: exit code %d; see %s", line, code, log.Name())}
		}
	}
	for _, table := range step.Tables {
		if err := writeTables(ctx, s, spec, step, strings.Fields(table), runs, out, run, log); err != nil {
			return err
		}
	}
	return nil
}

// writeTables writes a table of tercet report in every format, draws it if it has a
// picture, and prints it.
func writeTables(ctx context.Context, s *base.Streams, spec *study.Spec, step *study.PlannedStep, table, runs []string, out string, run tercetRunner, log io.Writer) error {
	path := filepath.Join(out, "tables", strings.Join(slices.Compact([]string{spec.Name, step.Name, table[0]}), "-"))
	if slices.Contains(table, "--grid") {
		path += "-grid"
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	for _, f := range []struct{ name, ending string }{{"text", ".txt"}, {"markdown", ".md"}, {"latex", ".tex"}, {"csv", ".csv"}, {"json", ".json"}} {
		args := slices.Concat([]string{"report", "--format", f.name, "--table"}, table)
		t := StudyTable(table[0])
		switch {
		case f.name == "json":
			args = slices.Concat([]string{"report", "--json", "--table"}, table)
		case f.name == "text" && (t != nil && t.Draws() || slices.Contains(drawnTables(), table[0]) || table[0] == StabilityTable):
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
