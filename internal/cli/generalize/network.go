package generalize

import (
	"math"
	"slices"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
	"tercet/internal/run"
)

// checkNetwork refuses what has no meaning for a run of a network, and completes m.
func (o *options) checkNetwork(r *run.Run, m *generalize.Options) error {
	gap := m.Job == generalize.MeasureGap
	only := slices.DeleteFunc(slices.Clone(metricOnly), func(flag string) bool { return gap && flag == "delta" })
	if given := base.Given(o.changed, only...); given != "" {
		return base.Usagef("%s: about runs of model mahalanobis, and %s is of model %s", given, r.Dir, r.Config.Model.Name)
	}
	if gap && o.changed("repeats") {
		return base.Usagef("--repeats is about runs of model mahalanobis: gap of a network uses its training set")
	}
	if !(o.delta > 0 && o.delta < 1/math.E) {
		return base.Usagef("--delta is %v; Theorem 1 is stated for delta in (0, 1/e)", o.delta)
	}
	m.Delta = o.delta
	return nil
}
