package generalize

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
)

// NewInfluence makes the command that trains on with and without single images.
func NewInfluence(s *base.Streams) *cobra.Command {
	o := newOptions()
	return base.Command{
		Use:   "influence",
		Short: "Show which training images move a network most",
		Long: `
Trains on from a checkpoint for some steps with and without single training images,
and shows those that move the network most: influence.json.

What is done is kept in RUN/stability: the same command goes on after an
interruption.`,
		Examples: []base.Example{
			{Why: "which training images move it most", Line: "tercet influence --run runs/first --repeats 2 --steps 3"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Flags: func(cmd *cobra.Command) {
			o.addMeasure(cmd, "triplets that losses are measured on; 0 takes 40,000")
			o.AddCheckpoint(cmd)
			o.addRetrain(cmd, "how many training images are replaced, each in turn", "which training images; without it, drawn by the seed",
				"by what: one of "+strings.Join(generalize.Replacements(), ", ")+" (default twin)")
			cmd.Flags().IntVar(&o.steps, "steps", generalize.InfluenceSteps, "how many steps training goes on")
		},
		Run: func(ctx context.Context, _ []string) error { return runMeasure(ctx, s, o, generalize.MeasureInfluence) },
	}.Build()
}
