package measure

import (
	"math"

	"tercet/internal/engine/mahalanobis"
)

// climb walks up the difference of two solutions' losses over triplets of the ball, by
// projected gradients. The largest change over all triplets is what uniform stability
// asks for; drawn triplets alone come short of it.
type climb struct {
	l      mahalanobis.Loss
	w, v   []float64 // (d, d) matrices of the two solutions
	d      int
	radius float64
	at     []float64 // (3, d)
	next   []float64
	grad   []float64
}

func newClimb(l mahalanobis.Loss, theta, other []float64, d int, radius float64) *climb {
	return &climb{
		l: l, w: mahalanobis.Smat(theta, d), v: mahalanobis.Smat(other, d), d: d, radius: radius,
		at: make([]float64, 3*d), next: make([]float64, 3*d), grad: make([]float64, 3*d),
	}
}

// from returns the largest difference met on the way up from a triplet.
func (c *climb) from(triplet []float64) float64 {
	copy(c.at, triplet)
	value := c.slope(c.at)
	for step := c.radius / 2; step > 1e-4*c.radius; {
		length := 0.0
		for _, g := range c.grad {
			length += float64(g * g)
		}
		if length == 0 {
			break
		}
		scale := step / math.Sqrt(length)
		for i, g := range c.grad {
			c.next[i] = c.at[i] + float64(scale*g)
		}
		for p := 0; p < len(c.next); p += c.d {
			project(c.next[p:p+c.d], c.radius)
		}
		if up := c.value(c.next); up > value*(1+1e-9) {
			value = up
			c.at, c.next = c.next, c.at
			c.slope(c.at)
			continue
		}
		step /= 2
	}
	return value
}

// project brings a point into the ball.
func project(x []float64, radius float64) {
	sum := 0.0
	for _, v := range x {
		sum += float64(v * v)
	}
	if sum <= radius*radius {
		return
	}
	for i := range x {
		x[i] *= radius / math.Sqrt(sum)
	}
}

func (c *climb) margin(w, x []float64) float64 {
	a, b := x[:c.d], x[c.d:2*c.d]
	z := x[2*c.d:]
	sum := 0.0
	for i := range a {
		rowP, rowN := 0.0, 0.0
		for j, v := range w[i*c.d : (i+1)*c.d] {
			rowP += float64(v * (a[j] - b[j]))
			rowN += float64(v * (a[j] - z[j]))
		}
		sum += float64((a[i]-b[i])*rowP) - float64((a[i]-z[i])*rowN)
	}
	return sum
}

func (c *climb) value(x []float64) float64 {
	return difference(c.l, c.margin(c.w, x), c.margin(c.v, x))
}

// slope puts the gradient of the difference at x into grad and returns the difference.
func (c *climb) slope(x []float64) float64 {
	f, fs, _ := c.l.At(c.margin(c.w, x) + c.l.Zeta)
	g, gs, _ := c.l.At(c.margin(c.v, x) + c.l.Zeta)
	if f < g {
		fs, gs = -fs, -gs
	}
	d := c.d
	for i := range d {
		p, n := 0.0, 0.0 // rows i of (f' w - g' v) (x-y) and (x-z)
		for j := range d {
			k := float64(fs*c.w[i*d+j]) - float64(gs*c.v[i*d+j])
			p += float64(k * (x[j] - x[d+j]))
			n += float64(k * (x[j] - x[2*d+j]))
		}
		c.grad[i], c.grad[d+i], c.grad[2*d+i] = 2*(p-n), -2*p, 2*n
	}
	return math.Abs(f - g)
}
