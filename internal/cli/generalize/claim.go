package generalize

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
	"tercet/internal/progress"
	"tercet/internal/run"
	"tercet/internal/theory/measure"
)

// Where the samples of a claim come from.
const dataRun, dataCircle = "run", "circle"

// newClaim makes the command that puts a claim of the theory to the test.
func newClaim(s *base.Streams) *cobra.Command {
	o := newOptions()
	var source string
	cmd := base.Command{
		Use:   "claim CLAIM",
		Short: "Test a claim about the stability of metrics",
		Long: `
Learns metrics from samples of a mahalanobis run's data, or of the unit circle, and tests
a claim of Chen et al. about their stability and generalization gap. The verdict is
supported, contradicted or inconclusive. Claims (docs/papers/stability.md):
` + strings.Join(ClaimNames(), ", ") + `.
It writes stability/CLAIM.json, or CLAIM-circle.json, into the run's directory.
tercet report --table stability-checks reads them.

Finished work is kept in RUN/stability: the same command resumes after an
interruption.`,
		Examples: []base.Example{
			{Why: "test S1 on the unit circle, with one sample of each size", Line: "tercet stability claim S1 --run runs/stability-glyphs --data circle --samples 1 --triplets 100"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Args:  cobra.ExactArgs(1),
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			o.addInput(cmd)
			base.Words(fs, &source, "data", dataRun, []string{dataRun, dataCircle}, "source of the samples: run (its training images) or circle (the unit circle)")
			fs.IntVar(&o.repeats, "samples", generalize.StabilityRepeats, "number of training samples of each size (default: depends on the claim)")
			base.Least(fs, 1, "samples")
			o.addPositive()
			fs.IntVar(&o.triplets, "triplets", 0, "number of triplets to measure losses on; 0: 40,000")
			o.addDelta()
			base.OldNames(fs, "repeats", "samples")
			base.Group(fs, "Claim")
			o.addOutput(cmd)
		},
		Run: func(ctx context.Context, args []string) error {
			o.metric.Claim, o.metric.Circle = args[0], source == dataCircle
			if err := o.checkClaim(); err != nil {
				return err
			}
			if o.counted() == "" {
				o.repeats = 0 // the claim has a number of its own
			}
			network := func(_ context.Context, r *run.Run, _ progress.Progress) (generalize.Measurement, error) {
				return nil, base.Usagef("claims are for runs of model mahalanobis, but %s has model %s", r.Dir, r.Config.Model.Name)
			}
			return o.measure(ctx, s, network, o.measureMetric(s))
		},
	}.Build()
	cmd.ValidArgs = ClaimNames()
	return cmd
}

// checkClaim refuses an unknown claim, and options that do not go together.
func (o *options) checkClaim() error {
	if _, err := measure.ClaimOf(o.metric.Claim); err != nil {
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	if o.metric.Circle && o.flags.Changed("positive") {
		return base.Usagef("--data circle draws samples from the unit circle, which has no classes: leave out --positive")
	}
	return o.check("stability")
}
