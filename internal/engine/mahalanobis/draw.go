package mahalanobis

import "tercet/internal/rng"

// Index is a triplet of a Problem: positives I != J, of which I is the anchor, and
// the negative K.
type Index struct{ I, J, K int32 }

// DrawIndices draws n triplets as SGD does (eq. 3): (i, j) uniform among ordered
// pairs of different positives, k uniform among negatives. The sequence depends on
// the numbers, the seed and the stream's name alone, so that a sample in which a
// point is replaced meets the same one. It wants two positives and one negative, as
// any Problem has.
func DrawIndices(nPos, nNeg, n int, seed uint64, stream string) []Index {
	r := rng.New(seed, stream)
	out := make([]Index, n)
	for t := range out {
		out[t] = drawIndex(r, nPos, nNeg)
	}
	return out
}

func drawIndex(r *rng.Stream, nPos, nNeg int) Index {
	i, j := r.IntN(nPos), r.IntN(nPos-1)
	if j >= i {
		j++
	}
	return Index{int32(i), int32(j), int32(r.IntN(nNeg))}
}

// Margin returns u = h_w(x+_i, x+_j) - h_w(x+_i, x-_k) + zeta of one triplet.
func Margin(p *Problem, theta []float64, t Index, zeta float64) float64 {
	x := p.pos(int(t.I))
	return form(theta, x, p.pos(int(t.J))) - form(theta, x, p.neg(int(t.K))) + zeta
}

// MeanLoss returns the mean loss of the triplets t; 0 for none.
func MeanLoss(p *Problem, l Loss, theta []float64, t []Index) float64 {
	sum := 0.0
	for _, index := range t {
		v, _, _ := l.At(Margin(p, theta, index, l.Zeta))
		sum += v
	}
	return sum / float64(max(len(t), 1))
}
