package loss

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
)

// RobustOptions configures a RobustLoss.
type RobustOptions struct {
	Margin   float64 // alpha >= 0, in units of the distance; RobustSigmoid has none
	Distance Distance
	Form     RobustForm
	// W1 is the probability that a triplet is right, W2 that its positive and
	// negative are exchanged: beta gamma and (1-beta)(1-gamma) where the labels of
	// positive and negative are wrong independently (the paper), the joint
	// probabilities where they are not. What is left of 1 is ambiguous: both are of
	// one class.
	W1, W2 float64
	// Temperature is the width of RobustSigmoid, > 0, in units of the distance.
	Temperature float64
	// Normalize divides by w1 - w2, so that the noise does not slow learning down:
	// RobustExpected then has slope 1 within the margin, as the plain loss, and the
	// expectation of RobustOdd and RobustSigmoid under noise is, but for a constant,
	// that on clean triplets. RobustBackward is of that size as it is.
	Normalize bool
	Reduce    Reduction // MeanNonzero divides by the active triplets
	// Eps is that of TripletOptions; Euclidean only.
	Eps float64
}

// RobustDefaults returns the paper's loss (eq. 4) at a margin of 0.2 for embeddings
// of length 1, mean, with the weights of no noise: the plain triplet loss on squared
// distances. The temperature is that of the margin.
func RobustDefaults() RobustOptions {
	return RobustOptions{Margin: 0.2, Distance: Squared, Form: RobustExpected, W1: 1, Temperature: 0.2, Reduce: Mean, Eps: 1e-6}
}

// leastContrast is what w1 - w2 must exceed: beta + gamma = 1 comes out as a number
// of the size of rounding.
const leastContrast = 1e-9

// RobustLoss is the triplet loss for triplets that are wrong with a known
// probability ("Noise-robust triplet loss", appendix): the reduced sum over triplets
// (a, p, n) of a RobustForm of D = d(a,p) - d(a,n). It serves one goroutine at a time.
type RobustLoss struct {
	margin float64
	t      termTriplets
}

// NewRobust returns the loss, or an error naming the option that is wrong.
func NewRobust(o RobustOptions) (*RobustLoss, error) {
	if err := o.Distance.validate(); err != nil {
		return nil, err
	}
	if err := o.Reduce.validate(); err != nil {
		return nil, err
	}
	if err := o.Form.validate(); err != nil {
		return nil, err
	}
	if !(o.Margin >= 0) || math.IsInf(o.Margin, 0) {
		return nil, fmt.Errorf("loss: triplet-robust: margin is %v, want a finite number >= 0", o.Margin)
	}
	if !(o.Eps >= 0) || o.Eps > 1e-2 {
		return nil, fmt.Errorf("loss: triplet-robust: eps is %v, want a number from 0 to 0.01", o.Eps)
	}
	if o.Form == RobustSigmoid && !(o.Temperature >= 1e-6 && o.Temperature <= 1e6) {
		return nil, fmt.Errorf("loss: triplet-robust: temperature is %v, want a number from 1e-6 to 1e6", o.Temperature)
	}
	if !(o.W1 >= 0 && o.W2 >= 0 && o.W1+o.W2 <= 1+1e-9) {
		return nil, fmt.Errorf("loss: triplet-robust: w1 is %v and w2 is %v, want the probabilities that a triplet is right and that it is reversed: both >= 0, together <= 1", o.W1, o.W2)
	}
	if !(o.W1-o.W2 > leastContrast) {
		return nil, fmt.Errorf("loss: triplet-robust: w1 is %v and w2 is %v: their difference, which is beta + gamma - 1, must be above 0; at 0 the triplets say nothing about the classes, below it they say the reverse more often than the truth", o.W1, o.W2)
	}
	return &RobustLoss{o.Margin, newTermTriplets(o.Distance, o.Eps, o.Reduce, o.Form.term(o))}, nil
}

// Margin returns alpha.
func (l *RobustLoss) Margin() float64 { return l.margin }

// Eval implements Objective on t.Triplets. A triplet is active where the slope of its
// form is not 0: under RobustExpected, with w2 > 0, all are but those at a kink.
// Positive and Negative are means of the distance to the row that stands as positive
// or as negative, right or not.
func (l *RobustLoss) Eval(z *array.Array, t *Tuples, grad *array.Array) (Result, error) {
	return l.t.eval(z, t.Triplets, grad)
}
