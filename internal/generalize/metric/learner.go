package metric

import (
	"fmt"
	"math"

	"tercet/internal/config"
	"tercet/internal/engine/mahalanobis"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/theory/measure"
	"tercet/internal/wire"
)

// learnerOf is how the run learned, for samples of any size.
func learnerOf(r *run.Run) (measure.Learner, error) {
	c, m := r.Config.Metric, r.Config.Model.Options.(nn.MahalanobisKeys)
	l, err := mahalanobis.NewLoss(c.Loss, c.Zeta, c.HuberDelta)
	if err != nil {
		return nil, wire.InConfig("metric", err)
	}
	switch o := c.Options.(type) {
	case mahalanobis.RRMKeys:
		return measure.RRM{Loss: l, Sigma: record.Scale{Factor: o.Sigma}, Prior: o.Prior, Method: o.Method, Sums: o.Sums, Tol: o.Tol}, nil
	case mahalanobis.SGDKeys:
		a := measure.SGD{Loss: l, C: o.C.N, PSD: o.PSD, Radius: m.Radius, Steps: record.Scale{Factor: 2, Power: 1}} // auto: as many as items
		if o.Steps.Given {
			a.Steps = record.Scale{Factor: o.Steps.N}
		}
		k, err := l.Constants(m.Radius, o.Constants)
		if err != nil {
			return nil, wire.InConfig("metric", err)
		}
		if !o.C.Given {
			a.C = 2 / k.Alpha
		}
		if !(a.C > 0) || math.IsInf(k.Alpha, 0) {
			return nil, &config.Error{Key: "metric.loss", Msg: fmt.Sprintf("%s is not smooth: the stability of SGD with it is not bounded by the theory, and is not measured", c.Loss)}
		}
		return a, nil
	}
	return nil, fmt.Errorf("metric.algorithm: %T is not measured", c.Options)
}
