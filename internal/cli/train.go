package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/attack"
	"tercet/internal/cluster"
	"tercet/internal/config"
	"tercet/internal/metric"
	"tercet/internal/option"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/train"
)

type trainOptions struct {
	configFlags
	seed   string
	out    string
	resume string
	from   string
	task   string
	jobs   string
	dryRun bool
	list   bool
}

func newTrain(s *Streams) *cobra.Command {
	var o trainOptions
	return command{
		use:   "train [FILE.yaml]",
		short: "Learn an embedding; resumes a run that was interrupted",
		long: `
Trains what a config describes, in a directory of its own (runs/NAME). Without a
config, it trains on the defaults. The same command again continues an interrupted
run to the bit-identical end and leaves a finished one alone. A run that cannot take
its first step leaves no directory.

A config with a sweep section is many runs, one after the other, each on all
threads. --jobs N trains N of them at once, each on one thread, and opens data
that they share once: with networks so small that a step takes a few
milliseconds, --jobs auto (one per thread) is far quicker; with large ones it
gains little and takes the memory of N runs. No result depends on it. A run that
fails lets those in training end and no other begin; one that diverged or
collapsed, or that another process is working on, stops nothing and is named at
the end. --task i/n runs a share of the runs, so that make -j, GNU parallel or a
Slurm array can spread them.`,
		examples: []example{
			{"the built-in dataset with the defaults, one epoch of 40 characters", "tercet train --set name=first --set train.epochs=1 --set data.glyphs.classes=40 --set data.glyphs.test_classes=10 --set model.width=8", true},
			{"what it would do, without doing it", "tercet train --set data.glyphs.classes=40 --set data.glyphs.test_classes=10 --set model.width=8 --dry-run", true},
			{"go on after Ctrl-C", "tercet train --resume runs/first", false},
			{"many small networks, as many at once as there are threads", "tercet train sweep.yaml --jobs auto", false},
		},
		exits: []int{ExitData, ExitDiverged, ExitInterrupted},
		args:  o.oneConfig,
		flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			o.addFlags(cmd)
			fs.StringVar(&o.seed, "seed", "", "override the seed")
			fs.StringVarP(&o.out, "runs-dir", "o", "runs", "folder of run directories")
			fs.StringVar(&o.resume, "resume", "", "continue the run in this directory")
			fs.StringVar(&o.from, "from", "", "with --resume, continue from another `checkpoint` and replace the last one: previous, best, or start (the first step)")
			fs.StringVar(&o.task, "task", "", "of a sweep, only share `i/n` (i from 1)")
			fs.StringVar(&o.jobs, "jobs", "1", "of a sweep, train `N` runs at once, each on one thread; auto: one per thread")
			fs.BoolVar(&o.dryRun, "dry-run", false, "print the plan: parameters, steps, passes, memory, time")
			fs.BoolVar(&o.list, "list", false, "print the directories of the runs, one a line, and stop")
			cmd.MarkFlagsMutuallyExclusive("resume", "config")
			cmd.MarkFlagsMutuallyExclusive("resume", "set")
			cmd.MarkFlagsMutuallyExclusive("resume", "seed")
			cmd.MarkFlagsMutuallyExclusive("resume", "task")
			cmd.MarkFlagsMutuallyExclusive("resume", "jobs")
			cmd.MarkFlagsMutuallyExclusive("resume", "runs-dir")
			oldNames(fs, "out", "runs-dir")
		},
		run: func(ctx context.Context, _ []string) error { return runTrain(ctx, s, o) },
	}.build()
}

func runTrain(ctx context.Context, s *Streams, o trainOptions) error {
	if o.resume != "" && o.path != "" {
		return usagef("--resume continues a run with its own config; leave out %s", o.path)
	}
	if o.resume != "" {
		return resume(ctx, s, o)
	}
	if o.from != "" {
		return usagef("--from goes with --resume: it names the checkpoint that a run is continued from")
	}
	jobs, err := parseJobs(o.jobs)
	if err != nil {
		return err
	}
	over, err := config.ParseSets(o.sets)
	if err != nil {
		return err
	}
	if o.seed != "" {
		over = append(over, config.Override{Key: "seed", Value: o.seed, From: "--seed"})
	}
	cfg, err := config.LoadWith(o.path, over)
	if err != nil {
		return err
	}
	variants, err := run.Variants(cfg)
	if err != nil {
		return err
	}
	if variants, err = run.Task(variants, o.task); err != nil {
		return &ExitError{ExitUsage, err}
	}
	if len(variants) == 0 {
		s.Note("share %s holds no runs: the sweep has fewer", o.task)
	}
	switch {
	case o.list:
		return listRuns(s, o.out, variants)
	case o.dryRun:
		return plan(s, variants)
	}
	return trainAll(ctx, s, o.out, variants, jobs)
}

// parseJobs returns how many runs --jobs wants at once.
func parseJobs(text string) (int, error) {
	if text == "auto" {
		return par.Threads(), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, usagef("--jobs is %q; give a number of runs, 1 or more, or auto for one per thread", text)
	}
	if most := int(flagLimits["jobs"]); n > most {
		return 0, usagef("--jobs is %d; give at most %d", n, most)
	}
	return n, nil
}

// trainDocument is the result of train: the manifests of its runs.
type trainDocument struct {
	Schema string            `json:"schema"`
	Runs   []record.Manifest `json:"runs"`
}

func resume(ctx context.Context, s *Streams, o trainOptions) error {
	if o.dryRun || o.list {
		return usagef("--resume goes with neither --dry-run nor --list")
	}
	if !slices.Contains([]string{"", "previous", "best", run.Start}, o.from) {
		return usagef("--from is %q; give previous, best or %s", o.from, run.Start)
	}
	r, err := run.Open(o.resume)
	if err != nil {
		return runError(err)
	}
	r.From = o.from
	view := &trainView{s: s}
	defer view.end()
	done, err := r.Train(ctx, view.watch())
	view.end()
	if err != nil {
		return trainError(r.Dir, err)
	}
	if done {
		s.Note("%s: finished before; nothing to do", r.Dir)
	} else {
		ended(s, r.Dir, r.Manifest)
	}
	return s.Result(trainDocument{record.TrainSchema, []record.Manifest{r.Manifest}}, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, r.Dir)
		return err
	})
}

func isLost(err error) bool {
	var collapse *train.CollapseError
	var finite *train.NonFiniteError
	var before *run.LostError
	return errors.As(err, &collapse) || errors.As(err, &finite) || errors.As(err, &before)
}

// trainError gives the run in dir, which did not end well, its exit code.
func trainError(dir string, err error) error {
	err = fmt.Errorf("%s: %w", dir, err)
	switch {
	case isLost(err):
		return &ExitError{ExitDiverged, err}
	case errors.Is(err, train.ErrInterrupted):
		return &ExitError{ExitInterrupted, fmt.Errorf("%w; tercet train --resume %s goes on", err, dir)}
	}
	return runError(err)
}

// runError gives an error about a run directory its exit code.
func runError(err error) error {
	var exit *ExitError
	var option *option.Error
	var checkpoint *run.CheckpointError
	switch {
	case errors.As(err, &exit):
		return err
	case errors.As(err, &checkpoint):
		return &ExitError{ExitData, fmt.Errorf("%w: %s", err, insteadOf(checkpoint))}
	case errors.As(err, &option), errors.Is(err, run.ErrOtherRun), errors.Is(err, attack.ErrTooMany):
		return &ExitError{ExitUsage, err}
	case errors.Is(err, run.ErrNoRun), errors.Is(err, train.ErrCheckpoint),
		errors.Is(err, metric.ErrInput), errors.Is(err, cluster.ErrInput), errors.Is(err, attack.ErrUnfit):
		return &ExitError{ExitData, err}
	}
	return err
}

// insteadOf says how to go on with a run whose last checkpoint cannot be used.
func insteadOf(e *run.CheckpointError) string {
	resume := "`tercet train --resume " + e.Dir + " --from "
	if len(e.Offers) == 0 {
		return resume + run.Start + "` trains from the first step"
	}
	return resume + e.Offers[0].Name + "` continues from it, --from " + run.Start + " trains from the first step"
}

func listRuns(s *Streams, out string, variants []*config.Config) error {
	type doc struct {
		Schema string   `json:"schema"`
		Runs   []string `json:"runs"`
	}
	d := doc{Schema: record.RunsSchema}
	for _, v := range variants {
		d.Runs = append(d.Runs, runDir(out, v))
	}
	return s.Result(d, func(w io.Writer) error { return printRuns(w, out, variants) })
}

func printRuns(w io.Writer, out string, variants []*config.Config) error {
	var b strings.Builder
	for _, v := range variants {
		fmt.Fprintln(&b, runDir(out, v))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func runDir(out string, cfg *config.Config) string {
	return strings.TrimSuffix(out, "/") + "/" + cfg.Name
}
