package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/internal/data"
	"tercet/internal/metric"
	"tercet/internal/names"
	"tercet/internal/record"
	"tercet/internal/run"
)

// subject is what eval, attack and cluster work on: a run, or an npy file of
// embeddings.
type subject struct {
	run        string
	checkpoint string
	set        string
	embeddings string
	labels     string
	column     string // of a csv file of labels
	limit      int
}

func (o *subject) addRun(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.VarP((*oneRun)(&o.run), "run", "r", "run `DIRECTORY` (what tercet train made)")
	fs.StringVar(&o.checkpoint, "checkpoint", "last", "last or best")
	addSplit(fs, &o.set, "test", "which images: test, validation or train")
}

// oneRun is the value of a flag that names one run. A second one is an error: the first
// would be left out without a word.
type oneRun string

func (r *oneRun) String() string { return string(*r) }
func (r *oneRun) Type() string   { return "string" }

func (r *oneRun) Set(dir string) error {
	if *r != "" && string(*r) != dir {
		return fmt.Errorf("%s is given already; give one run, and repeat the command for each other", *r)
	}
	*r = oneRun(dir)
	return nil
}

// addSplit declares --split, which older versions called --set-name.
func addSplit(fs *pflag.FlagSet, to *string, standard, usage string) {
	fs.StringVar(to, "split", standard, usage)
	oldNames(fs, "set-name", "split")
}

func (o *subject) addFiles(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&o.embeddings, "embeddings", "", "npy `FILE` of embeddings (N, D) from any tool")
	fs.StringVar(&o.labels, "labels", "", "npy or csv `FILE` of N labels")
	fs.StringVar(&o.column, "label-column", "", labelColumnUsage)
	fs.IntVar(&o.limit, "limit", 0, "at most so many images, evenly spread over the set; 0 takes all")
	cmd.MarkFlagsMutuallyExclusive("run", "embeddings")
	cmd.MarkFlagsMutuallyExclusive("run", "labels")
	cmd.MarkFlagsMutuallyExclusive("run", "label-column")
}

const labelColumnUsage = "`NAME` of the column of labels in a csv file (default: label, or the only column)"

// labelFile is the file of labels that the flags name.
func (o *subject) labelFile() data.LabelFile { return data.LabelFile{Path: o.labels, Column: o.column} }

// labelsError names the flag that an error about the column of labels asks for.
func labelsError(err error) error {
	if errors.Is(err, data.ErrColumn) {
		err = fmt.Errorf("%w: --label-column NAME", err)
	}
	return err
}

// check refuses a command line that names no subject.
func (o *subject) check() error {
	if o.run == "" && o.embeddings == "" {
		return usagef("name what to work on: --run DIRECTORY, or --embeddings FILE.npy")
	}
	if o.run == "" && (o.limit > 0 || o.set != "test" || o.checkpoint != "last") {
		return usagef("--limit, --split and --checkpoint go with --run")
	}
	if err := checkSplit(o.set, o.checkpoint); err != nil {
		return err
	}
	return atLeast(flagCount{"limit", o.limit, 0})
}

// checkSplit refuses images and weights that there are not.
func checkSplit(split, checkpoint string) error {
	switch checkpoint {
	case "last", "best":
	default:
		return usagef("--checkpoint is %q; give last or best", checkpoint)
	}
	switch split {
	case "test", "validation", "train":
	default:
		return usagef("--split is %q; give test, validation or train", split)
	}
	return nil
}

// flagCount is a flag that counts something.
type flagCount struct {
	flag         string
	value, least int
}

// atLeast refuses the first count that is too small.
func atLeast(list ...flagCount) error {
	for _, c := range list {
		if c.value < c.least {
			return usagef("--%s is %d; give at least %d", c.flag, c.value, c.least)
		}
	}
	return nil
}

// open opens the run. It takes no lock: what these commands write is replaced
// whole, and a run can be judged while it is trained.
func (o *subject) open() (*run.Run, error) {
	r, err := run.Open(o.run)
	if err != nil {
		return nil, runError(err)
	}
	return r, nil
}

// noteUnfinished says that a run's weights are not those of its end.
func (o *subject) noteUnfinished(s *Streams, r *run.Run) error {
	m := r.Manifest
	if m.Status == record.Finished {
		o.notePastBest(s, r)
		return nil
	}
	step, err := r.Step(o.checkpoint)
	if err != nil {
		return runError(err)
	}
	s.Note("warning: %s is unfinished (%s): checkpoint %s is of step %d of %d", r.Dir, m.Status, o.checkpoint, step, m.Of)
	return nil
}

// notePastBest says of the last checkpoint after an early stop that there is a better one.
func (o *subject) notePastBest(s *Streams, r *run.Run) {
	m := r.Manifest
	if o.checkpoint != names.Last || m.Stopped == nil || m.Best == nil || m.Best.Step >= m.Stopped.Step {
		return
	}
	s.Note("%s stopped early at step %d: checkpoint last is of that step, the best one of step %d; --checkpoint best takes it", r.Dir, m.Stopped.Step, m.Best.Step)
}

// checkResamples refuses numbers of resamples that no interval can be told from.
func checkResamples(n int) error {
	switch {
	case n > metric.MaxResamples:
		return usagef("--bootstrap is %d; give at most %d", n, metric.MaxResamples)
	case n > 0 && n < metric.MinResamples:
		return usagef("--bootstrap is %d: too few for 95 %% intervals; give at least %d, or 0 for none", n, metric.MinResamples)
	}
	return atLeast(flagCount{"bootstrap", n, 0})
}

// stages shows one progress display after another, as a job's stages change.
type stages struct {
	s    *Streams
	name string
	bar  *Progress
	done int
}

func (v *stages) say(stage string, done, total int) {
	if v.bar == nil || stage != v.name {
		v.close()
		v.name, v.done = stage, 0
		v.bar = v.s.Progress(stage, int64(total))
	}
	if done > v.done {
		v.bar.Add(int64(done - v.done))
		v.done = done
	}
}

func (v *stages) close() {
	if v.bar != nil {
		v.bar.Done()
		v.bar = nil
	}
}
