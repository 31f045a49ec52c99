package optim

import "math"

// adam is torch.optim.Adam (Kingma & Ba 2015) and, with decoupled decay, AdamW
// (Loshchilov & Hutter 2019): g += l2*p, or p *= 1 - lr*wd; m = b1*m + (1-b1)*g;
// v = b2*v + (1-b2)*g*g; p -= lr/(1-b1^t) * m / (sqrt(v)/sqrt(1-b2^t) + eps).
type adam struct {
	state
	m, v [][]float32
	job  adamJob
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
	j := &o.job
	j.b1, j.c1 = float32(c.Beta1), float32(1-c.Beta1)
	j.b2, j.c2 = float32(c.Beta2), float32(1-c.Beta2)
	j.size = float32(lr / (1 - math.Pow(c.Beta1, t)))
	j.root = float32(math.Sqrt(1 - math.Pow(c.Beta2, t)))
	j.eps = float32(c.Eps)
	for i, p := range o.params {
		j.p, j.g, j.m, j.v = p.Value.Data, p.Grad.Data, o.m[i], o.v[i]
		j.l2, j.keep = o.decay(p, lr)
		update(len(j.p), j)
	}
	o.job = adamJob{}
}

type adamJob struct {
	p, g, m, v      []float32
	b1, c1, b2, c2  float32
	size, root, eps float32
	l2, keep        float32
}

// Run updates elements [lo, hi).
func (j *adamJob) Run(lo, hi int) {
	p, g, m, v := j.p[lo:hi], j.g[lo:hi], j.m[lo:hi], j.v[lo:hi]
	b1, c1, b2, c2, size, root, eps, l2, keep := j.b1, j.c1, j.b2, j.c2, j.size, j.root, j.eps, j.l2, j.keep
	for i, w := range p {
		w *= keep
		d := g[i] + l2*w
		a := b1*m[i] + c1*d
		s := b2*v[i] + c2*d*d
		m[i], v[i] = a, s
		p[i] = w - size*(a/(float32(math.Sqrt(float64(s)))/root+eps))
	}
}
