package link

import (
	"errors"
	"fmt"
	"math"
)

// ErrInput is wrapped by every error about data, labels or a link that cannot be
// used.
var ErrInput = errors.New("cannot link distances to costs")

// Kinds of links, and what the regression of Fit may be on.
const (
	OnSquared  = "squared"  // the logit of P(cut) is linear in d^2
	OnDistance = "distance" // linear in d
	KindFitted = "fitted"   // found by Fit
)

// Link turns the distance of two points into P(cut), the probability that they
// belong to different clusters, and into the cost of a multicut (> 0: together):
//
//	squared    logit P(cut) = Scale (d^2 - Tau^2)
//	distance   logit P(cut) = Scale (d - Tau)
//	fitted     logit P(cut) = -(Intercept + Slope u), u = d^2 or d by On
//
// All are functions of d^2. The costs of a Link that only differ in Scale have the
// same best multicut, unless Clip or Bias is set.
type Link struct {
	Kind             string
	Tau, Scale       float64 // kinds squared and distance
	On               string  // of kind fitted: OnSquared or OnDistance
	Intercept, Slope float64 // of kind fitted: of the logit of P(join)
	// Clip c replaces each P(cut) p by c + (1-2c) p, so that no cost exceeds
	// log((1-c)/c) before the bias [0: off]. In [0, 0.5).
	Clip float64
	// Bias b adds log((1-b)/b) to every cost: above 0.5 it favors cuts, below
	// joins [0: 0.5, neutral]. In (0, 1).
	Bias float64
}

// Squared returns the link in d^2 with P(cut) = 1/2 at d = tau. With it the multicut
// of the complete graph factorizes.
func Squared(tau, scale float64) Link { return Link{Kind: OnSquared, Tau: tau, Scale: scale, Bias: .5} }

// Distance returns the link in d with P(cut) = 1/2 at d = tau.
func Distance(tau, scale float64) Link {
	return Link{Kind: OnDistance, Tau: tau, Scale: scale, Bias: .5}
}

// NaturalScale returns the scale of the link in d^2 that says P(cut) = 1-eps at
// d^2 = alpha, and eps at d^2 = beta, where tau^2 = (alpha+beta)/2:
// 2 ln((1-eps)/eps) / (alpha-beta). It is NaN unless alpha > beta and 0 < eps < 1/2.
func NaturalScale(alpha, beta, eps float64) float64 {
	if !(alpha > beta && eps > 0 && eps < .5) {
		return math.NaN()
	}
	return 2 * (math.Log1p(-eps) - math.Log(eps)) / (alpha - beta)
}

// Check says what is wrong with the link's numbers.
func (l Link) Check() error {
	positive := func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
	finite := func(v float64) bool { return v-v == 0 }
	switch l.Kind {
	case OnSquared, OnDistance:
		if !positive(l.Tau) || !positive(l.Scale) {
			return fmt.Errorf("%w: threshold %v and scale %v of the link must be positive", ErrInput, l.Tau, l.Scale)
		}
	case KindFitted:
		if l.On != OnSquared && l.On != OnDistance {
			return fmt.Errorf("%w: a fitted link on %q: choose %s or %s", ErrInput, l.On, OnSquared, OnDistance)
		}
		if !finite(l.Intercept) || !(l.Slope < 0) || !finite(l.Slope) {
			return fmt.Errorf("%w: a fitted link with intercept %v and slope %v: the slope must be negative, so that near points join", ErrInput, l.Intercept, l.Slope)
		}
	default:
		return fmt.Errorf("%w: link %q: choose %s, %s or %s", ErrInput, l.Kind, OnSquared, OnDistance, KindFitted)
	}
	if !(l.Clip >= 0 && l.Clip < .5) {
		return fmt.Errorf("%w: clip %v is outside [0, 0.5)", ErrInput, l.Clip)
	}
	if !(l.Bias >= 0 && l.Bias < 1) {
		return fmt.Errorf("%w: bias %v is outside (0, 1)", ErrInput, l.Bias)
	}
	return nil
}

// line returns the logit of P(join) as a + b u, before clipping and bias.
func (l Link) line() (a, b float64) {
	switch l.Kind {
	case KindFitted:
		return l.Intercept, l.Slope
	case OnDistance:
		return l.Scale * l.Tau, -l.Scale
	}
	return l.Scale * l.Tau * l.Tau, -l.Scale
}

// squared says that u is d^2.
func (l Link) squared() bool { return l.Kind == OnSquared || l.Kind == KindFitted && l.On == OnSquared }

// shift is what the bias adds to each cost.
func (l Link) shift() float64 {
	if l.Bias == 0 || l.Bias == .5 {
		return 0
	}
	return math.Log1p(-l.Bias) - math.Log(l.Bias)
}

// Cut returns P(cut) at the squared distance d2, clipped; the bias is no part of it.
func (l Link) Cut(d2 float64) float64 {
	p := sigmoid(-l.logit(d2))
	return l.Clip + (1-2*l.Clip)*p
}

// Cost returns log(P(join)/P(cut)) + log((1-b)/b) at the squared distance d2.
func (l Link) Cost(d2 float64) float64 {
	z := l.logit(d2)
	if l.Clip > 0 {
		join, cut := sigmoid(z), sigmoid(-z)
		z = math.Log((l.Clip + float64((1-float64(2*l.Clip))*join)) / (l.Clip + float64((1-float64(2*l.Clip))*cut)))
	}
	return z + l.shift()
}

// logit returns that of P(join) before clipping and bias.
func (l Link) logit(d2 float64) float64 {
	switch l.Kind {
	case OnSquared: // exactly 0 at the threshold
		return l.Scale * (float64(l.Tau*l.Tau) - d2)
	case OnDistance:
		return l.Scale * (l.Tau - math.Sqrt(d2))
	}
	if !l.squared() {
		d2 = math.Sqrt(d2)
	}
	return l.Intercept + float64(l.Slope*d2)
}

func sigmoid(z float64) float64 {
	if z < 0 {
		e := math.Exp(z)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-z))
}

// Threshold returns the distance d (not squared) at which the cost is 0: nearer
// pairs belong together. It is 0 or NaN where no pair at d > 0 does, and +Inf where
// all do (a bias beyond what Clip leaves).
func (l Link) Threshold() float64 {
	shift := l.shift()
	if shift != 0 && l.Clip > 0 {
		// The unclipped P(join) whose clipped odds cancel the bias.
		b := l.Bias
		join := (b - l.Clip) / (1 - 2*l.Clip)
		switch {
		case join <= 0:
			return math.Inf(1)
		case join >= 1:
			return math.NaN()
		}
		shift = -math.Log(join / (1 - join))
	}
	if shift == 0 && l.Kind != KindFitted {
		return l.Tau
	}
	a, b := l.line()
	u := (a + shift) / -b
	switch {
	case u < 0:
		return math.NaN()
	case l.squared():
		return math.Sqrt(u)
	}
	return u
}

// Factors returns the threshold and scale with which every cost is exactly
// scale (tau^2 - d^2), a bias included, so that the multicut of the complete graph
// needs no edges (reference section 3.5). Where that is not so ok is false and why
// completes the sentence "the costs do not factorize: ...".
func (l Link) Factors() (tau, scale float64, ok bool, why string) {
	if !l.squared() {
		return 0, 0, false, "the link is on the distance d; only costs linear in d^2 factorize"
	}
	if l.Clip > 0 {
		return 0, 0, false, fmt.Sprintf("probabilities are clipped at %v, which bends the costs; leave the clip out", l.Clip)
	}
	tau = l.Threshold()
	if !(tau > 0) {
		return 0, 0, false, "no distance is small enough for two points to belong together; raise the threshold or lower the bias"
	}
	_, b := l.line()
	return tau, -b, true, ""
}
