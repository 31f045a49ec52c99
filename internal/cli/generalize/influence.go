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
images, and lists the images that change the network most: influence.json.

Finished work is kept in RUN/stability: the same command resumes after an
interruption.`,
		Examples: []base.Example{
			{Why: "which training images change it most", Line: "tercet influence --run runs/first --replacements 2 --steps 3"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Args:  base.OneRun,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			o.addInput(cmd)
			o.addImages(cmd, true)
			fs.IntVar(&o.triplets, "triplets", 0, "triplets that losses are measured on; 0 takes 40,000")
			base.Group(fs, "Evaluation")
			o.addRetrain(cmd, "how many training images are replaced, one at a time", "which training images; without it, drawn by the seed",
				"by what: one of "+words(generalize.ImageReplacements())+" (default duplicate)")
			fs.IntVar(&o.steps, "steps", generalize.InfluenceSteps, "number of further training steps")
			base.Least(fs, 1, "steps")
			base.OldNames(fs, "repeats", "replacements")
			base.Group(fs, "Training with and without an image")
			o.addOutput(cmd)
		},
		Run: func(ctx context.Context, _ []string) error { return runMeasure(ctx, s, o, generalize.MeasureInfluence) },
	}.Build()
}
