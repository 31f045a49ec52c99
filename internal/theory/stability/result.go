package stability

import (
	"errors"
	"fmt"
	"math"

	"tercet/internal/record"
)

// ErrInput is wrapped by every error about numbers that a bound does not hold for.
var ErrInput = errors.New("cannot calculate")

// The forms of a bound, and the sets of constants.
const (
	Paper     = "paper"     // as printed
	Corrected = "corrected" // what the proof supports
	Tight     = "tight"     // of constants only: the smallest that are proved
)

// Options says how a bound is calculated.
type Options struct {
	// Form is Paper or Corrected; empty stands for Corrected.
	Form string
	// Constants is Paper or Tight; empty stands for Paper. Tight takes the smaller L
	// and alpha of the logistic loss where a radius is given, and in corrected bounds
	// of regularized risk minimization the smaller factors of Lemmas 4 and 5.
	Constants string
	// Sup is the largest value of the loss; 0 where it is not known. A bound above it
	// is vacuous.
	Sup float64
}

// What is bounded, and how far one can rely on it.
const (
	theGap       = "|R_S(A(S)) - R(A(S))|"
	theStability = "gamma"
	always       = "always"
	likely       = "with probability 1 - delta"
	expected     = "in expectation"
)

// checked returns o with its defaults in place.
func (o Options) checked() (Options, error) {
	if o.Form == "" {
		o.Form = Corrected
	}
	if o.Constants == "" {
		o.Constants = Paper
	}
	switch {
	case o.Form != Paper && o.Form != Corrected:
		return o, fmt.Errorf("%w: form is %q; choose %s or %s", ErrInput, o.Form, Paper, Corrected)
	case o.Constants != Paper && o.Constants != Tight:
		return o, fmt.Errorf("%w: constants are %q; choose %s or %s", ErrInput, o.Constants, Paper, Tight)
	}
	return o, nonNegative("sup", o.Sup, "it is the largest value of a loss that is nowhere negative")
}

// sharp says whether the smaller factors of Lemmas 4 and 5 are to be used.
func (o Options) sharp() bool { return o.Form == Corrected && o.Constants == Tight }

// done completes r: its value from its terms, its form, whether it is vacuous.
func (o Options) done(r record.BoundValue) (record.BoundValue, error) {
	if r.Terms != nil {
		r.Value = sum(r.Terms)
	}
	r.Form, r.Sup = o.Form, o.Sup
	if math.IsInf(r.Value, 0) || math.IsNaN(r.Value) {
		return record.BoundValue{}, fmt.Errorf("%w: %s is %v: its numbers are too large or too small for float64", ErrInput, r.Source, r.Value)
	}
	if o.Sup > 0 {
		vacuous := r.Value > o.Sup
		r.Vacuous = &vacuous
	}
	return r, nil
}

func sum(terms []record.Term) float64 {
	s := 0.0
	for _, t := range terms {
		s += t.Value
	}
	return s
}

// first returns the first error that is one.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func sizes(nPos, nNeg int) error {
	switch {
	case nPos < 2:
		return fmt.Errorf("%w: n+ is %d, want 2 or more: a triplet has two different positives (eq. 2)", ErrInput, nPos)
	case nNeg < 1:
		return fmt.Errorf("%w: n- is %d, want 1 or more: a triplet has a negative (eq. 2)", ErrInput, nNeg)
	}
	return nil
}

func positive(name string, v float64, why string) error {
	if !(v > 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%w: %s is %v, want a finite number above 0: %s", ErrInput, name, v, why)
	}
	return nil
}

func nonNegative(name string, v float64, why string) error {
	if !(v >= 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%w: %s is %v, want a finite number of 0 or more: %s", ErrInput, name, v, why)
	}
	return nil
}

// level checks the delta of a bound that is stated for (0, 1/e).
func level(delta float64, source string) error {
	if !(delta > 0 && delta < 1/math.E) {
		return fmt.Errorf("%w: delta is %v, want a number between 0 and 1/e = 0.367879: %s is stated for these", ErrInput, delta, source)
	}
	return nil
}

// probability checks the delta of a bound that is stated for (0, 1).
func probability(delta float64, source string) error {
	if !(delta > 0 && delta < 1) {
		return fmt.Errorf("%w: delta is %v, want a number between 0 and 1: %s is stated for these", ErrInput, delta, source)
	}
	return nil
}

// slack is what a condition that is met exactly may lose to rounding.
const slack = 1e-12

// step checks that SGD's steps expand no distance.
func step(name string, v, alpha float64) error {
	if err := positive(name, v, "steps go against the gradient (eq. 3)"); err != nil {
		return err
	}
	if v > 2/alpha*(1+slack) {
		return fmt.Errorf("%w: %s is %v, want at most 2/alpha = %.6g: larger steps on an alpha-smooth convex loss may make two models diverge (Lemma 9)", ErrInput, name, v, 2/alpha)
	}
	return nil
}
