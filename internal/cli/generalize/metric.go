package generalize

import (
	"math"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
	"tercet/internal/generalize/metric"
	"tercet/internal/run"
	"tercet/internal/theory/measure"
)

// metricFlags say how runs of model mahalanobis are measured.
type metricFlags struct {
	sizes    []int
	claim    string
	positive string
	delta    float64
	data     string // of a claim: where its samples come from
}

// addSamples declares the flags of the samples that metrics learn from.
func (o *options) addSamples(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.IntVar(&o.repeats, "samples", generalize.StabilityRepeats, "number of training samples of each size")
	base.Least(fs, 1, "samples")
	fs.IntSliceVar(&o.sizes, "sizes", nil, "sizes n = n+ = n- of the samples (default 20,40,80,160)")
	o.addPositive(fs)
}

func (o *options) addPositive(fs *pflag.FlagSet) {
	fs.StringVar(&o.positive, "positive", "", "positive `CLASS`, or a pattern such as 'Latin.*' (default: the run's metric.positive)")
}

// addDelta declares the flag of the probability with which bounds hold.
func (o *options) addDelta(fs *pflag.FlagSet) {
	fs.Float64Var(&o.delta, "delta", 0.01, "delta of the bounds: each holds with probability 1 - delta")
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

// checkMetric refuses what has no meaning for a run of model mahalanobis, and completes m.
func (o *options) checkMetric(r *run.Run, m *generalize.Options) error {
	if slices.Contains(o.replace, generalize.ReplaceTriple) {
		return base.Usagef("--replace %s is for networks; %s has model mahalanobis, for which stability also measures the on-average stability", words(o.replace), r.Dir)
	}
	if wrong := base.Misplaced(o.flags, metrics); len(wrong) > 0 {
		return base.Usagef("--%s is for networks, but %s has model mahalanobis: its metric is relearned from samples of its training images", wrong[0], r.Dir)
	}
	for i, n := range o.sizes {
		if n < 2 {
			return base.Usagef("--sizes: %d is too small; triplets need n+ >= 2", n)
		}
		if slices.Contains(o.sizes[:i], n) {
			return base.Usagef("--sizes: %d is given twice; give each size once", n)
		}
	}
	if !(o.delta > 0 && o.delta < 1/math.E) {
		return base.Usagef("--delta is %v; the bounds are stated for delta in (0, 1/e)", o.delta)
	}
	m.Metric = metric.Options{Sizes: o.sizes, Claim: o.claim, Positive: o.positive, Delta: o.delta, Circle: o.data == dataCircle, Exact: base.Bare(o.Format)}
	m.OwnRepeats = o.counted() == ""
	return nil
}
