package measure

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/theory/stability"
)

func init() {
	register(func(k mahalanobis.SGDKeys, l mahalanobis.Loss, radius float64) (Learner, error) {
		a := SGD{Loss: l, C: k.C.N, PSD: k.PSD, Radius: radius, Steps: record.Scale{Factor: 2, Power: 1}} // auto: as many as items
		if k.Steps.Given {
			a.Steps = record.Scale{Factor: k.Steps.N}
		}
		of, err := l.Constants(radius, k.Constants)
		if err != nil {
			return nil, &mahalanobis.KeyError{Err: err}
		}
		if !k.C.Given {
			a.C = 2 / of.Alpha
		}
		if !(a.C > 0) || math.IsInf(of.Alpha, 0) {
			return nil, &mahalanobis.KeyError{Key: "loss", Err: fmt.Errorf("%s is not smooth: the stability of SGD with it is not bounded by the theory, and is not measured", l.Name)}
		}
		return a, nil
	})
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

// fixed implements Learner.
func (a SGD) fixed(n record.Sizes) Learner {
	a.Steps = record.Scale{Factor: float64(a.T(n))}
	return a
}

// references implements Learner: one run would carry the noise of its own triplets.
func (SGD) references() int { return 16 }

// mark implements Learner.
func (a SGD) mark(p *record.MetricPoint) { p.Steps = a.T(p.Sizes) }

// Stability is none: Lemma 2 depends on the triplets that were drawn, see Uniform.
func (a SGD) Stability(record.Sizes, float64) ([]record.MetricBound, error) { return nil, nil }

// lemma2 bounds the change of any loss when the sample that that many steps used is
// replaced; nil for a loss that is not smooth or not Lipschitz. Steps above the printed
// 2/alpha, which the tight one allows, have no bound with paper constants.
func (a SGD) lemma2(n record.Sizes, uses int) ([]record.MetricBound, error) {
	return bounds(a.Loss, a.Radius, true, true, func(k stability.Loss, o stability.Options) (record.BoundValue, error) {
		if o.Form == stability.Paper || a.Eta(n) > 2/k.Alpha {
			return record.BoundValue{}, errSkip
		}
		return stability.Lemma2(stability.Lemma2Input{Loss: k, Step: a.Eta(n), Uses: uses}, o)
	})
}

// expected implements Learner: the bounds on the mean are those of regularized risk
// minimization.
func (SGD) expected(*record.GapResult, float64) ([]record.MetricBound, error) { return nil, nil }

// likely is Theorem 2.
func (a SGD) likely(g *record.GapResult, radius, delta float64) ([]record.MetricBound, error) {
	return bounds(a.Loss, radius, true, true, func(k stability.Loss, o stability.Options) (record.BoundValue, error) {
		if a.C > 2/k.Alpha*(1+1e-12) { // the printed alpha allows smaller steps only
			return record.BoundValue{}, errSkip
		}
		return stability.Theorem2(stability.Theorem2Input{Loss: k, NPos: g.Pos, NNeg: g.Neg, C: a.C, Steps: a.T(g.Sizes), M: g.MeanLoss, Delta: delta}, o)
	})
}
