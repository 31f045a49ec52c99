package theory

import (
	"fmt"

	"tercet/internal/noise"
	"tercet/internal/record"
)

// The ways to say how much noise there is.
const (
	GivenSLN       = "sln"       // q: a label is drawn again from all classes
	GivenRate      = "rate"      // a label becomes another class's
	GivenPLN       = "pln"       // q~: a pair's label is replaced by a fair coin
	GivenEffective = "effective" // P: a balanced pair is labeled wrongly
	GivenFlips     = "flips"     // rho: positive and negative of a triplet change places
)

// Matched is noise of three kinds that compare: on labels and on pairs with the same
// effective noise P, and on the order of triplets with the same contrast 1-2P.
type Matched struct {
	Given     string     `json:"given"` // one of the ways
	Value     float64    `json:"value"` // of it
	Classes   int        `json:"classes"`
	Similar   float64    `json:"similar"`   // clean share of similar pairs, for pln
	Effective float64    `json:"effective"` // P
	SLN       LabelNoise `json:"sln"`
	PLN       LabelNoise `json:"pln"`
	Flips     OrderNoise `json:"flips"`
}

// LabelNoise is noise on labels (SLN) or on pair labels (PLN).
type LabelNoise struct {
	Q    float64 `json:"q"`    // q, or the paper's q~: the probability of being drawn again
	Rate float64 `json:"rate"` // the probability of being changed
	Weights
}

// OrderNoise is noise on the order of triplets.
type OrderNoise struct {
	Rho float64 `json:"rho"` // the probability that p and n change places
	Weights
}

// Weights says how often a triplet is right: as it is, and with the errors of its two
// pairs taken as independent.
type Weights struct {
	record.TripletWeights         // w11 and the others are joint probabilities
	Product               Product `json:"product"`
	Contrast              float64 `json:"contrast"` // w11 - w00 = beta + gamma - 1: the share of the signal that is left
}

// Product is the weights as products: w11 = beta gamma and so on.
type Product struct {
	W11 float64 `json:"w11"`
	W10 float64 `json:"w10"`
	W01 float64 `json:"w01"`
	W00 float64 `json:"w00"`
}

func weights(w record.TripletWeights) Weights {
	p := noise.Product(w)
	return Weights{w, Product{p.W11, p.W10, p.W01, p.W00}, w.Contrast()}
}

// Match says what noise of one kind, value of it given, amounts to in all others.
// Labels are those of classes of equal size; similar is the clean share of similar
// pairs that pair noise works on, 1/2 where they are balanced.
//
// Errors: fewer than two classes; a similar share outside (0, 1); a value outside
// [0, 1], or outside [0, 1/2] for P and rho.
func Match(given string, value float64, classes int, similar float64) (*Matched, error) {
	if classes < 2 {
		return nil, fmt.Errorf("%w: number of classes is %d; noise on labels needs two or more", ErrInput, classes)
	}
	if !(similar > 0 && similar < 1) {
		return nil, fmt.Errorf("%w: share of similar pairs is %v, want a number between 0 and 1: triplets need pairs of both kinds", ErrInput, similar)
	}
	largest, why := 1.0, ""
	switch given {
	case GivenSLN, GivenRate, GivenPLN:
	case GivenEffective:
		largest, why = 0.5, ": labels without information are wrong for half of the pairs"
	case GivenFlips:
		largest, why = 0.5, ": where more than half are exchanged, exchange them all"
	default:
		return nil, fmt.Errorf("%w: noise cannot be given as %q", ErrInput, given)
	}
	if !(value >= 0 && value <= largest) {
		return nil, fmt.Errorf("%w: %s is %v, want a number from 0 to %v%s", ErrInput, given, value, largest, why)
	}

	m := &Matched{Given: given, Value: value, Classes: classes, Similar: similar, Effective: value}
	q := -1.0 // where it is not given but follows from P
	switch given {
	case GivenSLN:
		q = value
	case GivenRate:
		q = noise.SLNFromRate(value, classes)
	case GivenPLN:
		m.Effective = noise.PLNEffective(value)
	}
	if q >= 0 {
		m.Effective = noise.SLNEffective(q)
	} else {
		var err error
		if q, err = noise.SLNFromEffective(m.Effective); err != nil {
			return nil, err
		}
	}
	p, k := m.Effective, float64(classes)
	m.SLN = LabelNoise{q, q * (k - 1) / k, weights(noise.SLNTriplets(q, classes))}
	m.PLN = LabelNoise{2 * p, p, weights(noise.PLNTriplets(p, similar))}
	m.Flips = OrderNoise{p, weights(noise.OrderFlips(p))}
	return m, nil
}
