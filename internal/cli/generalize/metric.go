package generalize

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
	"tercet/internal/generalize/metric"
	"tercet/internal/progress"
	"tercet/internal/run"
	"tercet/internal/theory/measure"
)

// addSamples declares the flags of the samples that metrics learn from.
func (o *options) addSamples(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.IntVar(&o.repeats, "samples", generalize.StabilityRepeats, "number of training samples of each size")
	base.Least(fs, 1, "samples")
	fs.IntSliceVar(&o.metric.Sizes, "sizes", nil, "sizes n = n+ = n- of the samples (default 20,40,80,160)")
	o.addPositive()
}

func (o *options) addPositive() {
	o.flags.StringVar(&o.metric.Positive, "positive", "", "positive `CLASS`, or a pattern such as 'Latin.*' (default: the run's metric.positive)")
}

// ClaimNames lists the claims that can be measured.
func ClaimNames() []string {
	var out []string
	for _, c := range measure.Claims {
		name := c.ID
		if c.Of != "" && c.Of != c.ID {
			name += " (" + c.Of + ")"
		}
		out = append(out, name)
	}
	return out
}

// measureMetric measures a run of model mahalanobis, as its command says in o.metric.
func (o *options) measureMetric(s *base.Streams) measuring {
	return func(ctx context.Context, r *run.Run, p progress.Progress) (generalize.Measurement, error) {
		if err := o.checkMetric(r); err != nil {
			return nil, err
		}
		if err := o.note(s, r, "samples"); err != nil {
			return nil, err
		}
		m := o.metric
		m.Checkpoint, m.Triplets, m.Repeats, m.Delta, m.Seed, m.Force = o.Checkpoint, o.triplets, o.repeats, o.delta, o.seed, o.force
		m.Exact = base.Bare(o.Format)
		return metric.Measure(ctx, r, m, p)
	}
}

// checkMetric refuses what has no meaning for a run of model mahalanobis.
func (o *options) checkMetric(r *run.Run) error {
	if wrong := base.Misplaced(o.flags, metrics); len(wrong) > 0 {
		return base.Usagef("--%s is for networks, but %s has model mahalanobis: its metric is relearned from samples of its training images", wrong[0], r.Dir)
	}
	for i, n := range o.metric.Sizes {
		if n < 2 {
			return base.Usagef("--sizes: %d is too small; triplets need n+ >= 2", n)
		}
		if slices.Contains(o.metric.Sizes[:i], n) {
			return base.Usagef("--sizes: %d is given twice; give each size once", n)
		}
	}
	return o.checkDelta("the bounds are")
}
