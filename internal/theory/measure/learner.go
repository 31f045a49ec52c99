package measure

import (
	"context"
	"errors"
	"reflect"

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
	// fixed is the learner with the scales that it has for samples of those sizes.
	fixed(n record.Sizes) Learner
	// references is how many runs the w of the control variate is the mean of.
	references() int
	// mark writes what the scales are at the sizes of p.
	mark(p *record.MetricPoint)
	// expected are the bounds on the mean gap, and likely those on |R - R_S| that hold with
	// probability 1 - delta, with M as it was measured (S8); none where the theory has none.
	expected(g *record.GapResult, radius float64) ([]record.MetricBound, error)
	likely(g *record.GapResult, radius, delta float64) ([]record.MetricBound, error)
	// perStep compares each replacement with a bound that depends on the steps that used
	// the sample (Lemma 2); nil where there is none.
	perStep(n record.Sizes, runs []uniformRun) (*record.Lemma2, error)
}

// makers make learners of the keys of algorithms, by the type of those.
var makers = map[reflect.Type]func(k mahalanobis.Keys, l mahalanobis.Loss, radius float64) (Learner, error){}

func register[K mahalanobis.Keys](make func(k K, l mahalanobis.Loss, radius float64) (Learner, error)) {
	makers[reflect.TypeFor[K]()] = func(k mahalanobis.Keys, l mahalanobis.Loss, radius float64) (Learner, error) {
		return make(k.(K), l, radius)
	}
}

// LearnerOf is the algorithm with those keys for samples of any size in the ball of that
// radius. What the theory does not let be measured is a mahalanobis.KeyError.
func LearnerOf(k mahalanobis.Keys, l mahalanobis.Loss, radius float64) (Learner, error) {
	if make := makers[reflect.TypeOf(k)]; make != nil {
		return make(k, l, radius)
	}
	return nil, &mahalanobis.KeyError{Key: "algorithm", Err: errors.New("the theory has no bounds for it: it is not measured")}
}
