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
			fs.IntVar(&o.bootstrap, "bootstrap", 1000, "bootstrap resamples for the 95 % intervals, at least 100; 0: no intervals (default: as in the config)")
			fs.StringVar(&o.reference, "reference", "", "`RUN` to use as a control variate: a finished run not trained on any of the images; removes the effect of easy and hard images")
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
