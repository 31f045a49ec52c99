package loss

import (
	"math"

	"tercet/internal/component"
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

func init() {
	Family.Register(component.Component[Options]{Name: "triplet", Doc: "triplet loss", Defaults: TripletDefaults()})
}

// TripletOptions are the keys of a TripletLoss. The margin is in units of the distance.
type TripletOptions struct {
	Margin   float64   `yaml:"margin" check:">=0" doc:"gamma, the target gap between the two distances"`
	Distance Distance  `yaml:"distance" enum:"euclidean|squared" doc:"Euclidean distance or its square, with which the loss is L1 of Ho et al., alpha the margin"`
	Form     Form      `yaml:"form" enum:"hinge|soft" doc:"hinge max(0, x) or soft log(1 + exp(x))"`
	Reduce   Reduction `yaml:"reducer" enum:"mean|sum|mean-nonzero" doc:"how triplets' losses become one number"`
	// 1e-6 is what PyTorch's triplet_margin_loss, and so robrank, uses; 0 gives the
	// plain distance, whose gradient at identical points is 0.
	Eps float64 `yaml:"eps" check:">=0" doc:"added to each coordinate difference inside the Euclidean distance, as PyTorch does"`
}

// TripletDefaults returns the loss of the hardness-manipulation paper: hinge on
// Euclidean distance, margin 0.2 (for embeddings of length 1), mean, eps 1e-6.
func TripletDefaults() TripletOptions {
	return TripletOptions{Distance: Euclidean, Form: Hinge, Margin: 0.2, Reduce: Mean, Eps: 1e-6}
}

// Check implements component.Checker.
func (o TripletOptions) Check() []component.Fault { return checkEps(o.Eps, 1e-2) }

// New implements Options.
func (o TripletOptions) New() (Objective, error) { return NewTriplet(o) }

// Takes implements Options.
func (TripletOptions) Takes() Kind { return Triplets }

// Squared implements OnSquares.
func (o TripletOptions) Squared() bool { return o.Distance == Squared }

// Summed implements Decomposable.
func (o TripletOptions) Summed() Options {
	o.Reduce = Sum
	return o
}

// Supremum implements Bounded.
func (o TripletOptions) Supremum(unit bool) (float64, bool) {
	v, _ := o.Form.at(o.Margin + o.Distance.farthest())
	return v, unit
}

// AgainstMargin implements the interface of that name.
func (o TripletOptions) AgainstMargin() (out []component.Fault) {
	if o.Reduce != Mean {
		out = append(out, component.Faultf("reducer", "compares the loss with u, a mean over all triplets: set mean"))
	}
	if o.Distance != Euclidean || o.Form != Hinge {
		out = append(out, component.Faultf("name", "compares the loss with the margin: set loss.distance: euclidean and loss.form: hinge"))
	}
	return out
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
	l := &TripletLoss{o: o}
	l.t = newTermTriplets(o.Distance, o.Eps, o.Reduce, &l.o)
	return Checked("triplet", o, l)
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
