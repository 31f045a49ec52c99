package generalize

import (
	"context"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
)

// NewInfluence makes the command that trains on with and without single images.
func NewInfluence(s *base.Streams) *cobra.Command {
	o := newOptions()
	return base.Command{
		Use:   "influence [RUN]",
		Short: "Show which training images change a network most",
		Long: `
Continues training from a checkpoint for some steps, with and without single training
images, and lists the images that change the network most. It writes influence.json.

Intermediate results are kept in RUN/stability, so the same command resumes after an
interruption.`,
		Examples: []base.Example{
			{Why: "find the training images with the largest influence", Line: "tercet influence --run runs/first --replacements 2 --steps 3"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Args:  base.OneRun,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			o.addInput(cmd)
			o.addImages(cmd, true)
			fs.IntVar(&o.triplets, "triplets", 0, "number of triplets to measure losses on; 0: 40,000")
			base.Group(fs, "Evaluation")
			o.addRetrain(cmd, "number of training images to replace, one at a time", "indices of the training images to replace; default: random",
				"replacement, one of "+words(generalize.ImageReplacements())+" (default duplicate)")
			fs.IntVar(&o.steps, "steps", generalize.InfluenceSteps, "number of further training steps")
			base.Least(fs, 1, "steps")
			base.OldNames(fs, "repeats", "replacements")
			base.Group(fs, "Training with and without an image")
			o.addOutput(cmd)
		},
		Run: func(ctx context.Context, _ []string) error { return runMeasure(ctx, s, o, generalize.MeasureInfluence) },
	}.Build()
}
