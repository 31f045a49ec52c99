package metric

import (
	"tercet/internal/record"
	"tercet/internal/run"
)

// mayReplace refuses to replace a measurement of a metric in file that has more than the
// one of now, unless o.Force is set. Both are of the run's own map, which all of its
// checkpoints have.
func mayReplace(r *run.Run, file string, now record.MetricStability, o Options) error {
	if o.Force {
		return nil
	}
	d, err := record.ReadKept[record.MetricStability](r.Path(file))
	if d == nil {
		return err
	}
	if lost := now.Covers(*d); lost != nil {
		return &record.KeptError{Path: r.Path(file), Lost: lost}
	}
	return nil
}
