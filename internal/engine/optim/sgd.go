package optim

import (
	"tercet/internal/component"
	"tercet/internal/engine/kernel"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "sgd", Doc: "stochastic gradient descent", Defaults: SGD{Momentum: 0.9},
		Preset: map[string]any{"lr": 0.01}})
}

// SGD are the keys of stochastic gradient descent.
type SGD struct {
	Momentum float64 `yaml:"momentum" check:">=0,<1" doc:"share of the last step that is kept"`
	Nesterov bool    `yaml:"nesterov" doc:"look ahead along the momentum"`
}

// Check implements component.Checker.
func (k SGD) Check() []component.Fault {
	if k.Nesterov && k.Momentum == 0 {
		return []component.Fault{component.Faultf("nesterov", "needs a momentum above 0")}
	}
	return nil
}

func (k SGD) make(s state) Optimizer { return newSGD(s, k) }

// sgd is torch.optim.SGD with dampening 0: g += l2*p; buf = momentum*buf + g;
// g = buf, or g + momentum*buf for Nesterov; p -= lr*g.
type sgd struct {
	state
	keys SGD
	buf  [][]float32
	lr   float64
}

func newSGD(s state, keys SGD) *sgd {
	o := &sgd{state: s, keys: keys}
	if keys.Momentum > 0 {
		o.buf = o.track("momentum_buffer")
	}
	return o
}

func (o *sgd) Step(lr float64) {
	o.steps++
	o.lr = lr
	o.spans.each(o)
	for i, p := range o.params {
		if p.Store != nil {
			f := kernel.SGDFactors{Rate: float32(lr), Momentum: float32(o.keys.Momentum)}
			f.L2, f.Keep = o.decay(p, lr)
			var buf []float32
			if o.buf != nil {
				buf = o.buf[i]
			}
			p.Store.SGD(p, &f, buf, o.keys.Nesterov)
		}
	}
}

// Run does task k.
func (o *sgd) Run(k, _ int) {
	f := kernel.SGDFactors{Rate: float32(o.lr), Momentum: float32(o.keys.Momentum)}
	for _, s := range o.spans.task(k) {
		p := o.params[s.param]
		f.L2, f.Keep = o.decay(p, o.lr)
		var buf []float32
		if o.buf != nil {
			buf = o.buf[s.param][s.lo:s.hi]
		}
		kernel.SGDStep(&f, p.Value.Data[s.lo:s.hi], p.Grad.Data[s.lo:s.hi], buf, o.keys.Nesterov)
	}
}
