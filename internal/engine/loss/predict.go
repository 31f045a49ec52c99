package loss

import (
	"fmt"
	"math"

	"tercet/internal/engine/kernel"
)

// PairRule predicts whether two embeddings are similar: where their Euclidean
// distance is below At or, with Cosine, where their cosine is above At (DIBS, eqs.
// 20 and 23). At the border itself a pair is different: two embeddings whose pair is
// labeled both ways and that come to rest there make one error of two either way.
type PairRule struct {
	Cosine bool
	At     float64
	// Paper takes the cosine of the cosine, as CosineOfCosine does: then those are
	// similar whose cosine is near 0.
	Paper bool
}

// Score returns the number that is held against At: the Euclidean distance of x and
// y (D), or their cosine, which is 0 where one of them is 0.
func (r PairRule) Score(x, y []float32) float64 {
	if !r.Cosine {
		return math.Sqrt(kernel.SquaredDistance(x, y))
	}
	c := kernel.Dot(x, y)
	if l := math.Sqrt(kernel.SumSquares(x)) * math.Sqrt(kernel.SumSquares(y)); l > 0 {
		c /= l
	}
	if r.Paper {
		return math.Cos(c)
	}
	return c
}

// Similar predicts for x and y (D). Embeddings with NaN are similar to none.
func (r PairRule) Similar(x, y []float32) bool {
	s := r.Score(x, y)
	return r.Cosine && s > r.At || !r.Cosine && s < r.At
}

// String states the rule, as in "similar where the distance is below 0.5".
func (r PairRule) String() string {
	switch {
	case r.Paper:
		return fmt.Sprintf("similar where the cosine of the cosine is above %.6g", r.At)
	case r.Cosine:
		return fmt.Sprintf("similar where the cosine is above %.6g", r.At)
	}
	return fmt.Sprintf("similar where the distance is below %.6g", r.At)
}
