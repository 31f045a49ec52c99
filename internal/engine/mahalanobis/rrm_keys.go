package mahalanobis

import (
	"context"
	"errors"
	"fmt"

	"tercet/internal/component"
	"tercet/internal/text"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "rrm", Doc: "regularized risk minimization over all triplets", Defaults: RRMKeys{Sigma: 1e-3, Method: "auto", Sums: "auto"}})
}

// RRMKeys are the keys of regularized risk minimization over all triplets, eq. 5.
type RRMKeys struct {
	Sigma  float64 `yaml:"sigma" check:">0" doc:"weight of the regularizer sigma/2 ||w - prior I||^2"`
	Prior  float64 `yaml:"prior" check:">=0" doc:"regularize w towards this multiple of the identity (the Euclidean metric) by sigma/2 ||w - prior I||^2; 0 is lambda ||w||^2 of the paper"`
	Method string  `yaml:"method" enum:"auto|newton|lbfgs" doc:"auto is newton if w has few entries, else lbfgs"`
	Tol    float64 `yaml:"tol" check:">=0,<1" doc:"largest certificate: w is this close to the minimizer in the Frobenius norm; 0 is 1e-9, for the hinge 0.01"`
	Sums   Sums    `yaml:"sums" enum:"auto|exact|interpolated" doc:"how the sums over all triplets are taken; auto interpolates where there are many"`
}

// Plan implements Keys.
func (k RRMKeys) Plan(t Task) (*Risk, int, error) {
	risk, err := NewRisk(t.Problems, t.Loss, k.Sums)
	if err != nil {
		return nil, 0, &KeyError{"", err}
	}
	return risk, 0, nil
}

// Fit implements Keys: it minimizes the regularized risk (eq. 5).
func (k RRMKeys) Fit(ctx context.Context, t Task) ([]float64, Reached, error) {
	risk, _, err := k.Plan(t)
	if err != nil {
		return nil, Reached{}, err
	}
	s, err := Minimize(ctx, risk, RRMOptions{Sigma: k.Sigma, Prior: k.Prior, Method: k.Method, Tol: k.Tol, Watch: t.Watch})
	if errors.Is(err, ErrInput) {
		err = &KeyError{"", err}
	}
	return s.Theta, Reached{
		Method: s.Method, Risk: s.Risk, Objective: s.Objective, GradNorm: s.GradNorm, Certificate: &s.Certificate,
		Iterations: s.Iterations, Evaluations: s.Evaluations,
		Words: fmt.Sprintf("rrm by %s: %s, risk %.6f, objective %.6f; w is within %.2g of the minimizer", s.Method,
			text.Plural(s.Iterations, "iteration", "iterations"), s.Risk, s.Objective, s.Certificate),
	}, err
}
