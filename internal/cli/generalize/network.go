package generalize

import (
	"math"
	"strings"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
	"tercet/internal/run"
)

// checkNetwork refuses what has no meaning for a run of a network, and completes m.
func (o *options) checkNetwork(r *run.Run, m *generalize.Options) error {
	if o.claim != "" {
		return base.Usagef("claims are for runs of model mahalanobis, but %s has model %s", r.Dir, r.Config.Model.Name)
	}
	if wrong := base.Misplaced(o.flags, networks); len(wrong) > 0 {
		return base.Usagef("--%s: only for runs of model mahalanobis, but %s has model %s", strings.Join(wrong, " and --"), r.Dir, r.Config.Model.Name)
	}
	if !(o.delta > 0 && o.delta < 1/math.E) {
		return base.Usagef("--delta is %v; Theorem 1 is stated for delta in (0, 1/e)", o.delta)
	}
	m.Delta = o.delta
	return nil
}
