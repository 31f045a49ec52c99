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

// NewInfluence makes the command that trains on with and without single images.
func NewInfluence(s *base.Streams) *cobra.Command {
	o := newOptions()
	var f generalize.InfluenceOptions
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
			o.addReplace(cmd, &f.ReplaceOptions, "number of training images to replace, one at a time", "indices of the training images to replace; default: random",
				"replacement, one of "+words(generalize.ImageReplacements())+" (default duplicate)")
			fs.IntVar(&f.Steps, "steps", generalize.InfluenceSteps, "number of further training steps")
			base.Least(fs, 1, "steps")
			base.OldNames(fs, "repeats", "replacements")
			base.Group(fs, "Training with and without an image")
			o.addOutput(cmd)
		},
		Run: func(ctx context.Context, _ []string) error {
			if err := o.checkInfluence(&f.ReplaceOptions); err != nil {
				return err
			}
			network := func(ctx context.Context, r *run.Run, p progress.Progress) (generalize.Measurement, error) {
				if err := o.checkNetwork(s, r); err != nil {
					return nil, err
				}
				f.Options, f.Repeats, f.Checkpoint = o.ofNetworks(), o.repeats, o.Checkpoint
				return generalize.Influence(ctx, r, f, p)
			}
			return o.measure(ctx, s, network, network) // which refuses runs of model mahalanobis
		},
	}.Build()
}

// checkInfluence refuses ways of replacement that influence has not.
func (o *options) checkInfluence(replace *generalize.ReplaceOptions) error {
	if slices.Contains(kindsOf(replace.Replace), generalize.ReplaceTriple) {
		return base.Usagef("influence replaces single images: --replace %s is for tercet stability", generalize.ReplacementWord(generalize.ReplaceTriple))
	}
	if err := o.checkReplace(replace, "influence"); err != nil {
		return err
	}
	if slices.Contains(replace.Replace, generalize.ReplaceUlp) {
		return base.Usagef("influence replaces images: --replace %s is for tercet stability", generalize.ReplaceUlp)
	}
	if len(replace.Replace) > 1 {
		return base.Usagef("influence replaces images in one way: --replace is %s", words(replace.Replace))
	}
	return nil
}
