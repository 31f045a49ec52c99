package measure

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
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
