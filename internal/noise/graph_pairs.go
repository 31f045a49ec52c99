package noise

import (
	"fmt"
	"slices"

	"tercet/internal/data/batch"
	"tercet/internal/rng"
)

// chains returns the pairs of Algorithm 1 from the classes' lists, each of two items or
// more: for each item, in order, one similar pair with the next of its class (of two
// items both ways) and one different pair.
func chains(lists [][]int32, random bool, s *rng.Stream) []batch.Pair {
	var pairs []batch.Pair
	for c, l := range lists {
		for k, i := range l {
			other := lists[(c+1+s.IntN(len(lists)-1))%len(lists)]
			at := k % len(other)
			if random {
				at = s.IntN(len(other))
			}
			pairs = append(pairs,
				batch.Pair{I: i, J: l[(k+1)%len(l)], Similar: true},
				batch.Pair{I: i, J: other[at]})
		}
	}
	return pairs
}

// pick returns o.Pairs of the pairs, half of them labeled similar, drawn without
// replacement, in the order that they had.
func (o GraphOptions) pick(pairs []batch.Pair, flipped []bool) ([]batch.Pair, []bool, error) {
	s := rng.New(o.Seed, "noise/graph/selection", o.Draw)
	var chosen []int32
	for _, similar := range []bool{false, true} {
		var of []int32
		for i, p := range pairs {
			if p.Similar == similar {
				of = append(of, int32(i))
			}
		}
		if len(of) < o.Pairs/2 {
			return nil, nil, fmt.Errorf("noise: pair graph: %d pairs are %d of each label, and of %d pairs only %d are labeled %s; ask for at most %d", o.Pairs, o.Pairs/2, len(pairs), len(of), word(similar), 2*min(len(of), len(pairs)-len(of)))
		}
		choose(of, o.Pairs/2, s)
		chosen = append(chosen, of[:o.Pairs/2]...)
	}
	slices.Sort(chosen)
	outP, outF := make([]batch.Pair, len(chosen)), make([]bool, len(chosen))
	for i, at := range chosen {
		outP[i], outF[i] = pairs[at], flipped[at]
	}
	return outP, outF, nil
}

func word(similar bool) string {
	if similar {
		return "similar"
	}
	return "different"
}
