package mahalanobis

import (
	"context"

	"tercet/internal/component"
)

// Family is the algorithms that a config can name. Each registers itself in its file.
var Family = component.NewFamily[Keys]("rrm", "sgd")

// Keys are the keys of an algorithm in a config. A key that does not go with the task is a
// KeyError.
type Keys interface {
	// Plan returns the risk that is learned from, and the steps of the fit, 0 where only
	// the fit can tell.
	Plan(t Task) (*Risk, int, error)
	// Fit returns svec of w. What is not finite in it is left to the caller.
	Fit(ctx context.Context, t Task) (theta []float64, reached Reached, err error)
}

// Restricted is implemented by the keys of algorithms that ask something of the loss and
// of the radius of the ball that the items lie in.
type Restricted interface {
	Restrict(l Loss, radius float64) []component.Fault
}

// Task is what an algorithm learns from.
type Task struct {
	Problems []*Problem
	Loss     Loss
	Radius   float64 // B of the ball that the items lie in
	Items    int
	Seed     uint64
	// Watch is given an evaluation of the objective and the norm of its gradient.
	Watch func(evaluations int, objective, gradNorm float64)
}

// Reached is how a fit ended.
type Reached struct {
	Method string `json:"method,omitempty"` // of rrm: newton or lbfgs
	// Risk is R_S at w over all training triplets; Objective what was minimized, with
	// the regularizer for rrm; GradNorm the norm of its gradient.
	Risk      float64 `json:"risk"`
	Objective float64 `json:"objective"`
	GradNorm  float64 `json:"grad_norm"`
	// Certificate bounds the Frobenius distance of w to the minimizer; of rrm.
	Certificate *float64 `json:"certificate,omitempty"`
	Iterations  int      `json:"iterations"` // of sgd: its steps
	Evaluations int      `json:"evaluations,omitempty"`
	Eta         float64  `json:"eta,omitempty"` // the step of sgd

	Words string `json:"-"` // for people
}

// KeyError is a mistake in a key of a config, "" for the section of the algorithm.
type KeyError struct {
	Key string
	Err error
}

func (e *KeyError) Error() string { return e.Err.Error() }
func (e *KeyError) Unwrap() error { return e.Err }
