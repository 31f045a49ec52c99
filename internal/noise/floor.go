package noise

import (
	"cmp"
	"math"
	"slices"

	"tercet/internal/data/batch"
)

// FloorDuplicates returns the least number of errors that a symmetric function of two
// images makes on the pairs: for each couple of images, the lesser of the numbers of
// pairs that label it similar and different; of an image paired with itself, at distance 0,
// those labeled different. A threshold on distances can reach it; a clustering mostly
// cannot.
func FloorDuplicates(pairs []batch.Pair) int {
	errors := 0
	couples(pairs, func(at []int32) {
		similar := 0
		for _, i := range at {
			if pairs[i].Similar {
				similar++
			}
		}
		wrong := len(at) - similar
		if p := pairs[at[0]]; p.I != p.J {
			wrong = min(wrong, similar)
		}
		errors += wrong
	})
	return errors
}

// Floor returns the share of pairs that FloorDuplicates is expected to count in a dense
// graph with same-index negatives and classes of equal size, when pair labels flip with
// probability p: p(1-p)/(2(K-1)), the lower bound of Fonseca & Guidetti's Theorem 1.
// NaN for p outside [0, 1] or fewer than two classes.
func Floor(p float64, classes int) float64 {
	if !isProbability(p) || classes < 2 {
		return math.NaN()
	}
	return p * (1 - p) / (2 * float64(classes-1))
}

// couples calls f for each couple of images that occurs, with the places of its pairs,
// in order. f does not keep at.
func couples(pairs []batch.Pair, f func(at []int32)) {
	type place struct {
		key uint64
		at  int32
	}
	places := make([]place, len(pairs))
	for i, p := range pairs {
		places[i] = place{uint64(uint32(min(p.I, p.J)))<<32 | uint64(uint32(max(p.I, p.J))), int32(i)}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return cmp.Compare(a.at, b.at)
	})
	order := make([]int32, len(pairs))
	for i, p := range places {
		order[i] = p.at
	}
	for lo := 0; lo < len(places); {
		hi := lo + 1
		for hi < len(places) && places[hi].key == places[lo].key {
			hi++
		}
		f(order[lo:hi])
		lo = hi
	}
}
