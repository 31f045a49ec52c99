package train

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/config"
	"tercet/internal/emit"
	"tercet/internal/ranks"
	"tercet/internal/ranks/mpi"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/run"
	"tercet/internal/scheduler"
	"tercet/internal/train"
)

type options struct {
	base.ConfigFlags
	seed   string
	out    string
	resume string
	from   string
	task   string
	jobs   string
	dryRun bool
	list   bool
	emit   string
	device string
	ranks  string
}

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "train [FILE.yaml]",
		Short: "Learn an embedding; resumes a run that was interrupted",
		Long: `
Trains a config in the directory runs/NAME. Without a config, it uses the defaults.
The same command resumes an interrupted run, with bit-identical results, and does not
change a finished one. If the first step fails, no run directory remains.

A config with a sweep section describes many runs. By default they run one after the
other, each on all threads. --jobs N trains N runs at once, each on one thread, and
reads shared data once. For small networks, whose steps take a few milliseconds, --jobs
auto (one per thread) is much faster. For large networks it gains little and needs the
memory of N runs. Results do not depend on --jobs. If a run fails, the runs in progress
finish and no further run starts. Runs that diverge, collapse or are trained by another
process do not stop the sweep; they are listed at the end.

--task i/n trains one share of the runs. --task auto/n takes i from the scheduler: a job
array of Slurm, PBS, SGE, LSF or AWS Batch, GNU parallel, or an Indexed Job of
Kubernetes. --emit prints a job script for one of them, with the time and memory that
--dry-run estimates; with --task auto/n the script divides the runs among n tasks.

--ranks mpi trains each run with all processes that mpirun or srun has started. Their
number must divide train.shards; results do not depend on it. Rank 0 writes the run, the
other ranks only read the config and the data. It needs tercet-native, which make
native builds:
mpirun -n 4 tercet-native train large.yaml --ranks mpi`,
		Examples: []base.Example{
			{Why: "one epoch on 40 characters of the built-in dataset", Line: "tercet train --set name=first --set train.epochs=1 --set data.glyphs.classes=40 --set data.glyphs.test_classes=10 --set model.width=8", Heavy: true},
			{Why: "print the plan without training", Line: "tercet train --set data.glyphs.classes=40 --set data.glyphs.test_classes=10 --set model.width=8 --dry-run", Heavy: true},
			{Why: "resume after Ctrl-C", Line: "tercet train --resume runs/first"},
			{Why: "a script for a Slurm array of 8 tasks", Line: "tercet train sweep.yaml --emit slurm --task auto/8"},
			{Why: "many small networks, one per thread at a time", Line: "tercet train sweep.yaml --jobs auto"},
		},
		Exits: []int{base.ExitData, base.ExitDiverged, base.ExitInterrupted},
		Args:  o.OneConfig,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			o.AddFlags(cmd)
			o.AddSkipBroken(cmd)
			fs.StringVar(&o.seed, "seed", "", "override the seed")
			fs.StringVarP(&o.out, "runs-dir", "o", "runs", "folder of run directories")
			fs.StringVar(&o.resume, "resume", "", "continue the run in this directory")
			base.Words(fs, &o.from, "from", "", []string{"previous", "best", run.Start}, "with --resume, continue from another `checkpoint` instead of the last one and overwrite it: previous, best, or start (the first step)")
			fs.StringVar(&o.task, "task", "", "for a sweep: train only share `i/n` (i from 1), or auto/n with the scheduler's index")
			fs.StringVar(&o.jobs, "jobs", "1", "for a sweep: train `N` runs at once, each on one thread; auto: one per thread")
			fs.BoolVar(&o.dryRun, "dry-run", false, "print the plan: parameters, steps, passes, memory, time")
			fs.BoolVar(&o.list, "list", false, "print the directories of the runs, one per line, and exit")
			fs.StringVar(&o.emit, "emit", "", "print a script that trains the runs, and exit; `FORMAT`: "+strings.Join(emit.Formats(), ", "))
			base.AddDevice(fs, &o.device, "with --resume, for the steps from here on; by default train.device")
			base.Words(fs, &o.ranks, "ranks", "", []string{"mpi"}, "train each run on all processes of a job; `KIND`: mpi (mpirun, srun)")
			base.Exclusive(cmd, "ranks", "emit", "dry-run", "list", "jobs")
			base.Exclusive(cmd, "emit", "dry-run", "list", "resume")
			base.Exclusive(cmd, "resume", "config", "set", "skip-broken", "seed", "task", "jobs", "runs-dir")
			base.OldNames(fs, "out", "runs-dir")
		},
		Run: func(ctx context.Context, _ []string) error { return runTrain(ctx, s, o) },
	}.Build()
}

func runTrain(ctx context.Context, s *base.Streams, o options) error {
	if o.resume != "" && o.Path != "" {
		return base.Usagef("--resume continues a run with its own config; leave out %s", o.Path)
	}
	if o.ranks != "" {
		return inRanks(ctx, s, o, mpi.Open)
	}
	if o.resume != "" {
		return resume(ctx, s, o, nil)
	}
	l, err := o.load()
	if err != nil {
		return err
	}
	l.note(s, o)
	if o.emit != "" {
		return emitScript(ctx, s, o, l.name, l.variants, l.jobs)
	}
	switch {
	case o.list:
		return listRuns(s, o.out, l.variants)
	case o.dryRun:
		return base.Plan(ctx, s, l.variants)
	}
	return all(ctx, s, o.out, l, nil)
}

// loaded is what the command line asks to train.
type loaded struct {
	cfg      *config.Config // of the sweep
	name     string
	variants []*config.Config
	jobs     int
}

// note says which keys have old names, and that there is nothing to do.
func (l *loaded) note(s *base.Streams, o options) {
	base.NoteOldKeys(s, l.cfg)
	if len(l.variants) == 0 {
		s.Note("share %s holds no runs: the sweep has fewer", o.task)
	}
}

// load reads the config. With --emit, it returns the runs of all tasks.
func (o options) load() (*loaded, error) {
	if o.from != "" {
		return nil, base.Usagef("--from needs --resume: it names the checkpoint to continue from")
	}
	jobs, err := base.ParseJobs(o.jobs)
	if err != nil {
		return nil, err
	}
	over, err := o.Overrides()
	if err != nil {
		return nil, err
	}
	if o.seed != "" {
		over = append(over, config.Override{Key: "seed", Value: o.seed, From: "--seed"})
	}
	if o.device != "" {
		over = append(over, config.Override{Key: "train.device", Value: o.device, From: "--device"})
	}
	cfg, err := config.LoadWith(o.Path, over)
	if err != nil {
		return nil, err
	}
	l := &loaded{cfg: cfg, name: cfg.Name, jobs: jobs}
	if l.variants, err = run.Variants(cfg); err != nil || o.emit != "" {
		return l, err
	}
	task, err := scheduler.ParseTask(o.task, os.Getenv)
	if err != nil {
		return nil, &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	l.variants = run.Share(l.variants, task)
	return l, nil
}

func resume(ctx context.Context, s *base.Streams, o options, team *ranks.Team) error {
	if o.dryRun || o.list {
		return base.Usagef("--resume cannot be combined with --dry-run or --list")
	}
	r, err := run.Open(o.resume)
	if err != nil {
		return base.RunError(err)
	}
	r.From, r.Team, r.Device = o.from, team, o.device
	view := &view{s: s}
	defer view.end()
	done, err := r.Train(ctx, view.watch())
	view.end()
	if err != nil {
		return trainError(r.Dir, err)
	}
	if done {
		s.Note("%s: finished before; nothing to do", r.Dir)
	} else {
		ended(s, r.Dir, "", r.Manifest)
	}
	return s.Line(printed.Trained{Schema: record.TrainSchema, Runs: []record.Manifest{r.Manifest}}, "%s", r.Dir)
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
		return &base.ExitError{Code: base.ExitDiverged, Err: err}
	case errors.Is(err, train.ErrInterrupted):
		return &base.ExitError{Code: base.ExitInterrupted, Err: fmt.Errorf("%w; tercet train --resume %s continues it", err, dir)}
	}
	return base.RunError(err)
}

func listRuns(s *base.Streams, out string, variants []*config.Config) error {
	d := printed.RunList{Schema: record.RunsSchema}
	for _, v := range variants {
		d.Runs = append(d.Runs, runDir(out, v))
	}
	return s.Text(d, runLines(out, variants))
}

func runLines(out string, variants []*config.Config) string {
	var b strings.Builder
	for _, v := range variants {
		fmt.Fprintln(&b, runDir(out, v))
	}
	return b.String()
}

func runDir(out string, cfg *config.Config) string {
	return strings.TrimSuffix(out, "/") + "/" + cfg.Name
}
