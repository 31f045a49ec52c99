package kernel

//go:generate go run -C _generate ./vector -family tokens -out ../tokens_amd64.s -go ../tokens_stubs.go -pkg kernel

// GELU sets y[i] = x[i] Phi(x[i]), with the normal distribution Phi by its error
// function and not by a tangent (Hendrycks and Gimpel, 2016). Phi is off by at most
// 3e-7. y may be x. The bits of AVX2 and AVX-512 are the same.
func GELU(x, y []float32) {
	vectorJob{x: x, out: y[:len(x)], run: func(j *vectorJob, lo, hi int) {
		j.level.gelu(j.x[lo:hi], j.out[lo:hi])
	}}.do(elems / 4)
}

// GELUBackward sets dx[i] = dy[i] (Phi(x[i]) + x[i] phi(x[i])), with the normal density
// phi. dx may be x or dy.
func GELUBackward(x, dy, dx []float32) {
	vectorJob{x: x, y: dy[:len(x)], out: dx[:len(x)], run: func(j *vectorJob, lo, hi int) {
		j.level.geluBack(j.x[lo:hi], j.y[lo:hi], j.out[lo:hi])
	}}.do(elems / 4)
}
