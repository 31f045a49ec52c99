package metric

import (
	"tercet/internal/engine/mahalanobis"
	"tercet/internal/run"
	"tercet/internal/theory/measure"
	"tercet/internal/wire"
)

// learnerOf is how the run learned, for samples of any size.
func learnerOf(r *run.Run) (measure.Learner, error) {
	c := r.Config.Metric
	l, err := mahalanobis.NewLoss(c.Loss, c.Zeta, c.HuberDelta)
	if err != nil {
		return nil, wire.InConfig("metric", err)
	}
	out, err := measure.LearnerOf(c.Options, l, r.Config.Radius())
	if err != nil {
		return nil, run.InMetric(err)
	}
	return out, nil
}
