package optim

import (
	"math"

	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
)

// gradients goes once over all gradients: it sums the squares of each piece, or
// scales, or clears.
type gradients struct {
	spans
	params []*nn.Param
	sums   []float64 // one per piece
	what   func(g *gradients, piece int, x []float32)
	scale  float32 // or the largest number that clip leaves
}

var gradientJobs par.Free[gradients]

func newGradients(params []*nn.Param) *gradients {
	g := gradientJobs.Get()
	g.params = params
	g.cut(params)
	return g
}

func (g *gradients) end() {
	g.params = nil
	gradientJobs.Put(g)
}

func (g *gradients) do(what func(g *gradients, piece int, x []float32)) {
	g.what = what
	g.each(g)
}

// Run does task k.
func (g *gradients) Run(k, _ int) {
	for i := g.tasks[k].from; i < g.tasks[k].to; i++ {
		s := g.pieces[i]
		g.what(g, i, g.params[s.param].Grad.Data[s.lo:s.hi])
	}
}

func sumSquares(g *gradients, piece int, x []float32) { g.sums[piece] = kernel.Dot(x, x) }
func scale(g *gradients, _ int, x []float32)          { kernel.Scale(g.scale, x) }
func clip(g *gradients, _ int, x []float32) {
	for i, v := range x {
		x[i] = min(max(v, -g.scale), g.scale)
	}
}
func zero(_ *gradients, _ int, x []float32) { clear(x) }

// ClipByNorm returns the Euclidean norm of all gradients together, in float64,
// and scales them by max/(norm+1e-6) where that is below 1, as PyTorch's
// clip_grad_norm_. With max <= 0, or a norm that is NaN or infinite, it only
// returns the norm.
func ClipByNorm(params []*nn.Param, max float64) float64 {
	g := newGradients(params)
	if n := len(g.pieces); cap(g.sums) < n {
		g.sums = make([]float64, n)
	} else {
		g.sums = g.sums[:n]
	}
	g.do(sumSquares)
	var total float64
	for _, s := range g.sums { // in order: the norm does not depend on threads
		total += s
	}
	stores := stored(params)
	for _, s := range stores {
		total += s.store.SumSquares(s.params)
	}
	norm := math.Sqrt(total)
	if factor := max / (norm + 1e-6); max > 0 && factor < 1 && !math.IsInf(norm, 0) {
		g.scale = float32(factor)
		g.do(scale)
		for _, s := range stores {
			for _, p := range s.params {
				s.store.ScaleGrad(p, g.scale)
			}
		}
	}
	g.end()
	return norm
}

// ClipByValue limits each number of the gradients to [-most, most], as PyTorch's
// clip_grad_value_. NaN stays NaN; with most <= 0 it does nothing.
func ClipByValue(params []*nn.Param, most float64) {
	if most <= 0 {
		return
	}
	g := newGradients(params)
	g.scale = float32(most)
	g.do(clip)
	g.end()
	for _, s := range stored(params) {
		for _, p := range s.params {
			s.store.ClipGrad(p, float32(most))
		}
	}
}

// ZeroGrad clears the gradients of all trained parameters. Backward passes add
// to gradients, so a training step begins with it.
func ZeroGrad(params []*nn.Param) {
	g := newGradients(params)
	g.do(zero)
	g.end()
	for _, p := range params {
		if p.Store != nil && p.Trained() {
			p.Store.ZeroGrad(p)
		}
	}
}

// kept are the trained parameters that a store keeps.
type kept struct {
	store  nn.Store
	params []*nn.Param
}

// stored lists those of params that devices keep, by their store.
func stored(params []*nn.Param) (out []kept) {
	for _, p := range params {
		if p.Store == nil || !p.Trained() {
			continue
		}
		if n := len(out); n == 0 || out[n-1].store != p.Store {
			out = append(out, kept{store: p.Store})
		}
		last := &out[len(out)-1]
		last.params = append(last.params, p)
	}
	return out
}
