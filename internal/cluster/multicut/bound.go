package multicut

import (
	"math"
	"math/bits"
)

// Bound is a lower bound: no clustering's objective is less.
//
// It is safe against rounding: what the sums of float64 numbers may have lost, here
// and in Objective, is taken off, so that a clustering's measured objective is not
// below it either. Where the costs are multiples of a number large enough for exact
// sums (+1 and -1, say) nothing is taken off, and a bound is rounded up to the next
// objective that is possible.
type Bound struct {
	Value float64
	// Method is "trivial", "triangle packing", "cycle packing", "branch and bound", or
	// "unfinished branch and bound" where that was ended before a proof.
	Method string
	Margin float64 // what was taken off for rounding, here and in Objective
	Ended  bool    // a limit of work ended the packing: more would be possible
}

// Proves reports whether a clustering of this objective is known to be optimal: it costs
// no more than the bound, but for rounding, which is in both.
func (b Bound) Proves(objective float64) bool {
	return objective <= b.Value || objective-b.Value <= 4*b.Margin && Gap(objective, b.Value) <= 1e-9
}

// TrivialBound returns the sum of all negative costs.
func TrivialBound(c Costs) Bound {
	var s CostSum
	c.Each(func(_, _ int32, cost float64) { s.Add(cost) })
	return Bound{Value: s.Raise(s.Negative() - s.Margin()), Method: "trivial", Margin: s.Margin()}
}

// Gap returns (objective - bound)/|objective|, the part of the objective that an
// optimum may differ by. Where the objective is 0 it is 0 for a bound of 0 and 1 for
// a lower one.
func Gap(objective, bound float64) float64 {
	switch {
	case objective <= bound:
		return 0
	case objective == 0:
		return 1
	}
	return (objective - bound) / math.Abs(objective)
}

// CostSum measures a graph's costs: their sums, and whether float64 numbers add them
// up without an error.
type CostSum struct {
	count    int
	Size     float64 // sum of |cost|
	below    float64 // sum of min(0, cost), and what its additions lost
	lost     float64
	exponent int    // every cost is a multiple of 2^exponent times
	factor   uint64 // factor; 0 before the first cost other than 0
	ragged   bool   // their multiples do not fit a float64
}

// Add takes one cost into account.
func (s *CostSum) Add(cost float64) {
	s.count++
	if cost == 0 {
		return
	}
	s.Size += math.Abs(cost)
	if cost < 0 {
		// Neumaier (1974): the sum and its rounding error.
		t := s.below + cost
		if math.Abs(s.below) >= -cost {
			s.lost += s.below - t + cost
		} else {
			s.lost += cost - t + s.below
		}
		s.below = t
	}
	s.measure(math.Abs(cost))
}

// measure keeps the greatest common divisor of the costs.
func (s *CostSum) measure(cost float64) {
	if s.ragged {
		return
	}
	fraction, e := math.Frexp(cost)
	m := uint64(math.Ldexp(fraction, 53))
	zeros := bits.TrailingZeros64(m)
	m, e = m>>zeros, e-53+zeros
	if s.factor == 0 {
		s.factor, s.exponent = m, e
		return
	}
	// On the finer of the two grids.
	low := min(e, s.exponent)
	up, upSum := e-low, s.exponent-low
	if bits.Len64(m)+up > 63 || bits.Len64(s.factor)+upSum > 63 {
		s.ragged = true
		return
	}
	a, b := m<<up, s.factor<<upSum
	for b != 0 {
		a, b = b, a%b
	}
	s.factor, s.exponent = a, low
}

// exact reports whether every sum of these costs, in any order, is without error.
func (s *CostSum) exact() bool {
	return !s.ragged && s.Size <= math.Ldexp(1, 52+s.exponent)
}

// Negative returns the sum of the negative costs.
func (s *CostSum) Negative() float64 { return s.below + s.lost }

// Step returns the number that all objectives are multiples of, 0 where none is
// known.
func (s *CostSum) Step() float64 {
	if s.factor == 0 || !s.exact() {
		return 0
	}
	return math.Ldexp(float64(s.factor), s.exponent)
}

// Margin bounds the error of a sum of all costs, twice over.
func (s *CostSum) Margin() float64 {
	if s.exact() {
		return 0
	}
	return float64(s.count) * 0x1p-52 * s.Size
}

// Raise returns the least objective that is possible and not below bound. Where no
// cost is negative that is 0 or more, whatever the error of a sum.
func (s *CostSum) Raise(bound float64) float64 {
	if s.below == 0 {
		bound = max(0, bound)
	}
	if step := s.Step(); step > 0 {
		return float64(math.Ceil(bound/step)*step) + 0 // no -0
	}
	return bound
}
