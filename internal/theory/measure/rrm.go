package measure

import (
	"context"
	"math"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/theory/stability"
)

func init() {
	register(func(k mahalanobis.RRMKeys, l mahalanobis.Loss, _ float64) (Learner, error) {
		return RRM{Loss: l, Sigma: record.Scale{Factor: k.Sigma}, Prior: k.Prior, Method: k.Method, Sums: k.Sums, Tol: k.Tol}, nil
	})
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

// fixed implements Learner.
func (a RRM) fixed(n record.Sizes) Learner {
	a.Sigma = record.Scale{Factor: a.Sigma.At(Least(n))}
	return a
}

// references implements Learner: nothing is drawn.
func (RRM) references() int { return 1 }

// mark implements Learner.
func (a RRM) mark(p *record.MetricPoint) { p.Sigma = a.Sigma.At(Least(p.Sizes)) }

// Stability is Lemma 4.
func (a RRM) Stability(n record.Sizes, radius float64) ([]record.MetricBound, error) {
	return bounds(a.Loss, radius, true, false, func(k stability.Loss, o stability.Options) (record.BoundValue, error) {
		return stability.Lemma4(stability.RRMInput{Loss: k, NPos: n.Pos, NNeg: n.Neg, Sigma: a.Sigma.At(Least(n))}, o)
	})
}

// expected is Theorem 4 for sigma min(n+, n-) >= 8 alpha, in the forms whose alpha is so
// small.
func (a RRM) expected(g *record.GapResult, radius float64) ([]record.MetricBound, error) {
	sigma := a.Sigma.At(Least(g.Sizes))
	return bounds(a.Loss, radius, false, true, func(k stability.Loss, o stability.Options) (record.BoundValue, error) {
		if sigma*float64(Least(g.Sizes)) < 8*k.Alpha { // Theorem 4 does not apply
			return record.BoundValue{}, errSkip
		}
		return stability.Theorem4(stability.Theorem4Input{Loss: k, NPos: g.Pos, NNeg: g.Neg, Sigma: sigma, Risk: g.Train.Value}, o)
	})
}

// likely is Theorem 1 with gamma of Lemma 4.
func (a RRM) likely(g *record.GapResult, radius, delta float64) ([]record.MetricBound, error) {
	return bounds(a.Loss, radius, true, false, func(k stability.Loss, o stability.Options) (record.BoundValue, error) {
		gamma, err := stability.Lemma4(stability.RRMInput{Loss: k, NPos: g.Pos, NNeg: g.Neg, Sigma: a.Sigma.At(Least(g.Sizes))}, o)
		if err != nil {
			return gamma, err
		}
		return stability.Theorem1(stability.Theorem1Input{NPos: g.Pos, NNeg: g.Neg, Gamma: gamma.Value, M: g.MeanLoss, Delta: delta}, o)
	})
}

// perStep implements Learner: all samples are used at once.
func (RRM) perStep(record.Sizes, []uniformRun) (*record.Lemma2, error) { return nil, nil }
