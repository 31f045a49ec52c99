package generalize

import (
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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
	circle   bool
}

// metricOnly are the flags of metricFlags.
var metricOnly = []string{"sizes", "claim", "positive", "delta", "circle"}

// addSamples declares the flags of samples.
func (o *metricFlags) addSamples(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.IntSliceVar(&o.sizes, "sizes", nil, "of model mahalanobis: sizes n = n+ = n- of the samples that are learned from (default 20,40,80,160)")
	fs.StringVar(&o.positive, "positive", "", "of model mahalanobis: `CLASS` of the positives, or a pattern such as 'Latin.*' (default: the run's metric.positive)")
	fs.Float64Var(&o.delta, "delta", 0.01, "the bounds on gaps hold with probability 1 - delta")
}

// addClaims declares the flags of claims.
func (o *metricFlags) addClaims(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&o.claim, "claim", "", "of model mahalanobis: put a claim about its theory to the test: "+strings.Join(ClaimNames(), ", ")+"; writes stability/CLAIM.json")
	fs.BoolVar(&o.circle, "circle", false, "with --claim: samples are drawn from the unit circle in place of the run's images")
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
		return base.Usagef("--replace %s is about networks: of %s, which is of model mahalanobis, stability measures the on-average stability as well", generalize.ReplaceTriple, r.Dir)
	}
	for _, flag := range []string{"images", "replace", "jobs", "limit", "split", "bootstrap"} {
		if o.changed(flag) {
			return base.Usagef("--%s is about networks, and %s is of model mahalanobis: samples are drawn from its training images", flag, r.Dir)
		}
	}
	if o.changed("checkpoint") {
		return base.Usagef("%s of a metric learns again from samples, with the run's map, the same for all checkpoints: leave out --checkpoint", m.Job)
	}
	if m.Job == generalize.MeasureGap && o.changed("triplets") {
		return base.Usagef("gap of a metric is over all triplets: leave out --triplets")
	}
	for i, n := range o.sizes {
		if n < 2 {
			return base.Usagef("--sizes: %d is too small; triplets need n+ >= 2", n)
		}
		if slices.Contains(o.sizes[:i], n) {
			return base.Usagef("--sizes: %d is given twice; give each size once", n)
		}
	}
	switch {
	case o.claim == "" && o.circle:
		return base.Usagef("--circle goes with --claim")
	case o.circle && o.changed("positive"):
		return base.Usagef("--circle draws samples from the unit circle, which has no classes: leave out --positive")
	case o.claim != "" && o.changed("sizes"):
		return base.Usagef("--claim has its own sizes: leave out --sizes")
	case o.claim != "":
		if _, err := measure.ClaimOf(o.claim); err != nil {
			return &base.ExitError{Code: base.ExitUsage, Err: err}
		}
	}
	if !(o.delta > 0 && o.delta < 1/math.E) {
		return base.Usagef("--delta is %v; the bounds are stated for delta in (0, 1/e)", o.delta)
	}
	m.Metric = metric.Options{Sizes: o.sizes, Claim: o.claim, Positive: o.positive, Delta: o.delta, Circle: o.circle, Exact: base.Bare(o.Format)}
	m.OwnRepeats = !o.changed("repeats")
	return nil
}
