package adversary

import (
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/record"
)

// Report describes one Run over B images.
type Report struct {
	Objective []float64 // (B) objective of the result
	Linf, L2  []float64 // (B) norms of x - x0 actually used
	Radius    record.Radius
	// ZeroGradient is the fraction of input gradients, over images, steps and
	// restarts, that were zero in every pixel. Far above 0 it means masked
	// gradients (or a goal already met), not robustness.
	ZeroGradient float64
	// Forward and Backward count passes of the whole batch.
	Forward, Backward int
	// Embedding (B, D) belongs to the result; nil under SkipFinal. In mode
	// BatchStats with Keep best or restarts, each row was computed among the
	// iterates of its own moment.
	Embedding *array.Array
	// Previous (B, D) is of the iterate before the last; nil unless asked for.
	Previous *array.Array
}

// RadiusOf summarizes the norms of n perturbations.
func RadiusOf(linf, l2 []float64) record.Radius {
	var r record.Radius
	for i := range linf {
		r.MeanLinf += linf[i]
		r.MeanL2 += l2[i]
		r.MaxLinf = max(r.MaxLinf, linf[i])
		r.MaxL2 = max(r.MaxL2, l2[i])
	}
	if n := float64(len(linf)); n > 0 {
		r.MeanLinf /= n
		r.MeanL2 /= n
	}
	return r
}

// distances returns the norms of x - y.
func distances(x, y []float32) (linf, l2 float64) {
	var s float64
	for k, v := range x {
		d := math.Abs(float64(v) - float64(y[k]))
		linf = max(linf, d)
		s += float64(d * d)
	}
	return linf, math.Sqrt(s)
}
