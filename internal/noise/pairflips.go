package noise

import (
	"fmt"
	"math"

	"tercet/internal/data/batch"
	"tercet/internal/rng"
)

// WrongPairs says how probable it is that a pair's label is wrong.
type WrongPairs struct {
	Similar   float64 // of a pair that is similar before noise
	Different float64 // of a pair that is different before noise
}

// Coins are the wrong labels that are left where each label is replaced by a fair coin with
// probability q: q/2 of either (Fonseca & Guidetti, eq. 10).
func Coins(q float64) WrongPairs { return WrongPairs{q / 2, q / 2} }

// wrongOf returns the probabilities at which, of pairs that are as often similar as
// different, a share beta of those labeled similar and a share gamma of those labeled
// different are right. Both must lie above 1/2 and at most at 1, so that no label carries
// the opposite of what it says: else an error.
//
// Of all pairs a share L = (2 gamma - 1) / (2 (beta + gamma - 1)) is then labeled similar.
func wrongOf(beta, gamma float64) (WrongPairs, error) {
	if !(beta > 0.5 && beta <= 1) || !(gamma > 0.5 && gamma <= 1) {
		return WrongPairs{}, fmt.Errorf("noise: beta %v and gamma %v: each must be above 0.5 and at most 1", beta, gamma)
	}
	labeled := (2*gamma - 1) / (2 * (beta + gamma - 1))
	return WrongPairs{Similar: decimal(1 - float64(2*beta*labeled)), Different: decimal(2 * (1 - beta) * labeled)}, nil
}

// decimal drops what binary fractions add to a difference of decimal ones, so that reports
// say 0.2 for 1 - 0.8.
func decimal(p float64) float64 { return math.Round(p*1e12) / 1e12 }

// Effective is the share of wrong labels among pairs that are as often similar as different.
func (w WrongPairs) Effective() float64 { return (w.Similar + w.Different) / 2 }

func (w WrongPairs) check() error {
	if err := checkProbability("pair graph: noise on similar pairs", w.Similar); err != nil {
		return err
	}
	return checkProbability("pair graph: noise on different pairs", w.Different)
}

// FlipPairs changes labels of pairs with the probabilities w, and says which have changed.
// Each pair takes the same numbers of s whatever w is, so that what is wrong at one
// probability is wrong at every higher one.
func FlipPairs(pairs []batch.Pair, w WrongPairs, s *rng.Stream) []bool {
	flipped := make([]bool, len(pairs))
	for i := range pairs {
		u, coin := s.Float64(), s.Uint64()&1 == 1
		p := w.Different
		if pairs[i].Similar {
			p = w.Similar
		}
		// A coin that falls on the other label counts first, up to p = 1/2; beyond, the
		// coin that falls on this one too.
		reach := 2 * p
		if coin == pairs[i].Similar {
			reach--
		}
		if u < reach {
			flipped[i], pairs[i].Similar = true, !pairs[i].Similar
		}
	}
	return flipped
}
