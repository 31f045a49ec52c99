package adversary

import (
	"math"

	"tercet/internal/rng"
)

// randomStart writes a point uniform in the ball of p around x0, clipped to
// [0, 1], to x.
func (p *PGD) randomStart(x, x0 []float32, r *rng.Stream) {
	if p.Norm == Linf {
		for k := range x {
			x[k] = x0[k] + float32(r.Uniform(-p.Eps, p.Eps))
		}
		p.project(x, x0)
		return
	}
	// A Gaussian direction with radius eps u^(1/n) is uniform in the ball.
	length := 0.0
	for k := range x {
		g := r.NormFloat64()
		x[k] = float32(g)
		length += float64(float64(x[k]) * float64(x[k]))
	}
	scale := 0.0
	if length > 0 {
		scale = p.Eps * math.Pow(r.Float64(), 1/float64(len(x))) / math.Sqrt(length)
	}
	for k, g := range x {
		x[k] = x0[k] + float32(scale*float64(g))
	}
	p.project(x, x0)
}

// project moves x to the ball of p around x0 and then to [0, 1]. As x0 lies in
// [0, 1], the second move does not leave the ball.
func (p *PGD) project(x, x0 []float32) {
	if p.Norm == Linf {
		eps := float32(p.Eps)
		for k, c := range x0 {
			x[k] = min(max(x[k], c-eps, 0), c+eps, 1)
		}
		return
	}
	_, length := distances(x, x0)
	scale := 1.0
	if length > p.Eps {
		scale = p.Eps / length
	}
	for k, c := range x0 {
		v := x[k]
		if scale < 1 {
			v = float32(float64(c) + float64(scale*(float64(v)-float64(c))))
		}
		x[k] = min(max(v, 0), 1)
	}
}

// length is that of a Fixed step.
func (p *PGD) length() float64 {
	if p.FGSM && p.Iterations == 1 {
		return p.Eps
	}
	return p.Step
}

// descend adds to x a step against g of the given length in the norm of p.
func (p *PGD) descend(x, g []float32, step float64) {
	if p.Direction == Sign {
		if p.Norm == L2 {
			n := 0
			for _, v := range g {
				if v != 0 {
					n++
				}
			}
			step /= math.Sqrt(float64(max(n, 1)))
		}
		s := float32(step)
		for k, v := range g {
			switch {
			case v > 0:
				x[k] -= s
			case v < 0:
				x[k] += s
			}
		}
		return
	}
	length := 0.0
	for _, v := range g {
		a := math.Abs(float64(v))
		if p.Norm == L2 {
			length += float64(a * a)
		} else {
			length = max(length, a)
		}
	}
	if p.Norm == L2 {
		length = math.Sqrt(length)
	}
	if length == 0 {
		return
	}
	scale := step / length
	for k, v := range g {
		x[k] -= float32(scale * float64(v))
	}
}
