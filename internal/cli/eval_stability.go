package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"tercet/internal/experiment"
	"tercet/internal/report"
	"tercet/internal/train"
)

// measureFlags ask for a measurement of how a run generalises in place of scores.
type measureFlags struct {
	gap, stability, influence bool
	triplets, repeats, steps  int
	images                    []int
	replace                   []string
	jobs                      int
}

func (o *measureFlags) addMeasures(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&o.gap, "gap", false, "measure the generalisation gap of the run's loss on random triplets and write gap.json; scores nothing")
	fs.IntVar(&o.triplets, "triplets", 0, "with --gap, `N` triplets of each set; 0 takes 200,000")
}

// measureOnly are the flags of measureFlags that say how.
var measureOnly = []string{"triplets"}

// job is the measurement that is asked for, "" for none.
func (o *evalOptions) job() (string, error) {
	var jobs []string
	for _, j := range []struct {
		set  bool
		name string
	}{{o.gap, experiment.MeasureGap}, {o.stability, experiment.MeasureStability}, {o.influence, experiment.MeasureInfluence}, {o.noiseRate, "noise-rate"}} {
		if j.set {
			jobs = append(jobs, j.name)
		}
	}
	if len(jobs) > 1 {
		return "", usagef("--%s and --%s are two measurements: ask for one at a time", jobs[0], jobs[1])
	}
	if len(jobs) == 1 && jobs[0] != "noise-rate" {
		return jobs[0], nil
	}
	for _, flag := range measureOnly {
		if o.changed(flag) {
			return "", usagef("--%s goes with --gap", flag)
		}
	}
	return "", nil
}

// runMeasure measures how a run generalises and writes what came out.
func runMeasure(ctx context.Context, s *Streams, o evalOptions, job string) error {
	if o.run == "" {
		return usagef("--%s is about how a run was trained: give --run", job)
	}
	for _, flag := range []string{"k", "distance", "clusters", "n-init", "no-kmeans", "no-baselines", "pairs", "threshold", "save-embeddings", "fail-under", "if-needed", "all-scores"} {
		if o.changed(flag) {
			return usagef("--%s measures triplets and has no scores of eval: leave out --%s", job, flag)
		}
	}
	if err := report.CheckFormat(o.format); err != nil {
		return &ExitError{ExitUsage, err}
	}
	m, err := o.measure(job)
	if err != nil {
		return err
	}
	r, err := o.open()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := o.noteUnfinished(s, r); err != nil {
		return err
	}
	if !o.changed("bootstrap") {
		m.Bootstrap = r.Config.Eval.Bootstrap
	}
	if !o.changed("seed") {
		m.Seed = r.Config.Seed
	}
	view := &stages{s: s}
	defer view.close()
	found, err := r.Measure(ctx, m, experiment.Progress{Say: view.say, Note: s.Note})
	if err != nil {
		if errors.Is(err, train.ErrInterrupted) {
			return &ExitError{ExitInterrupted, err}
		}
		return runError(err)
	}
	view.close()
	if err := experiment.WriteJSON(r.Path(found.File()), found); err != nil {
		return err
	}
	for _, w := range found.Cautions() {
		s.Note("warning: %s", w)
	}
	if !o.noPictures {
		drawMeasured(s, r, found)
	}
	return s.Result(found, func(w io.Writer) error { return found.Table().Write(w, o.format) })
}

// drawMeasured draws what there is to draw; the numbers stand without.
func drawMeasured(s *Streams, r *experiment.Run, found experiment.Measurement) {
	files, err := found.Draw(r.Path("figures"))
	if err != nil {
		s.Note("no picture: %v", err)
	}
	for _, f := range files {
		s.Note("drew %s", f)
	}
}

// measure checks the flags of a measurement.
func (o *evalOptions) measure(job string) (experiment.MeasureOptions, error) {
	m := experiment.MeasureOptions{
		Job: job, Checkpoint: o.checkpoint, Set: o.set, Limit: o.limit, Bootstrap: o.bootstrap, Seed: o.seed, Triplets: o.triplets,
	}
	if err := checkResamples(o.bootstrap); err != nil {
		return m, err
	}
	if n := o.triplets; o.changed("triplets") && n < experiment.LeastTriplets {
		return m, usagef("--triplets is %d; give at least %d", n, experiment.LeastTriplets)
	}
	if o.set == "train" {
		return m, usagef("--%s is about images that training has not seen: --set-name is test or validation", job)
	}
	return m, nil
}
