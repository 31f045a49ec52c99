package generalize

import (
	"errors"
	"fmt"
	"os"

	"tercet/internal/run"
)

// lockStability makes this the only measurement of the run that keeps retrainings or
// trainings on in RUN/stability, until free is called: another would empty the folders
// of those that it does not know. Measurements of metrics need no lock: they only add
// files, under names that all they depend on is part of.
//
// Errors: ErrBusy where there is such a measurement.
func lockStability(r *run.Run) (free func(), err error) {
	m := &run.Run{Dir: r.Path("stability")}
	if err := os.MkdirAll(m.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("stability: %w", err)
	}
	err = m.Lock()
	if errors.Is(err, run.ErrBusy) {
		err = fmt.Errorf("%w: %s is being measured by another tercet stability or tercet influence, which keeps its work in %s; wait until that has ended", run.ErrBusy, r.Dir, m.Dir)
	}
	return m.Close, err
}
