package attack

import (
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
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
// embedding from its clean one. At the clean image the distance has no gradient.
//
// The published attack shifts the clean embedding by 1e-7 at iteration 0. The
// pairwise distance adds 1e-6 to every coordinate difference, at each iteration, so
// that all queries leave in the direction (1, ..., 1), or nearly so. The fixed attack
// shifts the embedding at iteration 0 by 1e-7 in a random direction of each query,
// and its distance is the Euclidean one.
type shift struct {
	clean *array.Array // (B, D)
	first bool

	seed   uint64
	nudges *array.Array // (B, D) fixed: what the clean embeddings are shifted by; nil: published
	stream rng.Stream
	moved  []float64 // (D) differences of one query
}

// draw sets the nudges of the items: 1e-7 or -1e-7 in each coordinate.
func (s *shift) draw(items []int) {
	d := s.clean.Cols()
	s.nudges = array.New(len(items), d)
	for i, item := range items {
		s.stream.Reset(s.seed, "attack.ES.nudge", uint64(item))
		var bits uint64
		for k := range s.nudges.Row(i) {
			if k%64 == 0 {
				bits = s.stream.Uint64()
			}
			s.nudges.Row(i)[k] = nudge
			if bits>>(k%64)&1 == 1 {
				s.nudges.Row(i)[k] = -nudge
			}
		}
	}
}

// Step implements adversary.Stepper.
func (s *shift) Step(t int) { s.first = t == 0 }

// Eval implements adversary.Goal.
func (s *shift) Eval(z *array.Array, per []float64, grad *array.Array) error {
	for i := range per {
		d := s.measure(i, z.Row(i))
		per[i] = -d
		if grad == nil {
			continue
		}
		w := 0.0
		if d > 0 {
			w = -1 / d
		}
		for k, v := range s.moved {
			grad.Row(i)[k] = float32(w * v)
		}
	}
	return nil
}

// measure sets moved to the differences of query i, and returns their length.
func (s *shift) measure(i int, z []float32) float64 {
	s.moved = s.moved[:0]
	sum := 0.0
	for k, v := range s.clean.Row(i) {
		d := float64(z[k]) - float64(v)
		switch {
		case s.nudges == nil && s.first:
			d += pairEps - nudge
		case s.nudges == nil:
			d += pairEps
		case s.first:
			d -= float64(s.nudges.Row(i)[k])
		}
		s.moved = append(s.moved, d)
		sum += float64(d * d)
	}
	return math.Sqrt(sum)
}

// distance returns |x - y + eps|.
func distance(x, y []float32, eps float64) float64 {
	var s float64
	for k, v := range x {
		d := float64(v) - float64(y[k]) + eps
		s += float64(d * d)
	}
	return math.Sqrt(s)
}

// slope sets g to the gradient of d with respect to x, d = distance(x, y, eps); 0
// where d is.
func slope(x, y []float32, eps, d float64, g []float32) {
	if d == 0 {
		clear(g)
		return
	}
	w := 1 / d
	for k, v := range x {
		g[k] = float32(w * (float64(v) - float64(y[k]) + eps))
	}
}
