package mahalanobis

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// ErrNotConverged is wrapped by the error of Minimize where it comes with a Solution
// that is not as near to the minimizer as was asked for.
var ErrNotConverged = errors.New("not converged")

// The methods of Minimize.
const (
	Newton = "newton"
	LBFGS  = "lbfgs"
)

// RRMOptions configures Minimize.
type RRMOptions struct {
	Sigma  float64 // sigma, of r(w) = sigma/2 ||w||^2, above 0; the paper's lambda ||w||^2 has sigma = 2 lambda
	Method string  // newton, lbfgs, or auto (or empty)
	// Tol is the largest certificate, in units of ||w||; 0 is 1e-9, for the hinge 0.01.
	Tol float64
	// Prior is s of r(w) = sigma/2 ||w - s I||^2, which draws w to the Euclidean metric; the
	// paper has 0.
	Prior float64
	// Start is where to begin, (d(d+1)/2); nil is the prior.
	Start []float64
	// Most is the largest number of evaluations of the risk; 0 is 5000.
	Most int
	// Watch, where there is one, is told of each evaluation: how many there were, F_S and
	// the norm of its gradient.
	Watch func(evaluations int, objective, gradNorm float64)
}

// Solution is what Minimize reached.
type Solution struct {
	Theta     []float64 // svec(w)
	Risk      float64   // R_S(w)
	Objective float64   // F_S(w)
	GradNorm  float64   // of F_S, Euclidean
	// Certificate bounds the distance to the minimizer, ||w - A(S)|| <= ||grad F_S(w)||
	// / sigma, since F_S is sigma-strongly convex.
	Certificate float64
	Iterations  int
	Evaluations int    // of the risk with its gradient
	Method      string // newton or lbfgs: the last one in use
}

// What auto does: Newton's method up to so many parameters, and at once where a
// Hessian takes no longer than so many gradients; else it follows L-BFGS where that
// needs more than so many evaluations. Where the first one comes to a halt the other
// continues.
const (
	mostNewton   = 150
	cheapHessian = 4
	mostLBFGS    = 300
)

// Minimize does regularized risk minimization (eq. 5),
//
//	A(S) = argmin_w F_S(w) = R_S(w) + sigma/2 ||w - s I||^2,
//
// s = o.Prior, until the certificate ||grad F_S(w)|| / sigma >= ||w - A(S)|| is at most o.Tol. It has
// gonum's Newton or L-BFGS directions with a line search that works down to rounding.
//
// The hinge, whose gradient jumps, has another way and certificate: see hinged.
//
// Errors: an o that is wrong; ctx's; ErrNotConverged with the solution reached.
func Minimize(ctx context.Context, r *Risk, o RRMOptions) (Solution, error) {
	if err := o.check(); err != nil {
		return Solution{}, err
	}
	theta := o.prior(r.d)
	if err := start(theta, o.Start); err != nil {
		return Solution{}, err
	}
	if o.Tol == 0 {
		o.Tol = 1e-9
		if r.loss.Name == Hinge {
			o.Tol = 1e-2
		}
	}
	if o.Most == 0 {
		o.Most = 5000
	}
	f := newObjective(ctx, r, o, theta)
	if math.IsNaN(f.value) || math.IsInf(f.value, 0) {
		return Solution{}, fmt.Errorf("%w: the objective is %v at the start: numbers overflow; lower zeta, the prior or the points' radius", ErrInput, f.value)
	}
	if r.loss.Name == Hinge {
		return f.hinged(o)
	}
	why := f.minimize(o.Method)
	s := f.solution()
	s.Certificate = s.GradNorm / o.Sigma
	return s, f.nearEnough(s, why)
}

// nearEnough returns the error of a solution that is not near enough, for that reason.
func (f *objective) nearEnough(s Solution, why error) error {
	switch {
	case f.ctx.Err() != nil:
		return f.ctx.Err()
	case s.Certificate <= f.tol:
		return nil
	}
	return fmt.Errorf("%w: w is within %.3g of the minimizer after %d evaluations, limit %.3g (sigma %.3g, %s: %v); raise sigma or the tolerance",
		ErrNotConverged, s.Certificate, s.Evaluations, f.tol, f.sigma, s.Method, why)
}

// prior returns svec(s I).
func (o RRMOptions) prior(d int) []float64 {
	theta := Identity(d)
	for i := range theta {
		theta[i] *= o.Prior
	}
	return theta
}

func (o RRMOptions) check() error {
	switch {
	case !(o.Prior >= 0) || math.IsInf(o.Prior, 1):
		return fmt.Errorf("%w: the prior is %v times the Euclidean metric, want a finite number of at least 0", ErrInput, o.Prior)
	case !(o.Sigma > 0) || math.IsInf(o.Sigma, 1):
		return fmt.Errorf("%w: sigma is %v, want a finite number above 0: without it F_S is not strongly convex, and A(S) is not unique", ErrInput, o.Sigma)
	case !(o.Tol >= 0) || math.IsInf(o.Tol, 1):
		return fmt.Errorf("%w: tolerance is %v, want a finite number above 0, or 0 for 1e-9", ErrInput, o.Tol)
	case o.Most < 0:
		return fmt.Errorf("%w: at most %d evaluations", ErrInput, o.Most)
	}
	switch o.Method {
	case "", string(Auto), Newton, LBFGS:
		return nil
	}
	return fmt.Errorf("%w: unknown method %q (valid: auto, newton, lbfgs)", ErrInput, o.Method)
}
