package optim

// sgd is torch.optim.SGD with dampening 0: g += l2*p; buf = momentum*buf + g;
// g = buf, or g + momentum*buf for Nesterov; p -= lr*g.
type sgd struct {
	state
	buf [][]float32
	job sgdJob
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
	for i, p := range o.params {
		j := &o.job
		j.p, j.g, j.buf = p.Value.Data, p.Grad.Data, nil
		if o.buf != nil {
			j.buf = o.buf[i]
		}
		j.lr, j.momentum, j.nesterov = float32(lr), float32(o.cfg.Momentum), o.cfg.Nesterov
		j.l2, j.keep = o.decay(p, lr)
		update(len(j.p), j)
	}
	o.job = sgdJob{}
}

type sgdJob struct {
	p, g, buf              []float32
	lr, momentum, l2, keep float32
	nesterov               bool
}

// Run updates elements [lo, hi).
func (j *sgdJob) Run(lo, hi int) {
	p, g := j.p[lo:hi], j.g[lo:hi]
	lr, mu, l2, keep := j.lr, j.momentum, j.l2, j.keep
	if j.buf == nil {
		for i, v := range p {
			v *= keep
			p[i] = v - lr*(g[i]+l2*v)
		}
		return
	}
	buf := j.buf[lo:hi]
	for i, v := range p {
		v *= keep
		d := g[i] + l2*v
		b := mu*buf[i] + d
		buf[i] = b
		if j.nesterov {
			b = d + mu*b
		}
		p[i] = v - lr*b
	}
}
