package theory

import (
	"fmt"

	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/record/printed"
)

// The ways to say how much noise there is.
const (
	GivenSLN       = "sln"       // q: a label is drawn again from all classes
	GivenRate      = "rate"      // a label becomes another class's
	GivenPLN       = "pln"       // q~: a pair's label is replaced by a fair coin
	GivenEffective = "effective" // P: a balanced pair is labeled wrongly
	GivenFlips     = "flips"     // rho: positive and negative of a triplet change places
)

func weights(w record.TripletWeights) printed.NoiseWeights {
	p := noise.Product(w)
	return printed.NoiseWeights{TripletWeights: w, Product: printed.Product{W11: p.W11, W10: p.W10, W01: p.W01, W00: p.W00}, Contrast: w.Contrast()}
}

// Match says what noise of one kind, value of it given, amounts to in all others.
// Labels are those of classes of equal size; similar is the clean share of similar
// pairs that pair noise works on, 1/2 where they are balanced.
//
// Errors: fewer than two classes; a similar share outside (0, 1); a value outside
// [0, 1], or outside [0, 1/2] for P and rho.
func Match(given string, value float64, classes int, similar float64) (*printed.MatchedNoise, error) {
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

	m := &printed.MatchedNoise{Given: given, Value: value, Classes: classes, Similar: similar, Effective: value}
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
	m.SLN = printed.LabelNoise{Q: q, Rate: q * (k - 1) / k, NoiseWeights: weights(noise.SLNTriplets(q, classes))}
	m.PLN = printed.LabelNoise{Q: 2 * p, Rate: p, NoiseWeights: weights(noise.PLNTriplets(p, similar))}
	m.Flips = printed.OrderNoise{Rho: p, NoiseWeights: weights(noise.OrderFlips(p))}
	return m, nil
}
