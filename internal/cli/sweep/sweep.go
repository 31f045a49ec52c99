package sweep

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/run"
	"tercet/internal/rundir"
	"tercet/internal/scheduler"
	"tercet/internal/text"
)

type options struct {
	base.ConfigFlags
	tasks int
}

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:   "sweep",
		Short: "Show the progress of a sweep",
		Long:  "Shows which runs of a sweep are finished, in progress, killed or not started, whether\nthey run on one machine or in many tasks of a scheduler.",
		Examples: []base.Example{
			{Why: "the runs in a folder", Line: "tercet sweep status runs"},
		},
		Subs: []*cobra.Command{newStatus(s)},
	}.Build()
}

func newStatus(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "status [RUNS...]",
		Paged: true,
		Short: "Count runs by status, and list the tasks to resubmit",
		Long: `
Counts the runs in RUNS (default: runs) by status, and lists those that need attention:
  training     in progress; the lock file names process, host and job
  dead         killed: neither finished nor in progress
  interrupted  stopped by a signal, with a checkpoint
  failed, diverged, collapsed  with the reason

With --config, RUNS is the --runs-dir of tercet train. The command then also counts runs
that have not been started, and prints the task indices to resubmit in Slurm's format:
--array=3,17,40-44. These are tasks with a run that is not started, dead, interrupted or
failed, provided that none of the task's runs is in progress. --tasks is the N of --task
auto/N; by default there is one task per run. Runs that diverged or collapsed are not
resubmitted, because they would do so again. The command does not know which tasks are
waiting in a queue.`,
		Examples: []base.Example{
			{Why: "counts by status, and killed runs", Line: "tercet sweep status runs"},
			{Why: "which of 8 tasks to resubmit", Line: "tercet sweep status -c sweep.yaml --tasks 8"},
		},
		Exits: []int{base.ExitData},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 && (o.Path != "" || len(o.Sets) > 0) {
				return base.Usagef("with a config, RUNS is one folder, that of tercet train --runs-dir; got %s", strings.Join(args, " and "))
			}
			return nil
		},
		Flags: func(cmd *cobra.Command) {
			o.AddFlags(cmd)
			cmd.Flags().IntVar(&o.tasks, "tasks", 0, "with --config, the number `N` of tasks in --task auto/N (default: one per run)")
		},
		Run: func(_ context.Context, args []string) error { return status(s, o, args) },
	}.Build()
}

func status(s *base.Streams, o options, args []string) error {
	if len(args) == 0 {
		args = []string{"runs"}
	}
	doc := printed.SweepStatus{Schema: record.SweepStatusSchema, Counts: map[string]int{}}
	var err error
	switch {
	case base.IsConfigFile(args[0]) && o.Path == "":
		return base.Usagef("%s is a config, and RUNS is a folder of runs: write --config %[1]s", args[0])
	case o.tasks < 0:
		return base.Usagef("--tasks is %d; give the number of tasks that share the runs", o.tasks)
	case o.Path == "" && len(o.Sets) == 0 && o.tasks > 0:
		return base.Usagef("--tasks needs --config: the config says which runs each task trains")
	case o.Path == "" && len(o.Sets) == 0:
		err = there(&doc, args)
	default:
		err = planned(s, &doc, o, args[0])
	}
	if err != nil {
		return base.RunError(err)
	}
	for _, r := range doc.Runs {
		doc.Counts[string(r.Status)]++
	}
	return s.Text(doc, statusText(doc, func(status record.Status, word string) string { return s.Paint(base.StatusTone(status), word) }))
}

// there takes in the runs that are in the folders.
func there(doc *printed.SweepStatus, patterns []string) error {
	dirs, err := rundir.Find(patterns)
	if err != nil {
		return &base.ExitError{Code: base.ExitData, Err: err}
	}
	for _, dir := range dirs {
		r, err := run.Standing(dir, nil)
		if err != nil {
			return err
		}
		doc.Runs = append(doc.Runs, r)
	}
	return nil
}

// planned takes in the runs of the config's sweep, and which tasks are worth another try.
func planned(s *base.Streams, doc *printed.SweepStatus, o options, root string) error {
	cfg, err := o.Load(s)
	if err != nil {
		return err
	}
	variants, err := run.Variants(cfg)
	if err != nil {
		return err
	}
	if doc.Runs, err = run.Standings(root, variants); err != nil {
		return err
	}
	if doc.Tasks = o.tasks; doc.Tasks == 0 {
		doc.Tasks = len(variants)
	}
	for i := 1; i <= doc.Tasks; i++ {
		var again, held bool
		for k := i - 1; k < len(doc.Runs); k += doc.Tasks {
			r := &doc.Runs[k]
			r.Task = i
			again = again || r.Again()
			held = held || r.Status == printed.InTraining
		}
		if again && !held {
			doc.Again = append(doc.Again, i)
		}
	}
	doc.Array = scheduler.Ranges(doc.Again)
	return nil
}

// statusText has words about a status in the color that paint gives them.
func statusText(doc printed.SweepStatus, paint func(record.Status, string) string) string {
	var b strings.Builder
	var counts []string
	for _, s := range printed.Statuses() {
		if n := doc.Counts[string(s)]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, paint(s, string(s))))
		}
	}
	fmt.Fprintf(&b, "%s: %s\n", text.Count(len(doc.Runs), "run"), strings.Join(counts, ", "))
	for _, s := range printed.Statuses() {
		for _, r := range doc.Runs {
			if r.Status == s && !slices.Contains([]record.Status{record.Finished, printed.NotBegun}, s) {
				fmt.Fprintf(&b, "%s  %s%s\n", paint(s, fmt.Sprintf("%-11s", s)), r.Dir, details(r))
			}
		}
	}
	switch {
	case doc.Tasks == 0:
	case doc.Array == "":
		b.WriteString("submit again: nothing\n")
	default:
		fmt.Fprintf(&b, "submit again: --array=%s (of %s)\n", doc.Array, text.Count(doc.Tasks, "task"))
	}
	return b.String()
}

// details are what is known of a run beside its status.
func details(r printed.SweptRun) string {
	var out []string
	if r.Of > 0 {
		out = append(out, fmt.Sprintf("step %d of %d", r.Steps, r.Of))
	}
	if r.By != "" {
		out = append(out, r.By)
	}
	if r.Message != "" {
		out = append(out, r.Message)
	}
	return text.After(": ", strings.Join(out, "; "))
}
