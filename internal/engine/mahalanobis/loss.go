package mahalanobis

import (
	"fmt"
	"math"
	"strings"

	"tercet/internal/names"
)

// The losses.
const (
	Logistic        = "logistic"
	LogisticPrinted = "logistic-printed"
	Hinge           = "hinge"
	LeastSquares    = "least-squares"
	Huber           = "huber"
)

var lossNames = []string{Logistic, LogisticPrinted, Hinge, LeastSquares, Huber}

// Loss is phi of eq. 6, a convex function of u = h_w(x+,x~+) - h_w(x+,x-) + zeta:
//
//	logistic          log(1 + exp(u))            Lipschitz and smooth
//	logistic-printed  log(1 + exp(-u))           Lipschitz and smooth
//	hinge             max(0, u)                  Lipschitz, not smooth
//	least-squares     u^2 / 2                    smooth, not Lipschitz
//	huber             u^2 / 2          |u| <= delta
//	                  delta (|u| - delta/2)  else    Lipschitz and smooth
//
// The paper prints eq. 6 with log(1 + exp(-u)), which falls in u: it rewards positives
// that are far away, against its own 0-1 loss 1{u >= 0}. logistic has the sign that
// learns; convexity and constants are those of the printed one. The other three are
// named in the paper (after Definition 3) without formulas. They are functions of the
// same u: hinge is the usual triplet loss with the margin zeta, and least squares and
// Huber want the gap between negative and positive to be zeta. With zeta <= 0 the best
// w of these three is 0.
type Loss struct {
	Name  string
	Zeta  float64 // zeta, the margin, in units of h_w
	Delta float64 // of huber: where it turns linear; else unused
}

// LossNames returns the names of the losses.
func LossNames() []string { return append([]string(nil), lossNames...) }

// NewLoss returns the loss of that name, or an error naming what is wrong: an
// unknown name, a zeta that is not finite (or not above 0 for hinge, least-squares
// and huber), a delta of huber that is not a finite number above 0.
func NewLoss(name string, zeta, delta float64) (Loss, error) {
	l := Loss{Name: name, Zeta: zeta}
	if name == Huber {
		l.Delta = delta
	}
	return l, l.check()
}

func (l Loss) check() error {
	switch {
	case math.IsNaN(l.Zeta) || math.IsInf(l.Zeta, 0):
		return fmt.Errorf("%w: zeta is %v, want a finite number", ErrInput, l.Zeta)
	case l.Name == Logistic || l.Name == LogisticPrinted:
		return nil
	case l.Name != Hinge && l.Name != LeastSquares && l.Name != Huber:
		hint := ""
		if c := names.Closest(l.Name, lossNames); c != "" {
			hint = "did you mean " + c + "? "
		}
		return fmt.Errorf("%w: unknown loss %q; %svalid: %s", ErrInput, l.Name, hint, strings.Join(lossNames, ", "))
	case l.Zeta <= 0:
		return fmt.Errorf("%w: %s with zeta %v has its least loss at w = 0 and learns nothing: give a margin zeta above 0, such as 1", ErrInput, l.Name, l.Zeta)
	case l.Name == Huber && (!(l.Delta > 0) || math.IsInf(l.Delta, 1)):
		return fmt.Errorf("%w: delta of huber is %v, want a finite number above 0", ErrInput, l.Delta)
	}
	return nil
}

// At returns phi and its first and second derivative at u. Where phi has a kink (hinge at 0) or phi' one,
// slope and curvature are those of the side below.
func (l Loss) At(u float64) (value, slope, curvature float64) {
	switch l.Name {
	case Logistic:
		return softplus(u)
	case LogisticPrinted:
		value, slope, curvature = softplus(-u)
		return value, -slope, curvature
	case Hinge:
		if u > 0 {
			return u, 1, 0
		}
		return 0, 0, 0
	case LeastSquares:
		return u * u / 2, u, 1
	case Huber:
		if math.Abs(u) <= l.Delta {
			return u * u / 2, u, 1
		}
		return l.Delta * (math.Abs(u) - float64(l.Delta/2)), math.Copysign(l.Delta, u), 0
	}
	panic("mahalanobis: a Loss that NewLoss did not make: " + l.Name)
}

// softplus returns log(1+e^u) and its two derivatives without overflow, and with
// their full relative accuracy for all u.
func softplus(u float64) (value, slope, curvature float64) {
	e := math.Exp(-math.Abs(u))
	s := 1 / (1 + e)
	value, slope, curvature = math.Log1p(e), s, e*s*s
	if u > 0 {
		return value + u, slope, curvature
	}
	return value, e * s, curvature
}

// Constants are what the bounds need to know of a loss, with respect to the
// Frobenius norm of w, for points with ||x|| <= B.
type Constants struct {
	L     float64 // Lipschitz; +Inf: it is not
	Alpha float64 // smoothness; +Inf: it is not smooth
}

// The choices of constants.
const (
	Paper = "paper"
	Tight = "tight"
)

// Constants returns L and alpha for points in the ball of that radius.
//
// The gradient of u is M = aa^T - bb^T with a = x+ - x~+ and b = x+ - x-. The paper
// bounds ||M|| <= 8B^2 (proof of Corollary 1); its largest value is 4B^2, which is
// tight. With ||M|| <= m, L = m sup|phi'| and alpha = m^2 c with c the largest second
// derivative. For the logistic losses the paper takes c = 1, so that L = 8B^2 and
// alpha = 64B^4; tight has 1/4, so that L = 4B^2 and alpha = 4B^4. The hinge is not
// smooth and has alpha = +Inf; least squares is not Lipschitz and has L = +Inf.
//
// Errors: a radius that is not a finite number above 0, another name than paper or
// tight.
func (l Loss) Constants(radius float64, which string) (Constants, error) {
	if err := l.check(); err != nil {
		return Constants{}, err
	}
	if !(radius > 0) || math.IsInf(radius, 1) {
		return Constants{}, fmt.Errorf("%w: radius B is %v, want a finite number above 0: L and alpha hold for ||x|| <= B", ErrInput, radius)
	}
	var m, logistic float64
	switch which {
	case Paper:
		m, logistic = 8*radius*radius, 1
	case Tight:
		m, logistic = 4*radius*radius, 0.25
	default:
		return Constants{}, fmt.Errorf("%w: unknown constants %q (valid: paper, tight)", ErrInput, which)
	}
	slope, curvature := 1.0, logistic
	switch l.Name {
	case Hinge:
		curvature = math.Inf(1)
	case LeastSquares:
		slope, curvature = math.Inf(1), 1
	case Huber:
		slope, curvature = l.Delta, 1
	}
	return Constants{L: m * slope, Alpha: m * m * curvature}, nil
}
