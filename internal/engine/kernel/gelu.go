package kernel

import "tercet/internal/par"

//go:generate go run -C _generate ./vector -family tokens -out ../tokens_amd64.s -go ../tokens_stubs.go -pkg kernel

type geluJob struct {
	level      Level
	x, dy, out []float32
	backward   bool
}

var geluJobs par.Free[geluJob]

// GELU sets y[i] = x[i] Phi(x[i]), with the normal distribution Phi by its error
// function and not by a tangent (Hendrycks and Gimpel, 2016). Phi is off by at most
// 3e-7. y may be x. The bits of AVX2 and AVX-512 are the same.
func GELU(x, y []float32) { gelu(geluJob{x: x, out: y[:len(x)]}) }

// GELUBackward sets dx[i] = dy[i] (Phi(x[i]) + x[i] phi(x[i])), with the normal density
// phi. dx may be x or dy.
func GELUBackward(x, dy, dx []float32) {
	gelu(geluJob{x: x, dy: dy[:len(x)], out: dx[:len(x)], backward: true})
}

func gelu(j geluJob) {
	j.level = Current()
	par.Once(&geluJobs, len(j.x), elems/4, j)
}

// Run does elements [lo, hi).
func (j *geluJob) Run(lo, hi int) {
	if j.backward {
		j.level.geluBack(j.x[lo:hi], j.dy[lo:hi], j.out[lo:hi])
		return
	}
	j.level.gelu(j.x[lo:hi], j.out[lo:hi])
}
