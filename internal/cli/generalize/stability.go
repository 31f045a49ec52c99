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
		Short: "Measure how far single training images move what a run learns",
		Long: `
Trains the run again with one training image replaced, by the same batches, for some
images in turn, and measures how far that moves losses, embeddings and nearest
images: stability.json. With --replace triple it takes whole triplets away and
measures how much more they cost unseen than seen (on-average stability, which
estimates the gap): on-average.json. Weights are compared as training ends.

What is done is kept in RUN/stability: the same command goes on after an
interruption.

Of a run of model mahalanobis it learns metrics from samples of --sizes, and with
--claim it puts a claim of the theory to the test.`,
		Examples: []base.Example{
			{Why: "how far one training image moves it: three trainings anew, two with one replaced", Line: "tercet stability --run runs/first --repeats 1"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Flags: func(cmd *cobra.Command) {
			o.addMeasure(cmd, "triplets that losses are measured on; 0 takes 40,000")
			o.addRetrain(cmd,
				"how many training images are replaced, each in turn; with --replace triple, how many triplets; of model mahalanobis, how many samples of each size (by default of --claim its own number)",
				"which training images, with --replace triple three for each triplet: anchor, positive, negative; without it, drawn by the seed",
				"by what: "+strings.Join(generalize.Replacements(), ", ")+" (default fresh,far); or "+generalize.ReplaceTriple+": whole triplets by fresh images, judged by their own losses; writes on-average.json")
			o.addSamples(cmd)
			o.addClaims(cmd)
		},
		Run: func(ctx context.Context, _ []string) error { return runMeasure(ctx, s, o, generalize.MeasureStability) },
	}.Build()
}
