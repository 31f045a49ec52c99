package evaluate

import (
	"tercet/internal/record"
	"tercet/internal/run"
)

// ClassifiesPairs says whether the run's loss says what pairs are similar, so that an
// evaluation scores them.
func ClassifiesPairs(r *run.Run, checkpoint string) (bool, error) {
	at, err := r.Threshold(checkpoint)
	return borderOf(r.Config, at).distance != nil, err
}

// Holds reports whether d, of the run, has all that o asks for: without a threshold pairs
// are classified by that of the loss, and where it has none, one of d is more.
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
