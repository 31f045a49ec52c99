package noise

import (
	"errors"
	"math"

	"tercet/internal/data/batch"
	"tercet/internal/record"
	"tercet/internal/stat"
)

// The methods of estimates.
const (
	Contradictions = "contradictions"
	LossMixture    = "loss-mixture"
)

// FromContradictions estimates the flip probability P of pair-label noise from couples
// of images that are paired more than once: two labels of one couple, flipped
// independently, differ with probability 2P(1-P). Each couple's labels are compared two
// by two, in order, so that comparisons are independent; the interval is Wilson's,
// carried over to P. When more than half of the labels differ, P is 1/2.
//
// Label noise gives a couple the same label each time: it cannot be seen here, and a P of
// 0 does not say that there is none. Pairs without a couple that occurs twice, as random
// negatives mostly leave them, are an error.
func FromContradictions(pairs []batch.Pair) (record.NoiseEstimate, error) {
	e := record.NoiseEstimate{Method: Contradictions}
	couples(pairs, func(at []int32) {
		for i := 1; i < len(at); i += 2 {
			e.N++
			if pairs[at[i]].Similar != pairs[at[i-1]].Similar {
				e.Contradictions++
			}
		}
	})
	if e.N == 0 {
		return record.NoiseEstimate{}, errors.New("noise: no image pair is listed twice, so no label can contradict another: cannot estimate the noise this way; estimate it from losses, or use same-index negatives")
	}
	ci := stat.Wilson(e.Contradictions, e.N)
	e.P = flipOf(float64(e.Contradictions) / float64(e.N))
	e.CI95 = [2]float64{flipOf(ci[0]), flipOf(ci[1])}
	return e, nil
}

// flipOf returns the P up to 1/2 at which two labels differ with probability c.
func flipOf(c float64) float64 {
	if c >= 0.5 {
		return 0.5
	}
	return c / (1 + math.Sqrt(1-2*c))
}
