package kernel

import "math"

//go:generate go run -C _generate ./vector -family update -out ../update_amd64.s -go ../update_stubs.go -pkg kernel

// AdamFactors are the numbers of one step of Adam.
type AdamFactors struct {
	Keep         float32 // factor of the parameter before the step: decoupled weight decay
	L2           float32 // times the parameter, added to the gradient
	Beta1, Rest1 float32 // Rest1 = 1 - Beta1
	Beta2, Rest2 float32 // Rest2 = 1 - Beta2
	Size, Eps    float32
}

// AdamStep updates parameters p and their running means m and v from gradients
// g, all of the same length, in one pass on the calling goroutine:
//
//	w := Keep * p
//	d := g + L2*w
//	m = Beta1*m + Rest1*d
//	v = Beta2*v + Rest2*d*d
//	p = w - Size*(m/(sqrt(v)+Eps))
//
// The arithmetic is float32, each operation rounded, the same on all levels.
func AdamStep(f *AdamFactors, p, g, m, v []float32) {
	g, m, v = g[:len(p)], m[:len(p)], v[:len(p)]
	if l := Current(); assembly && l != Generic && len(p) > 0 {
		adamStepAsm(l, &f.Keep, len(p), &p[0], &g[0], &m[0], &v[0])
	} else {
		adamStepGeneric(f, p, g, m, v)
	}
}

func adamStepGeneric(f *AdamFactors, p, g, m, v []float32) {
	g, m, v = g[:len(p)], m[:len(p)], v[:len(p)]
	keep, l2, beta1, rest1, beta2, rest2, size, eps := f.Keep, f.L2, f.Beta1, f.Rest1, f.Beta2, f.Rest2, f.Size, f.Eps
	for i, w := range p {
		w = float32(w * keep)
		d := g[i] + float32(l2*w)
		a := float32(beta1*m[i]) + float32(rest1*d)
		s := float32(beta2*v[i]) + float32(float32(rest2*d)*d)
		m[i], v[i] = a, s
		p[i] = w - float32(size*(a/(float32(math.Sqrt(float64(s)))+eps)))
	}
}

// SGDFactors are the numbers of one step of gradient descent.
type SGDFactors struct {
	Keep     float32 // factor of the parameter before the step: decoupled weight decay
	L2       float32 // times the parameter, added to the gradient
	Rate     float32
	Momentum float32
}

// SGDStep updates parameters p and, unless it is nil, their momentum buf from
// gradients g, all of the same length, in one pass on the calling goroutine:
//
//	w := Keep * p
//	d := g + L2*w
//	buf = Momentum*buf + d
//	p = w - Rate*d                   buf nil
//	p = w - Rate*buf
//	p = w - Rate*(d + Momentum*buf)  nesterov
//
// The arithmetic is float32, each operation rounded, the same on all levels.
func SGDStep(f *SGDFactors, p, g, buf []float32, nesterov bool) {
	if buf != nil {
		buf = buf[:len(p)]
	}
	g = g[:len(p)]
	switch l := Current(); {
	case len(p) == 0:
	case !assembly || l == Generic:
		sgdStepGeneric(f, p, g, buf, nesterov)
	case buf == nil:
		sgdStepAsm(l, &f.Keep, len(p), &p[0], &g[0])
	case nesterov:
		nesterovStepAsm(l, &f.Keep, len(p), &p[0], &g[0], &buf[0])
	default:
		momentumStepAsm(l, &f.Keep, len(p), &p[0], &g[0], &buf[0])
	}
}

func sgdStepGeneric(f *SGDFactors, p, g, buf []float32, nesterov bool) {
	g = g[:len(p)]
	keep, l2, rate, mu := f.Keep, f.L2, f.Rate, f.Momentum
	for i, w := range p {
		w = float32(w * keep)
		d := g[i] + float32(l2*w)
		if buf != nil {
			b := float32(mu*buf[i]) + d
			buf[i] = b
			if nesterov {
				b = float32(mu*b) + d
			}
			d = b
		}
		p[i] = w - float32(rate*d)
	}
}
