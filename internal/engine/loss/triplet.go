package loss

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
)

// Form names the function of h = margin + d(a,p) - d(a,n) that a triplet costs.
type Form string

const (
	// Hinge is max(0, h): Schroff et al., FaceNet, CVPR 2015, eq. 3.
	Hinge Form = "hinge"
	// Soft is log(1 + exp(h)): Hermans et al., In Defense of the Triplet Loss,
	// 2017, section 2 (there with margin 0).
	Soft Form = "soft"
)

// TripletOptions configures a TripletLoss.
type TripletOptions struct {
	Distance Distance
	Form     Form
	Margin   float64 // gamma >= 0, in units of the distance
	Reduce   Reduction
	// Eps is added to every coordinate difference inside the Euclidean distance.
	// 1e-6 is what PyTorch's triplet_margin_loss, and so robrank, uses; 0 gives
	// the plain distance, whose gradient at identical points is 0.
	Eps float64
}

// TripletDefaults returns the loss of the hardness-manipulation paper: hinge on
// Euclidean distance, margin 0.2 (for embeddings of length 1), mean, eps 1e-6.
func TripletDefaults() TripletOptions {
	return TripletOptions{Distance: Euclidean, Form: Hinge, Margin: 0.2, Reduce: Mean, Eps: 1e-6}
}

// TripletLoss is the triplet loss: the reduced sum over triplets (a, p, n) of
// f(margin + d(a,p) - d(a,n)). On squared distances, with Hinge, it is the loss L1 of
// Ho et al. (ICPR 2020), whose alpha is the margin; for L2 and L3 see CappedLoss and
// ThresholdLoss. It serves one goroutine at a time.
type TripletLoss struct {
	o TripletOptions
	t termTriplets
}

// NewTriplet returns the loss, or an error naming the option that is wrong.
func NewTriplet(o TripletOptions) (*TripletLoss, error) {
	if err := o.Distance.validate(); err != nil {
		return nil, err
	}
	if err := o.Reduce.validate(); err != nil {
		return nil, err
	}
	if o.Form != Hinge && o.Form != Soft {
		return nil, fmt.Errorf("loss: unknown form %q (valid: hinge, soft)", string(o.Form))
	}
	if !(o.Margin >= 0) || math.IsInf(o.Margin, 0) {
		return nil, fmt.Errorf("loss: margin is %v, want a finite number >= 0", o.Margin)
	}
	if !(o.Eps >= 0) || o.Eps > 1e-2 {
		return nil, fmt.Errorf("loss: eps is %v, want a number from 0 to 0.01", o.Eps)
	}
	l := &TripletLoss{o: o}
	l.t = newTermTriplets(o.Distance, o.Eps, o.Reduce, &l.o)
	return l, nil
}

// Margin returns gamma.
func (l *TripletLoss) Margin() float64 { return l.o.Margin }

// Eval implements Objective on t.Triplets. A triplet is active when f has a
// non-zero slope: h > 0 for Hinge (at h = 0 the slope is taken as 0), always for
// Soft unless the slope underflows.
func (l *TripletLoss) Eval(z *array.Array, t *Tuples, grad *array.Array) (Result, error) {
	return l.t.eval(z, t.Triplets, grad)
}

// run implements termRun.
func (o *TripletOptions) run(ts []Triplet, dist, coef []float64) Result {
	margin := o.Margin
	var res Result
	for _, t := range ts {
		ap, an := dist[t.P], dist[t.N]
		res.Positive += ap
		res.Negative += an
		if h := margin + ap - an; o.Form == Hinge {
			if h > 0 {
				res.Active++
				res.Loss += h
				coef[t.P]++
				coef[t.N]--
			}
		} else {
			value, slope := o.Form.at(h)
			if slope > 0 {
				res.Active++
			}
			res.Loss += value
			coef[t.P] += slope
			coef[t.N] -= slope
		}
	}
	return res
}

// at returns f(h) and f'(h).
func (f Form) at(h float64) (value, slope float64) {
	if f == Soft {
		// max(h,0) + log1p(exp(-|h|)) does not overflow.
		e := math.Exp(-math.Abs(h))
		if h > 0 {
			return h + math.Log1p(e), 1 / (1 + e)
		}
		return math.Log1p(e), e / (1 + e)
	}
	if h > 0 {
		return h, 1
	}
	return 0, 0
}
