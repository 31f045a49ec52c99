package kernel

import (
	"math"

	"tercet/internal/par"
)

type geluJob struct {
	level      Level
	x, dy, out []float32
	backward   bool
}

var geluJobs par.Free[geluJob]

// GELU sets y[i] = x[i] Phi(x[i]), with the normal distribution Phi by its error
// function and not by a tangent (Hendrycks and Gimpel, 2016). Phi is off by at most
// 2e-7. y must not be x.
func GELU(x, y []float32) { gelu(geluJob{x: x, out: y[:len(x)]}) }

// GELUBackward sets dx[i] = dy[i] (Phi(x[i]) + x[i] phi(x[i])), with the normal density
// phi. dx must not be x or dy.
func GELUBackward(x, dy, dx []float32) {
	gelu(geluJob{x: x, dy: dy[:len(x)], out: dx[:len(x)], backward: true})
}

func gelu(j geluJob) {
	k := geluJobs.Get()
	*k = j
	k.level = Current()
	par.Do(len(j.x), elems/4, k)
	*k = geluJob{}
	geluJobs.Put(k)
}

// Run does elements [lo, hi).
func (j *geluJob) Run(lo, hi int) {
	x, out := j.x[lo:hi], j.out[lo:hi]
	for i, v := range x {
		out[i] = -0.5 * v * v
	}
	j.level.exp(out, out) // exp(-x^2/2)
	for i, v := range x {
		x, e := float64(v), float64(out[i])
		phi := normalBelow(x, e)
		if j.backward {
			out[i] = float32(float64(j.dy[lo+i]) * (phi + float64(x*e*density)))
		} else {
			out[i] = float32(x * phi)
		}
	}
}

// density is that of the normal distribution at 0, 1/sqrt(2 pi).
const density = 0.3989422804014327

// normalBelow returns the probability that a normal number is below x, given
// e = exp(-x^2/2), by formula 7.1.26 of Abramowitz and Stegun. The conversions forbid
// fused multiply-adds.
func normalBelow(x, e float64) float64 {
	z := math.Abs(x) * (1 / math.Sqrt2)
	t := 1 / (1 + float64(0.3275911*z))
	p := float64(1.061405429 * t)
	p = float64((p - 1.453152027) * t)
	p = float64((p + 1.421413741) * t)
	p = float64((p - 0.284496736) * t)
	p = float64((p + 0.254829592) * t)
	tail := float64(0.5 * p * e)
	if x < 0 {
		return tail
	}
	return 1 - tail
}
