package generalize

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
	"tercet/internal/generalize/metric"
	"tercet/internal/names"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/train"
)

// options are those of all measurements; each command declares the flags of its own.
type options struct {
	base.Subject
	base.Outcome
	seed     uint64
	triplets int
	force    bool
	repeats  int // replacements, or samples of a metric
	delta    float64
	metric   metric.Options // what only runs of model mahalanobis have
	flags    *pflag.FlagSet
}

// The modes of these commands: what they measure a run of.
const (
	networks = "networks"
	metrics  = "runs of model mahalanobis"
)

// newOptions are the options where no flag is given.
func newOptions() *options {
	return &options{Subject: base.Subject{Checkpoint: names.Last, Set: "test"}, repeats: generalize.StabilityRepeats, delta: 0.01}
}

// addInput declares the flags that choose the run and the draws.
func (o *options) addInput(cmd *cobra.Command) {
	o.flags = cmd.Flags()
	o.AddRunAlone(cmd)
	o.flags.Uint64Var(&o.seed, "seed", 0, "random seed (default: the config's)")
	base.Group(o.flags, "Input")
}

// addImages declares the flags of the images that networks are measured on.
func (o *options) addImages(cmd *cobra.Command, checkpoint bool) {
	if checkpoint {
		o.AddCheckpoint(cmd)
	}
	base.AddSplit(cmd.Flags(), &o.Set, "test", "held-out images to use: test or validation")
	o.AddLimit(cmd)
}

// addOutput declares the flags of the result.
func (o *options) addOutput(cmd *cobra.Command) {
	fs := cmd.Flags()
	o.AddFormat(cmd)
	o.AddNoPictures(cmd)
	fs.BoolVar(&o.force, "force", false, "replace an existing result even if it has more scores or other settings")
	base.Group(fs, "Output")
}

// addDelta declares the flag of the probability with which bounds hold.
func (o *options) addDelta() {
	o.flags.Float64Var(&o.delta, "delta", 0.01, "delta of the bounds: each holds with probability 1 - delta")
}

// oldCount is the flag of stability that was for replacements and for samples.
const oldCount = "repeats"

// counted is the flag by which options.repeats was given; "" where none was.
func (o *options) counted() string {
	given := ""
	o.flags.Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"replacements", "samples", oldCount}, f.Name) {
			given = f.Name
		}
	})
	return given
}

// check refuses flags of any measurement.
func (o *options) check(measured string) error {
	if err := o.CheckRun(); err != nil {
		return err
	}
	if n := o.triplets; o.flags.Changed("triplets") && n < generalize.LeastTriplets {
		return base.Usagef("--triplets is %d; give at least %d", n, generalize.LeastTriplets)
	}
	if o.Set == "train" {
		return base.Usagef("%s needs images not used in training: --split must be test or validation", measured)
	}
	return nil
}

// checkDelta refuses probabilities that a bound is not stated for.
func (o *options) checkDelta(stated string) error {
	if !(o.delta > 0 && o.delta < 1/math.E) {
		return base.Usagef("--delta is %v; %s stated for delta in (0, 1/e)", o.delta, stated)
	}
	return nil
}

// ofNetworks are the options of a measurement of a network.
func (o *options) ofNetworks() generalize.Options {
	return generalize.Options{Set: o.Set, Limit: o.Limit, Triplets: o.triplets, Seed: o.seed, Force: o.force}
}

// measuring is a command's measurement of a run, of which the options have been checked.
type measuring func(ctx context.Context, r *run.Run, p progress.Progress) (generalize.Measurement, error)

// measure measures how a run generalizes and writes what came out: a network by network,
// a run of model mahalanobis by fitted.
func (o *options) measure(ctx context.Context, s *base.Streams, network, fitted measuring) error {
	r, err := o.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	job := network
	if r.Config.LearnsMetric() {
		job = fitted
	}
	if !o.flags.Changed("seed") {
		o.seed = r.Config.Seed
	}
	view := &base.Stages{Streams: s}
	defer view.Close()
	found, err := job(ctx, r, progress.Progress{Say: view.Say, Note: s.Note})
	if err != nil {
		if errors.Is(err, train.ErrInterrupted) {
			return &base.ExitError{Code: base.ExitInterrupted, Err: err}
		}
		return base.KeptError(err, "")
	}
	view.Close()
	if err := record.Write(r.Path(found.File()), found); err != nil {
		return err
	}
	s.Warn(found.Cautions()...)
	figures := run.FigureFolder(r.Dir, o.Set, o.Checkpoint)
	if err := generalize.Undraw(found, figures); err != nil {
		return err
	}
	if !o.NoPictures {
		drawMeasured(s, figures, found)
	}
	return s.Result(found, func(w io.Writer) error { return found.Table().Write(w, o.Format) })
}

// note says what a user should know before the work.
func (o *options) note(s *base.Streams, r *run.Run, count string) error {
	if o.counted() == oldCount {
		s.Note("--%s is an old name: write --%s", oldCount, count)
	}
	return o.NoteUnfinished(s, r)
}

// drawMeasured draws what there is to draw; the numbers stand without.
func drawMeasured(s *base.Streams, dir string, found generalize.Measurement) {
	files, err := found.Draw(dir)
	if err != nil {
		s.Note("no picture: %v", err)
	}
	for _, f := range files {
		s.Note("drew %s", f)
	}
}
