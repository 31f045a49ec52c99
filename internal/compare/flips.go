package compare

import (
	"math"

	"tercet/internal/par"
	"tercet/internal/rng"
)

// exactUpTo is up to how many differences that are not 0 all sign flips are made.
const exactUpTo = 16

// flipTest is the p value of the two-sided permutation test of paired differences: were
// the two sides exchangeable, each difference could as well have the other sign. It is the
// share of sign flips that give a sum at least as large in size; all 2^n flips where at
// most exactUpTo differences are not 0, else random ones, with the one found among them:
// (1 + hits) / (1 + flips) (Phipson and Smyth, 2010). It is 1 where all differences are 0,
// and 0 where flips is 0: no test is made.
func flipTest(d []float64, flips int, seed uint64) float64 {
	if flips == 0 {
		return 0
	}
	var moved []float64
	sum, size := 0.0, 0.0
	for _, v := range d {
		if v != 0 {
			moved = append(moved, v)
			sum += v
			size += math.Abs(v)
		}
	}
	if moved == nil {
		return 1
	}
	least := math.Abs(sum) - float64(1e-12*size) // sums in another order
	if len(moved) <= exactUpTo {
		return exactFlips(moved, least)
	}
	hits := make([]int, flips)
	par.For(flips, 16, func(lo, hi int) {
		var s rng.Stream
		for f := lo; f < hi; f++ {
			s.Reset(seed, "compare/flips", uint64(f))
			if math.Abs(flipped(moved, &s)) >= least {
				hits[f] = 1
			}
		}
	})
	n := 0
	for _, h := range hits {
		n += h
	}
	return float64(1+n) / float64(1+flips)
}

// flipped is the sum of d with random signs.
func flipped(d []float64, s *rng.Stream) float64 {
	sum := 0.0
	var bits uint64
	for i, v := range d {
		if i%64 == 0 {
			bits = s.Uint64()
		}
		if bits&1 != 0 {
			v = -v
		}
		bits >>= 1
		sum += v
	}
	return sum
}

// exactFlips makes all sign flips.
func exactFlips(d []float64, least float64) float64 {
	all, hits := 1<<len(d), 0
	for mask := range all {
		sum := 0.0
		for i, v := range d {
			if mask>>i&1 != 0 {
				v = -v
			}
			sum += v
		}
		if math.Abs(sum) >= least {
			hits++
		}
	}
	return float64(hits) / float64(all)
}
