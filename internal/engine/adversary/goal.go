package adversary

import (
	"math"

	"tercet/internal/engine/array"
)

// Goal is what crafting minimizes, image by image, as a function of the
// embeddings of the perturbed images.
type Goal interface {
	// Eval writes the objective of image i to per[i] and, when grad is not nil,
	// overwrites grad (B, D) with the gradient of their sum with respect to z
	// (B, D).
	Eval(z *array.Array, per []float64, grad *array.Array) error
}

// Stepper is a Goal that changes with the iteration. Run calls Step before each
// Eval: t counts from 0 at the start of each restart.
type Stepper interface{ Step(t int) }

// Stopper is a Goal that may end a run early. Run asks after every gradient step;
// true makes that step the last one of its restart.
type Stopper interface{ Stop() bool }

// ImageError is an error about one image of a batch.
type ImageError struct {
	Image int // place in the batch
	Err   error
}

func (e *ImageError) Error() string { return e.Err.Error() }

func (e *ImageError) Unwrap() error { return e.Err }

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
