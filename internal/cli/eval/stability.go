package eval

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/run"
	"tercet/internal/train"
)

// measureFlags ask for a measurement of how a run generalises in place of scores.
type measureFlags struct {
	gap, stability, influence bool
	triplets, repeats, steps  int
	images                    []int
	replace                   []string
	jobs                      int
	reference                 string
	force                     bool
	metricFlags
}

func (o *measureFlags) addMeasures(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&o.gap, "gap", false, "measure the generalisation gap of the run's loss on random triplets and write gap.json; scores nothing")
	fs.BoolVar(&o.stability, "stability", false, "train again with one training image replaced, some times, and write stability.json; scores nothing")
	fs.BoolVar(&o.influence, "influence", false, "train on from a checkpoint with and without single images and write influence.json; scores nothing")
	fs.IntVar(&o.triplets, "triplets", 0, "triplets of each set of --gap (0: 200,000), or that the others judge by (0: 40,000)")
	fs.IntVar(&o.repeats, "repeats", generalize.StabilityRepeats, "with --stability and --influence, how many training images are replaced, each in turn; with --replace triple, how many triplets of them; of model mahalanobis, how many samples of each size --stability and --gap learn from (by default of --claim its own number)")
	fs.IntSliceVar(&o.images, "images", nil, "with --stability and --influence, which training images, with --replace triple three for each triplet: anchor, positive, negative; without it, drawn by the seed")
	fs.StringSliceVar(&o.replace, "replace", nil, "by what: "+strings.Join(generalize.Replacements(), ", ")+" (default fresh,far; of --influence twin); or "+generalize.ReplaceTriple+": with --stability, whole triplets by fresh images, judged by their own losses; writes on-average.json")
	fs.IntVar(&o.steps, "steps", generalize.InfluenceSteps, "with --influence, how many steps training goes on")
	fs.IntVar(&o.jobs, "jobs", 1, "with --stability and --influence, train so many at once, each on one thread")
	fs.StringVar(&o.reference, "reference", "", "with --gap of a network, `RUN` as a control variate: a finished run that has learnt from none of the images; takes out that some images are easier than others")
	fs.BoolVar(&o.force, "force", false, "replace a result that has more, or is of other settings")
	o.addMetric(cmd)
}

// retrains are the measurements that train.
var retrains = []string{generalize.MeasureStability, generalize.MeasureInfluence}

// measureOnly are the flags that say how a measurement is made, and of which.
var measureOnly = []struct {
	flag string
	jobs []string
}{
	{"triplets", append([]string{generalize.MeasureGap}, retrains...)},
	{"repeats", append([]string{generalize.MeasureGap}, retrains...)},
	{"reference", []string{generalize.MeasureGap}},
	{"images", retrains},
	{"replace", retrains},
	{"jobs", retrains},
	{"steps", retrains[1:]},
	{"sizes", []string{generalize.MeasureStability, generalize.MeasureGap}},
	{"claim", []string{generalize.MeasureStability}},
	{"positive", []string{generalize.MeasureStability, generalize.MeasureGap}},
	{"delta", []string{generalize.MeasureStability, generalize.MeasureGap}},
	{"circle", []string{generalize.MeasureStability}},
}

// job is the measurement that is asked for, "" for none.
func (o *options) job() (string, error) {
	var jobs []string
	for _, j := range []struct {
		set  bool
		name string
	}{{o.gap, generalize.MeasureGap}, {o.stability, generalize.MeasureStability}, {o.influence, generalize.MeasureInfluence}} {
		if j.set {
			jobs = append(jobs, j.name)
		}
	}
	if len(jobs) > 1 {
		return "", base.Usagef("--%s and --%s are two measurements: ask for one at a time", jobs[0], jobs[1])
	}
	job := ""
	if len(jobs) == 1 {
		job = jobs[0]
	}
	for _, m := range measureOnly {
		if o.changed(m.flag) && !slices.Contains(m.jobs, job) {
			return "", base.Usagef("--%s goes with --%s", m.flag, strings.Join(m.jobs, " and --"))
		}
	}
	return job, nil
}

// given names those of the flags that are given: "--k and --seed"; "" for none.
func (o *options) given(flags ...string) string {
	var out []string
	for _, f := range flags {
		if o.changed(f) {
			out = append(out, "--"+f)
		}
	}
	return strings.Join(out, " and ")
}

// runMeasure measures how a run generalises and writes what came out.
func runMeasure(ctx context.Context, s *base.Streams, o options, job string) error {
	if o.Run == "" {
		return base.Usagef("--%s is about how a run was trained: give --run", job)
	}
	if given := o.given("k", "distance", "clusters", "n-init", "no-kmeans", "no-baselines", "pairs", "threshold", "save-embeddings", "fail-under", "if-needed", "all-scores", "out"); given != "" {
		return base.Usagef("--%s measures triplets and has no scores of eval: leave out %s", job, given)
	}
	if job != generalize.MeasureGap && o.changed("bootstrap") {
		return base.Usagef("--%s has no intervals: leave out --bootstrap", job)
	}
	if job == generalize.MeasureStability && o.changed("checkpoint") {
		return base.Usagef("--stability compares the weights that training ends with: leave out --checkpoint")
	}
	if err := render.CheckFormat(o.Format); err != nil {
		return &base.ExitError{Code: base.ExitUsage, Err: err}
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
		return base.Usagef("--reference is about networks: %s is of model mahalanobis, whose --gap learns a reference of its own, from training images that no sample has", r.Dir)
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
	if job == generalize.MeasureInfluence && len(o.replace) > 1 {
		return m, base.Usagef("--influence replaces images in one way: --replace is %v", o.replace)
	}
	if o.Set == "train" {
		return m, base.Usagef("--%s is about images that training has not seen: --split is test or validation", job)
	}
	return m, nil
}
