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

// SameEval reports whether d is the result of these options.
func SameEval(d *record.Eval, o record.EvalOptions) bool { return run.SameJSON(d.Options, o) }
