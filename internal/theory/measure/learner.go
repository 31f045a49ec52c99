package measure

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
)

// Learned is what a Learner makes of a sample.
type Learned struct {
	Theta []float64 // svec of w
	// Certificate is the largest distance of Theta from what the algorithm is defined to
	// return; 0 for one that is done exactly.
	Certificate float64
}

// Learner is an algorithm A: a sample to w. It knows the radius B of the ball that
// points lie in, and takes nothing else from the sample's distribution.
type Learner interface {
	Name() string // "rrm" or "sgd"
	Criterion() mahalanobis.Loss
	// Learn learns w. What chance decides depends on the numbers of points and the seed
	// alone, so that a sample with a point replaced meets the same. near is a w that the
	// answer may be close to, or nil; it saves time and, but for the certificate, changes
	// nothing.
	Learn(ctx context.Context, p *mahalanobis.Problem, seed uint64, near []float64) (Learned, error)
	// Stability are the bounds on the uniform stability for samples of those sizes in the
	// ball of that radius, as printed and corrected; none where the loss does not meet
	// what they assume.
	Stability(n record.Sizes, radius float64) ([]record.MetricBound, error)
	Describe() record.Learner
}

// RRM is regularized risk minimization (eq. 5): R_S + sigma/2 ||w - s I||^2 over all
// triplets.
type RRM struct {
	Loss   mahalanobis.Loss
	Sigma  record.Scale
	Prior  float64          // s; 0 in the paper
	Method string           // auto, newton, lbfgs; empty is auto
	Sums   mahalanobis.Sums // empty is auto
	// Tol is the largest distance to the minimizer; 0 is 1e-9, for the hinge 0.01. What
	// one replaced sample moves w by is of order L/(sigma n): Learn comes nearer than
	// precise of that whatever Tol is.
	Tol float64
}

// Name returns "rrm".
func (RRM) Name() string { return "rrm" }

// Criterion returns the loss.
func (a RRM) Criterion() mahalanobis.Loss { return a.Loss }

// Describe says what a is.
func (a RRM) Describe() record.Learner {
	return record.Learner{Name: a.Name(), Loss: a.Loss.Name, Zeta: a.Loss.Zeta, Delta: a.Loss.Delta, Sigma: &a.Sigma, Prior: a.Prior, Tol: a.Tol}
}

// Learn minimizes, from near.
func (a RRM) Learn(ctx context.Context, p *mahalanobis.Problem, _ uint64, near []float64) (Learned, error) {
	r, err := mahalanobis.NewRisk([]*mahalanobis.Problem{p}, a.Loss, a.Sums)
	if err != nil {
		return Learned{}, err
	}
	sigma := a.Sigma.At(min(p.NPos(), p.NNeg()))
	s, err := mahalanobis.Minimize(ctx, r, mahalanobis.RRMOptions{
		Sigma: sigma, Prior: a.Prior, Method: a.Method, Tol: a.tol(p, sigma), Start: near,
	})
	return Learned{s.Theta, s.Certificate}, err
}

// precise is the share of L/(sigma n) that w may be away from the minimizer.
const precise = 1e-3

// tol is the tolerance of measurements. A looser one would take the solution before a
// replacement for the one after it.
func (a RRM) tol(p *mahalanobis.Problem, sigma float64) float64 {
	if a.Tol == 0 && a.Loss.Name != mahalanobis.Hinge {
		return 0
	}
	wanted := a.Tol
	if wanted == 0 {
		wanted = math.Inf(1)
	}
	// Without a finite L, as of least squares, or with all points at 0: the default.
	limit := 1e-9
	if k, err := a.Loss.Constants(p.Radius(), mahalanobis.Tight); err == nil && !math.IsInf(k.L, 0) && sigma > 0 {
		limit = precise * k.L / (sigma * float64(max(p.NPos(), p.NNeg())))
	}
	return min(wanted, limit)
}

// SGD is stochastic gradient descent (eq. 3) from w = 0 with steps eta = C / sqrt(T).
type SGD struct {
	Loss  mahalanobis.Loss
	C     float64      // at most 2/alpha of the tight constants
	Steps record.Scale // T, rounded up
	// Radius is B, which the limit of the step depends on.
	Radius float64
	PSD    bool // project on the positive semidefinite matrices after each step
}

// Name returns "sgd".
func (SGD) Name() string { return "sgd" }

// Criterion returns the loss.
func (a SGD) Criterion() mahalanobis.Loss { return a.Loss }

// Describe says what a is.
func (a SGD) Describe() record.Learner {
	return record.Learner{Name: a.Name(), Loss: a.Loss.Name, Zeta: a.Loss.Zeta, Delta: a.Loss.Delta, C: a.C, Steps: &a.Steps, PSD: a.PSD}
}

// T is the number of steps for a sample of those sizes.
func (a SGD) T(n record.Sizes) int { return int(math.Ceil(a.Steps.At(Least(n)) - 1e-9)) }

// Eta is the step.
func (a SGD) Eta(n record.Sizes) float64 { return a.C / math.Sqrt(float64(a.T(n))) }

// Triplets are those that T steps meet.
func (a SGD) Triplets(n record.Sizes, seed uint64) []mahalanobis.Index {
	return mahalanobis.DrawIndices(n.Pos, n.Neg, a.T(n), seed, mahalanobis.SGDStream)
}

// Learn makes the steps; near is not used.
func (a SGD) Learn(ctx context.Context, p *mahalanobis.Problem, seed uint64, _ []float64) (Learned, error) {
	n := record.Sizes{Pos: p.NPos(), Neg: p.NNeg()}
	if !(a.C > 0) || !(a.Radius > 0) {
		return Learned{}, fmt.Errorf("%w: SGD has c = %v in a ball of radius B = %v; both must be above 0", ErrInput, a.C, a.Radius)
	}
	if a.T(n) < 1 {
		return Learned{}, fmt.Errorf("%w: SGD makes %s = %d steps at n+ = %d, n- = %d; it needs one", ErrInput, a.Steps, a.T(n), n.Pos, n.Neg)
	}
	theta, err := mahalanobis.SGD(ctx, p, a.Loss, a.Triplets(n, seed), mahalanobis.SGDOptions{C: a.C, PSD: a.PSD, Radius: a.Radius, Constants: mahalanobis.Tight})
	return Learned{Theta: theta}, err
}
