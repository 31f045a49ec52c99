package loss

import "fmt"

// pairTerm is what one pair contributes: its value, the slope of the value with
// respect to the number that the pair is evaluated by, its distance for the log, and
// whether its gradient is not zero.
type pairTerm struct {
	value, slope, distance float64
	active                 bool
}

// pairSums adds the terms of a batch's pairs up.
type pairSums struct {
	res                Result
	positive           int // pairs of positive value
	similar, different int
}

func (s *pairSums) add(p Pair, t pairTerm) {
	s.res.Tuples++
	s.res.Loss += t.value
	if t.value > 0 {
		s.positive++
	}
	if t.active {
		s.res.Active++
	}
	if p.Similar {
		s.res.Positive += t.distance
		s.similar++
	} else {
		s.res.Negative += t.distance
		s.different++
	}
}

// finish returns the result and the factor of every slope.
func (s *pairSums) finish(r Reduction) (Result, float64) {
	scale := r.scale(s.res.Tuples, s.positive)
	s.res.Loss *= scale
	if s.similar > 0 {
		s.res.Positive /= float64(s.similar)
	}
	if s.different > 0 {
		s.res.Negative /= float64(s.different)
	}
	return s.res, scale
}

// checkPairs returns an error naming the first pair that leaves the batch.
func checkPairs(pairs []Pair, rows int) error {
	for i, p := range pairs {
		for _, r := range [2]int32{p.I, p.J} {
			if r < 0 || int(r) >= rows {
				return fmt.Errorf("loss: pair %d (%d, %d): row %d is outside the batch of %d", i, p.I, p.J, r, rows)
			}
		}
	}
	return nil
}
