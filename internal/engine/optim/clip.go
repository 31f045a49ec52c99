package optim

import (
	"math"

	"tercet/internal/engine/nn"
	"tercet/internal/par"
)

// clipJob sums squares, or scales, in chunks. Each chunk's sum is an output of
// its own and they are added in order, so the norm does not depend on threads.
type clipJob struct {
	g     []float32
	sums  []float64 // one per chunk; nil when scaling
	scale float32
}

// Run does elements [lo, hi).
func (j *clipJob) Run(lo, hi int) {
	if j.sums == nil {
		for i := range j.g[lo:hi] {
			j.g[lo+i] *= j.scale
		}
		return
	}
	var s float64
	for _, v := range j.g[lo:hi] {
		s += float64(v) * float64(v)
	}
	j.sums[lo/chunk] = s
}

type clipper struct {
	job  clipJob
	sums []float64
}

var clippers par.Free[clipper]

// ClipByNorm returns the Euclidean norm of all gradients together, in float64,
// and scales them by max/(norm+1e-6) where that is below 1, as PyTorch's
// clip_grad_norm_. With max <= 0, or a norm that is NaN or infinite, it only
// returns the norm.
func ClipByNorm(params []*nn.Param, max float64) float64 {
	c := clippers.Get()
	var total float64
	for _, p := range params {
		if p.Grad == nil {
			continue
		}
		n := (len(p.Grad.Data) + chunk - 1) / chunk
		if cap(c.sums) < n {
			c.sums = make([]float64, n)
		}
		c.job = clipJob{g: p.Grad.Data, sums: c.sums[:n]}
		update(len(p.Grad.Data), &c.job)
		for _, s := range c.sums[:n] {
			total += s
		}
	}
	norm := math.Sqrt(total)
	if scale := max / (norm + 1e-6); max > 0 && scale < 1 && !math.IsInf(norm, 0) {
		for _, p := range params {
			if p.Grad != nil {
				c.job = clipJob{g: p.Grad.Data, scale: float32(scale)}
				update(len(p.Grad.Data), &c.job)
			}
		}
	}
	c.job = clipJob{}
	clippers.Put(c)
	return norm
}

// ZeroGrad clears the gradients of all trained parameters. Backward passes add
// to gradients, so a training step begins with it.
func ZeroGrad(params []*nn.Param) {
	for _, p := range params {
		if p.Grad != nil {
			p.Grad.Zero()
		}
	}
}
