package optim

import (
	"math"

	"tercet/internal/engine/kernel"
)

// adam is torch.optim.Adam (Kingma & Ba 2015) and, with decoupled decay, AdamW
// (Loshchilov & Hutter 2019): g += l2*p, or p *= 1 - lr*wd; m = b1*m + (1-b1)*g;
// v = b2*v + (1-b2)*g*g; p -= lr/(1-b1^t) * m / (sqrt(v)/sqrt(1-b2^t) + eps).
// The last fraction is reduced by sqrt(1-b2^t): one division for each number.
type adam struct {
	state
	m, v    [][]float32
	factors kernel.AdamFactors
	lr      float64
}

func newAdam(s state) *adam {
	o := &adam{state: s}
	o.m = o.track("exp_avg")
	o.v = o.track("exp_avg_sq")
	return o
}

func (o *adam) Step(lr float64) {
	o.steps++
	c, t := &o.cfg, float64(o.steps)
	root := math.Sqrt(1 - math.Pow(c.Beta2, t))
	o.lr = lr
	o.factors = kernel.AdamFactors{
		Beta1: float32(c.Beta1), Rest1: float32(1 - c.Beta1),
		Beta2: float32(c.Beta2), Rest2: float32(1 - c.Beta2),
		Size: float32(lr * root / (1 - math.Pow(c.Beta1, t))),
		Eps:  max(float32(c.Eps*root), math.SmallestNonzeroFloat32),
	}
	o.spans.each(o)
}

// Run does tasks [lo, hi).
func (o *adam) Run(lo, hi int) {
	f := o.factors
	for _, s := range o.spans.task(lo, hi) {
		p := o.params[s.param]
		f.L2, f.Keep = o.decay(p, o.lr)
		kernel.AdamStep(&f, p.Value.Data[s.lo:s.hi], p.Grad.Data[s.lo:s.hi], o.m[s.param][s.lo:s.hi], o.v[s.param][s.lo:s.hi])
	}
}
