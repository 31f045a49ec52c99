package optim

import "tercet/internal/engine/kernel"

// sgd is torch.optim.SGD with dampening 0: g += l2*p; buf = momentum*buf + g;
// g = buf, or g + momentum*buf for Nesterov; p -= lr*g.
type sgd struct {
	state
	buf [][]float32
	lr  float64
}

func newSGD(s state) *sgd {
	o := &sgd{state: s}
	if s.cfg.Momentum > 0 {
		o.buf = o.track("momentum_buffer")
	}
	return o
}

func (o *sgd) Step(lr float64) {
	o.steps++
	o.lr = lr
	o.spans.each(o)
}

// Run does tasks [lo, hi).
func (o *sgd) Run(lo, hi int) {
	f := kernel.SGDFactors{Rate: float32(o.lr), Momentum: float32(o.cfg.Momentum)}
	for _, s := range o.spans.task(lo, hi) {
		p := o.params[s.param]
		f.L2, f.Keep = o.decay(p, o.lr)
		var buf []float32
		if o.buf != nil {
			buf = o.buf[s.param][s.lo:s.hi]
		}
		kernel.SGDStep(&f, p.Value.Data[s.lo:s.hi], p.Grad.Data[s.lo:s.hi], buf, o.cfg.Nesterov)
	}
}
