package generalize

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
	"tercet/internal/lists"
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
	flags   *pflag.FlagSet
	changed func(flag string) bool
}

// The modes of these commands: what they measure a run of.
const (
	networks = "networks"
	metrics  = "runs of model mahalanobis"
)

// newOptions are the options where no flag is given.
func newOptions() options {
	return options{
		Subject: base.Subject{Checkpoint: names.Last, Set: "test"}, repeats: generalize.StabilityRepeats, steps: generalize.InfluenceSteps, jobs: 1,
		metricFlags: metricFlags{delta: 0.01},
	}
}

// addInput declares the flags that choose the run and the draws.
func (o *options) addInput(cmd *cobra.Command) {
	fs := cmd.Flags()
	o.flags, o.changed = fs, fs.Changed
	o.AddRunAlone(cmd)
	fs.Uint64Var(&o.seed, "seed", 0, "random seed (default: the config's)")
	base.Group(fs, "Input")
}

// addImages declares the flags of the images that networks are measured on.
func (o *options) addImages(cmd *cobra.Command, checkpoint bool) {
	if checkpoint {
		o.AddCheckpoint(cmd)
	}
	base.AddSplit(cmd.Flags(), &o.Set, "test", "held-out images to use: test or validation")
	o.AddLimit(cmd)
}

// addRetrain declares the flags of measurements that train networks again.
func (o *options) addRetrain(cmd *cobra.Command, count, images, replace string) {
	fs := cmd.Flags()
	fs.IntVar(&o.repeats, "replacements", generalize.StabilityRepeats, count)
	fs.IntSliceVar(&o.images, "images", nil, images)
	fs.StringSliceVar(&o.replace, "replace", nil, replace)
	fs.IntVar(&o.jobs, "jobs", 1, "number of trainings to run at once, each on one thread")
	base.Least(fs, 1, "replacements", "jobs")
	var old []string
	for _, r := range append(generalize.Replacements(), generalize.ReplaceTriple) {
		if w := generalize.ReplacementWord(r); w != r {
			old = append(old, r, w)
		}
	}
	base.OldValues(fs, "replace", old...)
}

// addOutput declares the flags of the result.
func (o *options) addOutput(cmd *cobra.Command) {
	fs := cmd.Flags()
	o.AddFormat(cmd)
	o.AddNoPictures(cmd)
	fs.BoolVar(&o.force, "force", false, "replace an existing result even if it has more scores or other settings")
	base.Group(fs, "Output")
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

// words are replacements as users name them.
func words(kinds []string) string {
	out := lists.Map(kinds, generalize.ReplacementWord)
	return strings.Join(out, ", ")
}

// runMeasure measures how a run generalizes and writes what came out.
func runMeasure(ctx context.Context, s *base.Streams, o options, job string) error {
	if err := o.CheckRun(); err != nil {
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
	check := o.checkNetwork
	if r.Config.LearnsMetric() {
		check = o.checkMetric
	}
	if err := check(r, &m); err != nil {
		return err
	}
	if o.counted() == oldCount {
		now := map[bool]string{true: "samples", false: "replacements"}[r.Config.LearnsMetric()]
		s.Note("--%s is an old name: write --%s", oldCount, now)
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
	s.Warn(found.Cautions()...)
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
	for i, word := range o.replace {
		o.replace[i] = generalize.ReplacementOf(word)
	}
	m.Replace = o.replace
	triples := slices.Contains(o.replace, generalize.ReplaceTriple)
	if triples {
		if err := o.checkTriples(job); err != nil {
			return m, err
		}
	}
	if n := o.triplets; o.changed("triplets") && n < generalize.LeastTriplets {
		return m, base.Usagef("--triplets is %d; give at least %d", n, generalize.LeastTriplets)
	}
	if count := o.counted(); len(o.images) > 0 && count != "" {
		return m, base.Usagef("--images says which images are replaced, --%s how many are drawn: give one", count)
	}
	for i, v := range o.images {
		if v < 0 || !triples && slices.Contains(o.images[:i], v) {
			return m, base.Usagef("--images is %v; give each image once, counted from 0", o.images)
		}
	}
	for i, v := range o.replace {
		if !triples && !slices.Contains(generalize.Replacements(), v) || slices.Contains(o.replace[:i], v) {
			return m, base.Usagef("--replace is %s; give each once of %s, or %s alone", words(o.replace), words(generalize.Replacements()), words([]string{generalize.ReplaceTriple}))
		}
	}
	if job == generalize.MeasureInfluence && slices.Contains(o.replace, generalize.ReplaceUlp) {
		return m, base.Usagef("influence replaces images: --replace %s is for tercet stability", generalize.ReplaceUlp)
	}
	if job == generalize.MeasureInfluence && len(o.replace) > 1 {
		return m, base.Usagef("influence replaces images in one way: --replace is %s", words(o.replace))
	}
	if o.Set == "train" {
		return m, base.Usagef("%s needs images not used in training: --split must be test or validation", job)
	}
	return m, nil
}
