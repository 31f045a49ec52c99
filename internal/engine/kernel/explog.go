package kernel

import "math"

//go:generate go run -C _generate ./vector -family explog -out ../explog_amd64.s -go ../explog_stubs.go -pkg kernel

// Exp sets y[i] = exp(x[i]). The error is at most 1.01 units in the last place,
// also of subnormal results; exp(NaN) is NaN. y may be x. The bits of AVX2 and
// AVX-512 are the same.
func Exp(x, y []float32) {
	vectorJob{x: x, out: y[:len(x)], run: func(j *vectorJob, lo, hi int) {
		j.level.exp(j.x[lo:hi], j.out[lo:hi])
	}}.do(elems / 4)
}

// Log sets y[i] = log(x[i]), natural. The error is at most 0.8 units in the last
// place; log(0) is -Inf, of negative numbers and NaN it is NaN. y may be x. The
// bits of AVX2 and AVX-512 are the same.
func Log(x, y []float32) {
	vectorJob{x: x, out: y[:len(x)], run: func(j *vectorJob, lo, hi int) {
		j.level.log(j.x[lo:hi], j.out[lo:hi])
	}}.do(elems / 4)
}

func expGeneric(x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = float32(math.Exp(float64(v)))
	}
}

func logGeneric(x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = float32(math.Log(float64(v)))
	}
}
