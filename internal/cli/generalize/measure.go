package generalize

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
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
	bootstrap                int
	seed                     uint64
	triplets, repeats, steps int
	images                   []int
	replace                  []string
	jobs                     int
	reference                string
	force                    bool
	metricFlags
	changed func(flag string) bool
}

// newOptions are the options where no flag is given.
func newOptions() options {
	return options{
		Subject: base.Subject{Checkpoint: names.Last, Set: "test"}, repeats: generalize.StabilityRepeats, steps: generalize.InfluenceSteps, jobs: 1,
		metricFlags: metricFlags{delta: 0.01},
	}
}

// addMeasure declares the flags of all measurements.
func (o *options) addMeasure(cmd *cobra.Command, triplets string) {
	o.AddRunAlone(cmd)
	base.AddSplit(cmd.Flags(), &o.Set, "test", "which images training has not seen: test or validation")
	o.AddLimit(cmd)
	o.AddFormat(cmd)
	o.AddNoPictures(cmd)
	fs := cmd.Flags()
	fs.Uint64Var(&o.seed, "seed", 0, "seed of the draws (by default the config's)")
	fs.IntVar(&o.triplets, "triplets", 0, triplets)
	fs.BoolVar(&o.force, "force", false, "replace a result that has more, or is of other settings")
	o.changed = fs.Changed
}

// addRetrain declares the flags of measurements that train again.
func (o *options) addRetrain(cmd *cobra.Command, repeats, images, replace string) {
	fs := cmd.Flags()
	fs.IntVar(&o.repeats, "repeats", generalize.StabilityRepeats, repeats)
	fs.IntSliceVar(&o.images, "images", nil, images)
	fs.StringSliceVar(&o.replace, "replace", nil, replace)
	fs.IntVar(&o.jobs, "jobs", 1, "train so many at once, each on one thread")
}

// runMeasure measures how a run generalizes and writes what came out.
func runMeasure(ctx context.Context, s *base.Streams, o options, job string) error {
	if err := o.CheckRun(); err != nil {
		return err
	}
	if err := o.CheckFormat(); err != nil {
		return err
	}
	m, err := o.measure(job)
	if err != nil {
		return err
	}
	r, err := o.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Config.LearnsMetric() && o.changed("reference") {
		return base.Usagef("--reference is about networks: %s is of model mahalanobis, whose gap learns its reference, from training images that no sample has", r.Dir)
	}
	check := o.checkNetwork
	if r.Config.LearnsMetric() {
		check = o.checkMetric
	}
	if err := check(r, &m); err != nil {
		return err
	}
	if err := o.NoteUnfinished(s, r); err != nil {
		return err
	}
	if !o.changed("bootstrap") {
		m.Bootstrap = r.Config.Eval.Bootstrap
	}
	if !o.changed("seed") {
		m.Seed = r.Config.Seed
	}
	view := &base.Stages{Streams: s}
	defer view.Close()
	found, err := generalize.Measure(ctx, r, m, progress.Progress{Say: view.Say, Note: s.Note})
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
	for _, w := range found.Cautions() {
		s.Note("warning: %s", w)
	}
	figures := run.FigureFolder(r.Dir, m.Set, m.MeasuredCheckpoint())
	if err := generalize.Undraw(found, figures); err != nil {
		return err
	}
	if !o.NoPictures {
		drawMeasured(s, figures, found)
	}
	return s.Result(found, func(w io.Writer) error { return found.Table().Write(w, o.Format) })
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

// measure checks the flags of a measurement.
func (o *options) measure(job string) (generalize.Options, error) {
	m := generalize.Options{
		Job: job, Checkpoint: o.Checkpoint, Set: o.Set, Limit: o.Limit, Bootstrap: o.bootstrap, Seed: o.seed, Triplets: o.triplets,
		Repeats: o.repeats, Images: o.images, Replace: o.replace, Steps: o.steps, Jobs: o.jobs, Reference: o.reference, Force: o.force,
	}
	if err := base.CheckResamples(o.bootstrap); err != nil {
		return m, err
	}
	if o.changed("reference") && o.reference == "" {
		return m, base.Usagef("--reference is empty; give the directory of a run")
	}
	triples := slices.Contains(o.replace, generalize.ReplaceTriple)
	if triples {
		if err := o.checkTriples(job); err != nil {
			return m, err
		}
	}
	if n := o.triplets; o.changed("triplets") && n < generalize.LeastTriplets {
		return m, base.Usagef("--triplets is %d; give at least %d", n, generalize.LeastTriplets)
	}
	if err := base.AtLeast(base.FlagCount{Flag: "repeats", Value: o.repeats, Least: 1}, base.FlagCount{Flag: "steps", Value: o.steps, Least: 1}, base.FlagCount{Flag: "jobs", Value: o.jobs, Least: 1}); err != nil {
		return m, err
	}
	if len(o.images) > 0 && o.changed("repeats") {
		return m, base.Usagef("--images says which images are replaced, --repeats how many are drawn: give one")
	}
	for i, v := range o.images {
		if v < 0 || !triples && slices.Contains(o.images[:i], v) {
			return m, base.Usagef("--images is %v; give each image once, counted from 0", o.images)
		}
	}
	for i, v := range o.replace {
		if !triples && !slices.Contains(generalize.Replacements(), v) || slices.Contains(o.replace[:i], v) {
			return m, base.Usagef("--replace is %v; give each once of %s, or %s alone", o.replace, strings.Join(generalize.Replacements(), ", "), generalize.ReplaceTriple)
		}
	}
	if job == generalize.MeasureInfluence && slices.Contains(o.replace, generalize.ReplaceUlp) {
		return m, base.Usagef("influence is about images: --replace %s goes with tercet stability", generalize.ReplaceUlp)
	}
	if job == generalize.MeasureInfluence && len(o.replace) > 1 {
		return m, base.Usagef("influence replaces images in one way: --replace is %v", o.replace)
	}
	if o.Set == "train" {
		return m, base.Usagef("%s is about images that training has not seen: --split is test or validation", job)
	}
	return m, nil
}
