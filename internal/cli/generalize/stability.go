package generalize

import (
	"context"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
)

// NewStability makes the command that trains again with one image replaced.
func NewStability(s *base.Streams) *cobra.Command {
	o := newOptions()
	return base.Command{
		Use:   "stability [RUN]",
		Short: "Measure how much single training images change what a run learns",
		Long: `
Retrains the run with one training image replaced and the same batches, for several
images, and measures the change of losses, embeddings and nearest images:
stability.json. With --replace triplet it removes whole triplets and measures how much
their loss rises (on-average stability, which estimates the gap): on-average.json.
Weights are compared at the end of training.

Finished work is kept in RUN/stability: the same command resumes after an
interruption.

Of a run of model mahalanobis it learns metrics from samples of --sizes; tercet
stability claim puts a claim of the theory to the test.`,
		Examples: []base.Example{
			{Why: "sensitivity to one training image: three retrainings, two with one image replaced", Line: "tercet stability --run runs/first --replacements 1"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Args:  base.OneRun,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			o.addInput(cmd)
			o.addImages(cmd, false)
			o.addRetrain(cmd,
				"how many training images are replaced, one at a time; with --replace triplet, how many triplets",
				"which training images, with --replace triplet three for each triplet: anchor, positive, negative; without it, drawn by the seed",
				"by what, under the image's label: "+words(generalize.Replacements())+" (default held-out,farthest-class; "+generalize.ReplaceUlp+" is the control: no image, one weight by its last bit); or triplet: whole triplets by held-out images, evaluated by their losses; writes on-average.json")
			base.Group(fs, "Networks", networks)
			o.addSamples(cmd)
			o.addDelta(fs)
			fs.IntVar(&o.repeats, oldCount, generalize.StabilityRepeats, "replacements or samples")
			base.Least(fs, 1, oldCount)
			_ = fs.MarkHidden(oldCount) // it was declared in the line above
			base.Only(fs, []string{networks, metrics}, oldCount)
			base.Group(fs, "Runs of model mahalanobis", metrics)
			fs.IntVar(&o.triplets, "triplets", 0, "triplets that losses are measured on; 0 takes 40,000")
			base.Group(fs, "Evaluation")
			o.addOutput(cmd)
		},
		Subs: []*cobra.Command{newClaim(s)},
		Run:  func(ctx context.Context, _ []string) error { return runMeasure(ctx, s, o, generalize.MeasureStability) },
	}.Build()
}
