package mine

import (
	"math"

	"tercet/internal/rng"
)

// pickDistanceWeighted draws negative n with probability proportional to 1/q(d_an),
// where q is the density of the distance of two random points on the unit sphere
// (Wu et al., Sampling Matters, ICCV 2017, eq. 6):
//
//	log 1/q(d) = (2-D) ln d - (D-3)/2 ln(1 - d^2/4)
//
// As in robrank, d is not clipped from below unless Cutoff asks for it; a weight
// that is not a number (d > 2: not on the sphere) counts as 0, an infinite one (d
// = 0) makes all 0; if all weights are 0 the draw is uniform over the whole batch,
// the anchor's own class included, and counts as a fallback. The embeddings must have length 1 (model or Normalize).
func pickDistanceWeighted(b *batch, a, p int, r *rng.Stream) (pos, neg int, fell bool) {
	b.weights = grow(b.weights, b.rows)
	top := math.Inf(-1)
	for j := range b.weights {
		b.weights[j] = math.NaN()
		if b.other(a, j) {
			w := logInverseDensity(max(b.d(a, j), b.o.Cutoff), b.dim)
			b.weights[j] = w
			if w > top { // false for NaN
				top = w
			}
		}
	}
	var sum float64
	for j, w := range b.weights {
		w = math.Exp(w - top)
		if math.IsNaN(w) {
			w = 0
		}
		b.weights[j] = w
		sum += w
	}
	if sum == 0 {
		return p, r.IntN(b.rows), true
	}
	u := r.Float64() * sum
	last := -1
	for j, w := range b.weights {
		if w == 0 {
			continue
		}
		last = j
		if u < w {
			break
		}
		u -= w
	}
	return p, last, false
}

// logInverseDensity returns log 1/q(d) up to a constant.
func logInverseDensity(d float64, dim int) float64 {
	n := float64(dim)
	return (2-n)*math.Log(d) - (n-3)/2*math.Log(1-d*d/4)
}
