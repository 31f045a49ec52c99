package adversary

import "math"

// stall ends crafting when the objective stands still: it makes a goal a Stepper
// and a Stopper, and the goal sets value.
type stall struct {
	tolerance   float64 // stop below this change of the objective; 0 never
	last, value float64 // objective of the previous and of the current iterate
}

// Step implements Stepper: before the first iterate there is no objective to
// differ from.
func (s *stall) Step(t int) {
	if t == 0 {
		s.value = math.Inf(-1)
	}
	s.last = s.value
}

// Stop implements Stopper.
func (s *stall) Stop() bool {
	return s.tolerance > 0 && math.Abs(s.value-s.last) < s.tolerance
}
