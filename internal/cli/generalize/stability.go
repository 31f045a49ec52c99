package generalize

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
	"tercet/internal/progress"
	"tercet/internal/run"
)

// NewStability makes the command that trains again with one image replaced.
func NewStability(s *base.Streams) *cobra.Command {
	o := newOptions()
	var replace generalize.ReplaceOptions
	return base.Command{
		Use:   "stability [RUN]",
		Short: "Measure how much a run's result depends on single training images",
		Long: `
Retrains the run with the same batches but one training image replaced, for several
images, and measures the change of losses, embeddings and nearest neighbors at the end of
training. It writes stability.json. With --replace triplet it replaces whole triplets and
measures how much their loss rises (on-average stability, which estimates the gap). It
then writes on-average.json.

Intermediate results are kept in RUN/stability, so the same command resumes after an
interruption.

For a run of model mahalanobis it learns metrics from samples of --sizes. tercet stability
claim tests a claim of the theory.`,
		Examples: []base.Example{
			{Why: "sensitivity to one training image: three retrainings, two with one image replaced", Line: "tercet stability --run runs/first --replacements 1"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Args:  base.OneRun,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			o.addInput(cmd)
			o.addImages(cmd, false)
			o.addReplace(cmd, &replace,
				"number of training images to replace, one at a time; with --replace triplet, number of triplets",
				"indices of the training images to replace; with --replace triplet three per triplet: anchor, positive, negative; default: random",
				"replacement, which keeps the label of the image: "+words(generalize.Replacements())+" (default held-out,farthest-class; "+generalize.ReplaceUlp+" is the control: it replaces no image but changes the last bit of one weight); or triplet: replace whole triplets by held-out images, and compare their losses; writes on-average.json")
			base.Group(fs, "Networks", networks)
			o.addSamples(cmd)
			o.addDelta()
			fs.IntVar(&o.repeats, oldCount, generalize.StabilityRepeats, "replacements or samples")
			base.Least(fs, 1, oldCount)
			_ = fs.MarkHidden(oldCount) // it was declared in the line above
			base.Only(fs, []string{networks, metrics}, oldCount)
			base.Group(fs, "Runs of model mahalanobis", metrics)
			fs.IntVar(&o.triplets, "triplets", 0, "number of triplets to measure losses on; 0: 40,000")
			base.Group(fs, "Evaluation")
			o.addOutput(cmd)
		},
		Subs: []*cobra.Command{newClaim(s)},
		Run: func(ctx context.Context, _ []string) error {
			if err := o.checkReplace(&replace, "stability"); err != nil {
				return err
			}
			network := func(ctx context.Context, r *run.Run, p progress.Progress) (generalize.Measurement, error) {
				if err := o.checkNetwork(s, r); err != nil {
					return nil, err
				}
				replace.Options, replace.Repeats = o.ofNetworks(), o.repeats
				return generalize.Stability(ctx, r, replace, p)
			}
			fitted := func(ctx context.Context, r *run.Run, p progress.Progress) (generalize.Measurement, error) {
				if slices.Contains(replace.Replace, generalize.ReplaceTriple) {
					return nil, base.Usagef("--replace %s is for networks; %s has model mahalanobis, for which stability also measures the on-average stability", words(replace.Replace), r.Dir)
				}
				return o.measureMetric(s)(ctx, r, p)
			}
			return o.measure(ctx, s, network, fitted)
		},
	}.Build()
}
