package worst

import (
	"math"
	"slices"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// visible is how many of the nearest rows an attack that sees ranks looks at, besides the
// rank of the first wrong one.
const visible = 100

// rankWeight is the weight of a rank against a wrong row at the first place.
const rankWeight = 1e-3

// squareRank is Square where the attacker sees the ordered list of rows and no distance.
func (r *runner) squareRank(b *batch) error { return r.squares(b, true) }

// rankScores searches for z and writes for each query rankWeight times the rank of its first
// wrong row, less the wrong rows among the visible first ones, each over the logarithm of its
// rank plus 1: what an attacker lowers who sees ranks alone. The former carries the signal
// where labels have many rows, the latter where they have few.
func rankScores(f field, z *array.Array, out []float64) []float64 {
	f.find(z, f.depth())
	ranks := make([]int, z.Rows())
	par.Each(len(ranks), 1, func(i int) {
		if wrong := f.wrong(i); len(wrong) > 0 {
			ranks[i] = 1 + f.ahead(i, z.Row(i), wrong[0])
		}
	})
	out = out[:0]
	for _, n := range ranks {
		out = append(out, rankWeight*float64(n))
	}
	if !slices.ContainsFunc(ranks, func(n int) bool { return n <= visible }) {
		return out // no wrong row is among the first: the lists have nothing to add
	}
	f.find(z, max(visible, f.depth()))
	for i := range out {
		out[i] -= gain(f.right(i), f.wrong(i))
	}
	return out
}

// gain is the sum over the wrong rows among the visible first ones.
func gain(right, wrong []retrieval.Neighbor) (sum float64) {
	for place := 1; place <= visible && len(wrong) > 0; place++ {
		if len(right) > 0 && right[0].Compare(wrong[0]) < 0 {
			right = right[1:]
			continue
		}
		wrong = wrong[1:]
		sum += 1 / math.Log2(float64(place)+1)
	}
	return sum
}
