package generalize

import (
	"context"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
	"tercet/internal/progress"
	"tercet/internal/run"
)

// NewGap makes the command that measures the generalization gap.
func NewGap(s *base.Streams) *cobra.Command {
	o := newOptions()
	o.metric.Gap = true
	var g generalize.GapOptions
	return base.Command{
		Use:   "gap [RUN]",
		Short: "Measure the generalization gap of a run's loss on triplets",
		Long: `
Measures the generalization gap: the run's mean loss on random triplets of test images
minus that on random triplets of training images. Intervals are over images. The gap is
compared with the bound of Theorem 1 of Chen et al. (at --delta). The command writes
gap.json into the run's directory, and tercet report --table gap reads it.

For a run of model mahalanobis it instead fits metrics to --samples samples of each of
--sizes, and measures the gap of each metric over all triplets.`,
		Examples: []base.Example{
			{Why: "the gap between test and training triplets", Line: "tercet gap --run runs/first"},
			{Why: "with few triplets, without intervals, as a LaTeX table", Line: "tercet gap --run runs/val-width-4 --triplets 1000 --bootstrap 0 --format latex"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Args:  base.OneRun,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			o.addInput(cmd)
			o.addImages(cmd, true)
			fs.IntVar(&o.triplets, "triplets", 0, "number of triplets per set; 0: 200,000")
			fs.IntVar(&g.Bootstrap, "bootstrap", 1000, "bootstrap resamples for the 95 % intervals, at least 100; 0: no intervals (default: as in the config)")
			fs.StringVar(&g.Reference, "reference", "", "`RUN` to use as a control variate: a finished run not trained on any of the images; removes the effect of easy and hard images")
			base.Group(fs, "Networks", networks)
			o.addSamples(cmd)
			base.OldNames(fs, "repeats", "samples")
			base.Group(fs, "Runs of model mahalanobis", metrics)
			o.addDelta()
			base.Group(fs, "Bounds")
			o.addOutput(cmd)
		},
		Run: func(ctx context.Context, _ []string) error {
			if err := o.checkGap(g); err != nil {
				return err
			}
			network := func(ctx context.Context, r *run.Run, p progress.Progress) (generalize.Measurement, error) {
				if err := o.checkNetwork(s, r); err != nil {
					return nil, err
				}
				if !o.flags.Changed("bootstrap") {
					g.Bootstrap = r.Config.Eval.Bootstrap
				}
				g.Options, g.Checkpoint, g.Delta = o.ofNetworks(), o.Checkpoint, o.delta
				return generalize.Gap(ctx, r, g, p.Say)
			}
			return o.measure(ctx, s, network, o.measureMetric(s))
		},
	}.Build()
}

// checkGap refuses flags of a gap.
func (o *options) checkGap(g generalize.GapOptions) error {
	if err := base.CheckResamples(g.Bootstrap); err != nil {
		return err
	}
	if o.flags.Changed("reference") && g.Reference == "" {
		return base.Usagef("--reference is empty; give the directory of a run")
	}
	return o.check("gap")
}
