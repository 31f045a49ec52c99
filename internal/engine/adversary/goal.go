package adversary

import "tercet/internal/engine/array"

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
