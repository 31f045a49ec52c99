package generalize

import (
	"context"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
)

// NewGap makes the command that measures the generalization gap.
func NewGap(s *base.Streams) *cobra.Command {
	o := newOptions()
	return base.Command{
		Use:   "gap [RUN]",
		Short: "Measure the generalization gap of a run's loss on triplets",
		Long: `
Measures the generalization gap: how much larger the run's loss is on random
triplets of test images than on those of training images, with intervals over
images, compared with Theorem 1 of Chen et al. (at --delta). It writes gap.json into
the run's directory. tercet report --table gap reads it.

For a run of model mahalanobis it fits metrics from samples of --sizes instead,
--samples of each, and measures the gap of each over all triplets.`,
		Examples: []base.Example{
			{Why: "loss on triplets of test and of training images", Line: "tercet gap --run runs/first"},
			{Why: "on few triplets, without intervals, as a LaTeX table", Line: "tercet gap --run runs/val-width-4 --triplets 1000 --bootstrap 0 --format latex"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Args:  base.OneRun,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			o.addInput(cmd)
			o.addImages(cmd, true)
			fs.IntVar(&o.triplets, "triplets", 0, "triplets of each set; 0 takes 200,000")
			fs.IntVar(&o.bootstrap, "bootstrap", 1000, "resamples for the 95 % intervals, at least 100; 0 gives none (by default the config's)")
			fs.StringVar(&o.reference, "reference", "", "`RUN` as a control variate: a finished run that was not trained on any of the images; removes the effect of easy and hard images")
			base.Group(fs, "Networks", networks)
			o.addSamples(cmd)
			base.OldNames(fs, "repeats", "samples")
			base.Group(fs, "Runs of model mahalanobis", metrics)
			o.addDelta(fs)
			base.Group(fs, "Bounds")
			o.addOutput(cmd)
		},
		Run: func(ctx context.Context, _ []string) error { return runMeasure(ctx, s, o, generalize.MeasureGap) },
	}.Build()
}
