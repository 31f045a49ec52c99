package evaluate

import (
	"tercet/internal/record"
	"tercet/internal/run"
)

// ClassifiesPairs reports whether the run's loss defines which pairs are similar, so that
// an evaluation scores pairs.
func ClassifiesPairs(r *run.Run, checkpoint string) (bool, error) {
	at, err := r.Threshold(checkpoint)
	return borderOf(r.Config, at).distance != nil, err
}

// Holds reports whether d, a result of the run, covers the request o. Without a threshold
// in o, that of the loss applies; if the loss has none, d may have one.
func Holds(r *run.Run, d *record.Eval, o record.EvalOptions) (bool, error) {
	if o.Threshold == nil && d.Options.Threshold != nil {
		classifies, err := ClassifiesPairs(r, d.Source.Checkpoint)
		if err != nil || classifies {
			return false, err
		}
		o.Threshold = d.Options.Threshold
	}
	return d.Holds(o), nil
}
