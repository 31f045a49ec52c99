package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/floats"

	"tercet/internal/config"
	"tercet/internal/engine/mahalanobis"
	"tercet/internal/engine/nn"
	"tercet/internal/text"
	"tercet/internal/wire"
)

// rrm minimizes the regularized risk (eq. 5).
func (f *fitting) rrm(ctx context.Context, o mahalanobis.RRMKeys) (*MetricFit, error) {
	risk, err := mahalanobis.NewRisk(f.problems.list, f.loss, o.Sums)
	if err != nil {
		return nil, wire.InConfig("metric", err)
	}
	s, err := mahalanobis.Minimize(ctx, risk, mahalanobis.RRMOptions{
		Sigma: o.Sigma, Prior: o.Prior, Method: o.Method, Tol: o.Tol, Watch: f.evaluated,
	})
	switch {
	case errors.Is(err, mahalanobis.ErrInput):
		return nil, wire.InConfig("metric", err)
	case err != nil:
		return nil, err
	}
	fit := f.fitted(s.Theta)
	fit.Method, fit.Risk, fit.Objective, fit.GradNorm, fit.Certificate = s.Method, s.Risk, s.Objective, s.GradNorm, &s.Certificate
	fit.Iterations, fit.Evaluations = s.Iterations, s.Evaluations
	f.watch.note("rrm by %s: %s, risk %.6f, objective %.6f; w is within %.2g of the minimizer", s.Method,
		text.Plural(s.Iterations, "iteration", "iterations"), s.Risk, s.Objective, s.Certificate)
	return fit, nil
}

// wordy is how long a fit continues without a progress message.
const wordy = 5 * time.Second

// evaluated logs an evaluation of the risk, and tells of some.
func (f *fitting) evaluated(n int, objective, gradNorm float64) {
	if finite(objective) && finite(gradNorm) { // a search may try steps that are not
		_ = f.event("step", n, &objective, &gradNorm, nil) // a log that cannot be written fails at the fit's end
	}
	if time.Since(f.said) > wordy {
		f.said = time.Now()
		f.watch.note("evaluation %d: objective %.6f, gradient %.2g", n, objective, gradNorm)
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// sgd descends on random triplets (eq. 3).
func (f *fitting) sgd(ctx context.Context, o mahalanobis.SGDKeys) (*MetricFit, error) {
	cfg := f.run.Config
	so := o.Options(f.loss, cfg.Model.Options.(nn.MahalanobisKeys).Radius, f.items, cfg.Seed)
	_, eta, err := so.Step(f.problems.list, f.loss, so.Steps)
	if err != nil {
		return nil, wire.InConfig("metric.c", err)
	}
	risk, err := mahalanobis.NewRisk(f.problems.list, f.loss, mahalanobis.Auto)
	if err != nil {
		return nil, wire.InConfig("metric", err)
	}
	if err := f.begin(risk); err != nil {
		return nil, err
	}
	var theta []float64
	if len(f.problems.list) == 1 { // with the triplets of DrawIndices, as measurements have them
		theta, err = mahalanobis.SGD(ctx, f.problems.list[0], f.loss, nil, so)
	} else {
		theta, err = mahalanobis.SGDOver(ctx, f.problems.list, f.loss, so)
	}
	switch {
	case errors.Is(err, mahalanobis.ErrInput):
		return nil, wire.InConfig("metric.c", err)
	case err != nil:
		return nil, err
	}
	fit := f.fitted(theta)
	grad := make([]float64, len(theta))
	fit.Risk = risk.ValueGrad(theta, grad)
	fit.Objective, fit.GradNorm, fit.Iterations, fit.Eta = fit.Risk, floats.Norm(grad, 2), so.Steps, eta
	f.watch.note("sgd: %s of %.4g, risk %.6f", text.Plural(so.Steps, "step", "steps"), eta, fit.Risk)
	return fit, nil
}

// begin logs the risk and the norm of its gradient at w = 0, where SGD begins.
func (f *fitting) begin(risk *mahalanobis.Risk) error {
	zero, grad := make([]float64, risk.Dim()), make([]float64, risk.Dim())
	value := risk.ValueGrad(zero, grad)
	if !finite(value) || !finite(floats.Norm(grad, 2)) {
		return &config.Error{Key: "metric.zeta", Msg: fmt.Sprintf("the risk at w = 0 is %v: numbers overflow; lower metric.zeta or model.radius", value)}
	}
	return f.event("step", 0, &value, new(floats.Norm(grad, 2)), nil)
}

// fitted is the record of theta but for what was reached.
func (f *fitting) fitted(theta []float64) *MetricFit {
	return &MetricFit{
		Dim: f.model.Dim(), Theta: theta, Positive: f.problems.names, Triplets: f.problems.Triplets(),
		Algorithm: f.run.Config.Metric.Algorithm,
	}
}
