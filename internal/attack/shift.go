package attack

import (
	"math"

	"tercet/internal/engine/array"
)

const (
	// pairEps is added to every coordinate difference by PyTorch's
	// pairwise_distance, which the published ES and GTM use.
	pairEps = 1e-6
	// nudge shifts the clean embeddings at iteration 0, where otherwise all
	// differences are 0.
	nudge = 1e-7
)

// shift is the goal of the ES attack: minus the distance of the perturbed image's
// embedding from its clean one.
type shift struct {
	clean *array.Array // (B, D)
	first bool
}

// Step implements adversary.Stepper.
func (s *shift) Step(t int) { s.first = t == 0 }

// Eval implements adversary.Goal.
func (s *shift) Eval(z *array.Array, per []float64, grad *array.Array) error {
	eps := pairEps
	if s.first {
		eps -= nudge
	}
	for i := range per {
		x, y := z.Row(i), s.clean.Row(i)
		d := distance(x, y, eps)
		per[i] = -d
		if grad != nil {
			slope(x, y, eps, d, -1, grad.Row(i))
		}
	}
	return nil
}

// distance returns |x - y + eps|.
func distance(x, y []float32, eps float64) float64 {
	var s float64
	for k, v := range x {
		d := float64(v) - float64(y[k]) + eps
		s += d * d
	}
	return math.Sqrt(s)
}

// slope sets g to the gradient of sign * d with respect to x, d = distance(x, y,
// eps); 0 where d is.
func slope(x, y []float32, eps, d, sign float64, g []float32) {
	if d == 0 {
		clear(g)
		return
	}
	w := sign / d
	for k, v := range x {
		g[k] = float32(w * (float64(v) - float64(y[k]) + eps))
	}
}
