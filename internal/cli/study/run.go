package study

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/cli/report"
	"tercet/internal/lists"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/rundir"
	"tercet/internal/study/making"
	"tercet/internal/text"
)

type runOptions struct {
	out    string
	sets   []string
	jobs   string
	dryRun bool
}

func newRun(s *base.Streams) *cobra.Command {
	var o runOptions
	return completing(base.Command{
		Use:   "run SPEC [STEP...]",
		Short: "Train and evaluate the runs of a study, and print its tables",
		Long: `
Trains the runs of a study and evaluates, attacks or clusters each as the study describes,
several at a time, then prints the study's tables. Finished, up-to-date work is skipped,
so the same command resumes after an interruption. A run that collapses or diverges counts
as a result. Failed commands are listed at the end with their logs; other runs continue.
The exit code is 1 if something failed or a run without weights lacks a result.
SPEC is the name of a built-in study or a YAML file. Paths of configs are relative to the
working directory. Without STEP, all steps run except those marked extra. Logs are written
to OUT/logs, tables (txt, md, tex, csv, json) and plots to OUT/tables.`,
		Examples: []base.Example{
			{Why: "print the commands of a study", Line: "tercet study run clustering mnist --dry-run"},
			{Why: "two runs at a time, one seed", Line: "tercet study run pairs order --jobs 2 --set 'sweep.seed=[0]'", Heavy: true},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Args:  cobra.MinimumNArgs(1),
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringVarP(&o.out, "runs-dir", "o", "runs", "folder of run directories")
			fs.StringArrayVar(&o.sets, "set", nil, "override config keys of all runs: `KEY=VALUE` (repeatable)")
			fs.StringVar(&o.jobs, "jobs", "auto", "process `N` runs at once, each on an equal share of the threads; auto: one per thread")
			fs.BoolVar(&o.dryRun, "dry-run", false, "print the commands that remain to be run, and exit")
		},
		Run: func(ctx context.Context, args []string) error { return runRun(ctx, s, args, o) },
	}.Build(), completeSteps)
}

func runRun(ctx context.Context, s *base.Streams, args []string, o runOptions) error {
	jobs, err := base.ParseJobs(o.jobs)
	if err != nil {
		return err
	}
	spec, err := ReadSpec(args[0])
	if err != nil {
		return err
	}
	if len(spec.Steps) == 0 {
		return base.Usagef("study %s has no steps: it compares existing runs (tercet study report)", spec.Name)
	}
	var chosen []string
	if len(args) > 1 {
		chosen = args[1:]
	}
	steps, err := making.Plan(spec, chosen, o.out, o.sets)
	switch {
	case errors.Is(err, rundir.ErrRun):
		return &base.ExitError{Code: base.ExitData, Err: err}
	case err != nil:
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	for _, step := range steps {
		for _, table := range step.Tables {
			if err := report.CheckTable(strings.Fields(table)[0]); err != nil {
				return fmt.Errorf("%s: step %s: %w", args[0], step.Name, err)
			}
		}
	}
	if o.dryRun {
		return dryRun(s, steps)
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return Make(ctx, s, spec, steps, o.out, jobs, func(ctx context.Context, args []string, out, log io.Writer) (int, error) {
		return runProgram(ctx, program, append([]string{"--threads", fmt.Sprint(max(1, par.Threads()/jobs))}, args...), out, log)
	})
}

// dryRun prints the command lines that are not done.
func dryRun(s *base.Streams, steps []*making.Step) error {
	doc := printed.StudyPlan{Schema: record.StudyPlanSchema, Commands: []printed.StudyAction{}}
	for _, step := range steps {
		for _, t := range step.Tasks {
			if f := t.CannotMake(); f != nil {
				s.Note("warning: %s", f)
			}
			for _, c := range t.Commands {
				if !t.Kept() && !t.Done(c) {
					doc.Commands = append(doc.Commands, printed.StudyAction{Step: step.Name, Run: t.Dir, Line: commandLine(c.Args)})
				}
			}
		}
		for _, f := range step.Finally {
			doc.Commands = append(doc.Commands, printed.StudyAction{Step: step.Name, Line: commandLine(withRuns(f, step.Runs))})
		}
	}
	return s.Text(doc, strings.Join(lists.Map(doc.Commands, func(c printed.StudyAction) string { return c.Line + "\n" }), ""))
}

func commandLine(args []string) string {
	return "tercet " + strings.Join(lists.Map(args, text.ShellWord), " ")
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
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// tercetRunner runs tercet with arguments and returns its exit code.
type tercetRunner func(ctx context.Context, args []string, out, log io.Writer) (int, error)
