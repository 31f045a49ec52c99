package generalize

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
)

// NewStability makes the command that trains again with one image replaced.
func NewStability(s *base.Streams) *cobra.Command {
	o := newOptions()
	return base.Command{
		Use:   "stability",
		Short: "Measure how much single training images change what a run learns",
		Long: `
Retrains the run with one training image replaced and the same batches, for several
images, and measures the change of losses, embeddings and nearest images:
stability.json. With --replace triple it removes whole triplets and measures how much
their loss rises (on-average stability, which estimates the gap): on-average.json.
Weights are compared at the end of training.

Finished work is kept in RUN/stability: the same command resumes after an
interruption.

Of a run of model mahalanobis it learns metrics from samples of --sizes, and with
--claim it puts a claim of the theory to the test.`,
		Examples: []base.Example{
			{Why: "sensitivity to one training image: three retrainings, two with one image replaced", Line: "tercet stability --run runs/first --repeats 1"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Flags: func(cmd *cobra.Command) {
			o.addMeasure(cmd, "triplets that losses are measured on; 0 takes 40,000")
			o.addRetrain(cmd,
				"how many training images are replaced, each in turn; with --replace triple, how many triplets; of model mahalanobis, how many samples of each size (by default of --claim its own number)",
				"which training images, with --replace triple three for each triplet: anchor, positive, negative; without it, drawn by the seed",
				"by what: "+strings.Join(generalize.Replacements(), ", ")+" (default fresh,far; "+generalize.ReplaceUlp+" is the control: no image, one weight by its last bit); or "+generalize.ReplaceTriple+": whole triplets by fresh images, evaluated by their losses; writes on-average.json")
			o.addSamples(cmd)
			o.addClaims(cmd)
		},
		Run: func(ctx context.Context, _ []string) error { return runMeasure(ctx, s, o, generalize.MeasureStability) },
	}.Build()
}
