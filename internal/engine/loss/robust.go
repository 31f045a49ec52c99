package loss

import (
	"fmt"

	"tercet/internal/component"
	"tercet/internal/engine/array"
)

func init() {
	Family.Register(component.Component[Options]{Name: "triplet-robust", Doc: "triplet loss for triplets that are wrong with known probability", Defaults: RobustDefaults()})
}

// RobustOptions are the keys of a RobustLoss, and the probabilities of wrong triplets
// that follow from them. Margin and temperature are in units of the distance; the form
// sigmoid has no margin.
type RobustOptions struct {
	Margin      float64        `yaml:"margin" check:">=0" doc:"alpha, the target gap between the two distances"`
	Distance    Distance       `yaml:"distance" enum:"squared|euclidean" doc:"squared Euclidean distance, as in the paper, or the distance itself"`
	Form        RobustForm     `yaml:"form" enum:"expected|backward|odd|sigmoid" doc:"expected: w1 max(0, alpha + D) + w2 max(0, alpha - D), eq. 4; backward: the same with -w2, over w1^2 - w2^2; odd: the two hinges' difference; sigmoid of D/temperature; D is d_ap - d_an"`
	Weights     string         `yaml:"weights" enum:"joint|product" doc:"where noise gives them: joint probabilities that both or none of the two are right, or, as in the paper, beta gamma and (1-beta)(1-gamma)"`
	Beta        component.Auto `yaml:"beta" check:">0,<=1" doc:"probability that a positive is of the anchor's class; auto follows from the noise, or from noise_from"`
	Gamma       component.Auto `yaml:"gamma" check:">0,<=1" doc:"probability that a negative is of another class; auto as for beta"`
	Rho         *float64       `yaml:"rho" check:">=0,<0.5" doc:"probability that positive and negative are exchanged, in place of beta and gamma: w1 = 1 - rho, w2 = rho; null is none"`
	NoiseFrom   string         `yaml:"noise_from" doc:"noise.json written by tercet noise: use beta and gamma for its estimated noise; empty: the noise of this config"`
	Temperature float64        `yaml:"temperature" check:">0" doc:"tau of form sigmoid"`
	// Rescale: the form expected then has slope 1 within the margin, as the plain loss,
	// and the expectation of odd and sigmoid under noise is, but for a constant, that on
	// clean triplets. The form backward is of that size as it is.
	Rescale bool      `yaml:"rescale" doc:"divide by w1 - w2, so that noise does not lower the learning rate"`
	Reduce  Reduction `yaml:"reducer" enum:"mean|sum|mean-nonzero" doc:"how triplets' losses become one number"`
	Eps     float64   `yaml:"eps" check:">=0" doc:"added to each coordinate difference inside the Euclidean distance, as PyTorch does"`

	// W1 is the probability that a triplet is right, W2 that its positive and
	// negative are exchanged: beta gamma and (1-beta)(1-gamma) where the labels of
	// positive and negative are wrong independently (the paper), the joint
	// probabilities where they are not. What is left of 1 is ambiguous: both are of
	// one class.
	W1, W2 float64 `yaml:"-"`
}

// RobustDefaults returns the paper's loss (eq. 4) at a margin of 0.2 for embeddings
// of length 1, mean, with the weights of no noise: the plain triplet loss on squared
// distances. The temperature is that of the margin.
func RobustDefaults() RobustOptions {
	return RobustOptions{Margin: 0.2, Distance: Squared, Form: RobustExpected, Weights: "joint", W1: 1, Temperature: 0.2, Reduce: Mean, Eps: 1e-6}
}

// Check implements component.Checker.
func (o RobustOptions) Check() []component.Fault {
	out := checkEps(o.Eps, 1e-2)
	fault := func(key, format string, args ...any) { out = append(out, component.Faultf(key, format, args...)) }
	if o.Form == RobustSigmoid && (o.Temperature < 1e-6 || o.Temperature > 1e6) {
		fault("temperature", "must be from 1e-6 to 1e6 with form sigmoid, is %s", component.Number(o.Temperature))
	}
	switch {
	case o.Beta.Given != o.Gamma.Given:
		fault("beta", "beta and gamma must be set together: set both to numbers or both to auto")
	case o.Beta.Given && o.Rho != nil:
		fault("rho", "is another way to say what beta and gamma say: set rho to null, or beta and gamma to auto")
	case o.Beta.Given && !(o.Beta.N+o.Gamma.N-1 > leastContrast):
		fault("beta", "beta + gamma is %s: at 1 the triplets carry no information; below 1 they are reversed more often than not; it must be above 1", component.Number(o.Beta.N+o.Gamma.N))
	case o.NoiseFrom != "" && (o.Beta.Given || o.Rho != nil):
		fault("noise_from", "is read for beta and gamma that are auto; remove it, or their numbers and rho")
	}
	return out
}

// Fit implements Fitter.
func (o RobustOptions) Fit(s Setting) (out []component.Fault) {
	if odds := o.Odds(); !odds.Given() {
		switch contrast, known := s.Contrast(odds.Product); {
		case !known:
			out = append(out, component.Faultf("beta", "auto does not follow from noise %s: set beta and gamma, or noise_from", s.Noise))
		case !(contrast > leastContrast):
			out = append(out, component.Faultf("beta", "beta + gamma is 1 under noise %s: triplets carry no information about classes; lower the noise", s.Noise))
		}
	}
	if (o.Form == RobustBackward || o.Form == RobustOdd) && !s.Normalized {
		out = append(out, component.Faultf("form", "%s has no lowest value on embeddings of any length: set model.normalize: true, or another form", o.Form))
	}
	return out
}

// New implements Options.
func (o RobustOptions) New() (Objective, error) { return NewRobust(o) }

// Takes implements Options.
func (RobustOptions) Takes() Kind { return Triplets }

// Squared implements OnSquares.
func (o RobustOptions) Squared() bool { return o.Distance == Squared }

// Summed implements Decomposable.
func (o RobustOptions) Summed() Options {
	o.Reduce = Sum
	return o
}

// Odds implements NoiseAware.
func (o RobustOptions) Odds() Odds {
	return Odds{o.Rho, o.Beta, o.Gamma, o.NoiseFrom, o.Weights == "product"}
}

// Weigh implements NoiseAware.
func (o RobustOptions) Weigh(w1, w2 float64) Options {
	o.W1, o.W2 = w1, w2
	return o
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
	if err := component.Err("loss triplet-robust", o); err != nil {
		return nil, err
	}
	if !(o.W1 >= 0 && o.W2 >= 0 && o.W1+o.W2 <= 1+1e-9) {
		return nil, fmt.Errorf("loss: triplet-robust: w1 is %v and w2 is %v, want the probabilities that a triplet is right and that it is reversed: both >= 0, together <= 1", o.W1, o.W2)
	}
	if !(o.W1-o.W2 > leastContrast) {
		return nil, fmt.Errorf("loss: triplet-robust: w1 is %v and w2 is %v: their difference, which is beta + gamma - 1, must be above 0; at 0 the triplets carry no information about the classes, below it they say the reverse more often than the truth", o.W1, o.W2)
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
