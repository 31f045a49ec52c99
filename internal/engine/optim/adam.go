package optim

import (
	"math"

	"tercet/internal/component"
	"tercet/internal/engine/kernel"
)

func init() {
	defaults := Adam{Betas: [2]float64{0.9, 0.999}, Eps: 1e-8}
	Family.Register(component.Component[Keys]{Name: "adam", Doc: "Adam", Defaults: defaults})
	Family.Register(component.Component[Keys]{Name: "adamw", Doc: "Adam with decoupled decay", Defaults: defaults,
		Preset: map[string]any{"weight_decay": 0.01, "decay": "decoupled"}})
}

// Adam are the keys of Adam and, with decoupled decay, AdamW.
type Adam struct {
	Betas [2]float64 `yaml:"betas" check:">=0,<1" doc:"decay of the two running means"`
	Eps   float64    `yaml:"eps" check:">0" doc:"added to the root of the second mean"`
}

// Fit implements Fitter.
func (Adam) Fit(c Config) []component.Fault {
	if c.Name == "adamw" && c.Decay != "decoupled" {
		return []component.Fault{component.Faultf("decay", "adamw is Adam with decoupled decay; write adam for decay %q", c.Decay)}
	}
	return nil
}

func (a Adam) make(s state) Optimizer { return newAdam(s, a) }

// adam is torch.optim.Adam (Kingma & Ba 2015) and, with decoupled decay, AdamW
// (Loshchilov & Hutter 2019): g += l2*p, or p *= 1 - lr*wd; m = b1*m + (1-b1)*g;
// v = b2*v + (1-b2)*g*g; p -= lr/(1-b1^t) * m / (sqrt(v)/sqrt(1-b2^t) + eps).
// The last fraction is reduced by sqrt(1-b2^t): one division for each number.
type adam struct {
	state
	keys    Adam
	m, v    [][]float32
	factors kernel.AdamFactors
	lr      float64
}

func newAdam(s state, keys Adam) *adam {
	o := &adam{state: s, keys: keys}
	o.m = o.track("exp_avg")
	o.v = o.track("exp_avg_sq")
	return o
}

func (o *adam) Step(lr float64) {
	o.steps++
	beta1, beta2, t := o.keys.Betas[0], o.keys.Betas[1], float64(o.steps)
	root := math.Sqrt(1 - math.Pow(beta2, t))
	o.lr = lr
	o.factors = kernel.AdamFactors{
		Beta1: float32(beta1), Rest1: float32(1 - beta1),
		Beta2: float32(beta2), Rest2: float32(1 - beta2),
		Size: float32(lr * root / (1 - math.Pow(beta1, t))),
		Eps:  max(float32(o.keys.Eps*root), math.SmallestNonzeroFloat32),
	}
	o.spans.each(o)
	for i, p := range o.params {
		if p.Store != nil {
			f := o.factors
			f.L2, f.Keep = o.decay(p, lr)
			p.Store.Adam(p, &f, o.m[i], o.v[i])
		}
	}
}

// Run does task k.
func (o *adam) Run(k, _ int) {
	f := o.factors
	for _, s := range o.spans.task(k) {
		p := o.params[s.param]
		f.L2, f.Keep = o.decay(p, o.lr)
		kernel.AdamStep(&f, p.Value.Data[s.lo:s.hi], p.Grad.Data[s.lo:s.hi], o.m[s.param][s.lo:s.hi], o.v[s.param][s.lo:s.hi])
	}
}
