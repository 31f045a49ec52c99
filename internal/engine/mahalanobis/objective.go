package mahalanobis

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// objective is F_S on its way down. gonum asks for value, gradient and Hessian one by
// one.
type objective struct {
	ctx         context.Context
	r           *Risk
	sigma, tol  float64
	most        int // evaluations
	watch       func(evaluations int, objective, gradNorm float64)
	prior       []float64 // svec of s I
	at, grad    []float64 // the last point and its gradient
	value       float64   // F_S there
	best        []float64 // the point with the least gradient so far
	norm, risk  float64   // of best
	method      string
	evaluations int
	improved    int // evaluations when best was found
	iterations  int
}

// patience is how many evaluations may pass without a smaller gradient: rounding
// allows none any more.
const patience = 100

var errStalled = errors.New("the gradient becomes no smaller")

func newObjective(ctx context.Context, r *Risk, o RRMOptions, theta []float64) *objective {
	f := &objective{ctx: ctx, r: r, sigma: o.Sigma, tol: o.Tol, most: o.Most, watch: o.Watch, prior: o.prior(r.d)}
	f.at, f.grad, f.best = make([]float64, len(theta)), make([]float64, len(theta)), slices.Clone(theta)
	f.restart()
	return f
}

// restart evaluates best as if nothing was known.
func (f *objective) restart() {
	f.norm, f.at[0] = math.Inf(1), math.NaN()
	f.evaluate(slices.Clone(f.best))
}

// evaluate computes F_S and its gradient at theta, unless it is the last point.
func (f *objective) evaluate(theta []float64) {
	if slices.Equal(theta, f.at) {
		return
	}
	f.evaluations++
	copy(f.at, theta)
	risk := f.r.ValueGrad(theta, f.grad)
	f.value = risk + f.regularizer(theta)
	for i, v := range theta {
		f.grad[i] += float64(f.sigma * (v - f.prior[i]))
	}
	n := norm(f.grad)
	if f.watch != nil {
		f.watch(f.evaluations, f.value, n)
	}
	if n < f.norm {
		f.norm, f.risk, f.improved = n, risk, f.evaluations
		copy(f.best, theta)
	}
}

// regularizer is sigma/2 ||w - s I||^2.
func (f *objective) regularizer(theta []float64) float64 {
	sum := 0.0
	for i, v := range theta {
		sum += float64((v - f.prior[i]) * (v - f.prior[i]))
	}
	return float64(f.sigma / 2 * sum)
}

// solution returns the best point, without its certificate.
func (f *objective) solution() Solution {
	return Solution{
		Theta: f.best, Risk: f.risk, Objective: f.risk + f.regularizer(f.best), GradNorm: f.norm,
		Iterations: f.iterations, Evaluations: f.evaluations, Method: f.method,
	}
}

// minimize continues from the best point until the gradient there is at most tol sigma,
// and returns why it stopped.
func (f *objective) minimize(method string) error {
	m := f.r.Dim()
	switch {
	case method == Newton || method == LBFGS:
		return f.descend(method, f.most)
	case m > mostNewton:
		return f.descend(LBFGS, f.most)
	}
	first, then, most := LBFGS, Newton, f.evaluations+mostLBFGS
	if f.r.hessianCost() <= cheapHessian {
		first, then, most = Newton, LBFGS, f.most
	}
	why := f.descend(first, min(f.most, most))
	if f.ctx.Err() == nil && f.norm > f.tol*f.sigma && f.evaluations < f.most {
		f.improved = f.evaluations
		why = f.descend(then, f.most)
	}
	return why
}

// descend is minimize by one method, until there were that many evaluations.
func (f *objective) descend(method string, most int) error {
	f.method = method
	problem := optimize.Problem{
		Func: func(x []float64) float64 { f.evaluate(x); return f.value },
		Grad: func(grad, x []float64) { f.evaluate(x); copy(grad, f.grad) },
		Status: func() (optimize.Status, error) {
			switch {
			case f.ctx.Err() != nil:
				return optimize.Failure, f.ctx.Err()
			case f.norm <= f.tol*f.sigma:
				return optimize.GradientThreshold, nil
			case f.evaluations >= most:
				return optimize.FunctionEvaluationLimit, nil
			case f.evaluations >= f.improved+patience:
				return optimize.Failure, errStalled
			}
			return optimize.NotTerminated, nil
		},
	}
	var m optimize.Method = &optimize.LBFGS{Linesearcher: &search{}, GradStopThreshold: math.NaN(), Store: 30}
	if method == Newton {
		problem.Hess = f.hessian
		m = &optimize.Newton{Linesearcher: &search{}, GradStopThreshold: math.NaN()}
	}
	// gonum's own criteria stop too early, or on the largest number of the gradient.
	settings := &optimize.Settings{Converger: optimize.NeverTerminate{}, GradientThreshold: math.NaN()}
	result, err := optimize.Minimize(problem, slices.Clone(f.best), settings, m)
	if result != nil {
		f.iterations += result.Stats.MajorIterations
		if err == nil {
			err = errors.New(result.Status.String())
		}
	}
	return err
}

func (f *objective) hessian(h *mat.SymDense, x []float64) {
	m := len(x)
	full := make([]float64, m*m)
	f.r.Hessian(x, full)
	for i := range m {
		for j := i; j < m; j++ {
			v := full[i*m+j]
			if i == j {
				v += f.sigma
			}
			h.SetSym(i, j, v)
		}
	}
}
