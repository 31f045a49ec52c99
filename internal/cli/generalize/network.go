package generalize

import (
	"strings"

	"tercet/internal/cli/base"
	"tercet/internal/run"
)

// checkNetwork refuses what has no meaning for a run of a network, and says what a user
// should know of it.
func (o *options) checkNetwork(s *base.Streams, r *run.Run) error {
	if wrong := base.Misplaced(o.flags, networks); len(wrong) > 0 {
		return base.Usagef("--%s: only for runs of model mahalanobis, but %s has model %s", strings.Join(wrong, " and --"), r.Dir, r.Config.Model.Name)
	}
	if err := o.checkDelta("Theorem 1 is"); err != nil {
		return err
	}
	return o.note(s, r, "replacements")
}
