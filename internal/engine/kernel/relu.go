package kernel

import (
	"math"

	"tercet/internal/par"
)

// elems is the chunk size of element-wise loops: 64 KiB of float32.
const elems = 1 << 14

type reluJob struct {
	x, y, dy, dx []float32
	backward     bool
}

var reluJobs par.Free[reluJob]

// ReLU sets y[i] = max(x[i], 0). NaN stays NaN. y may be x.
func ReLU(x, y []float32) {
	j := reluJobs.Get()
	*j = reluJob{x: x, y: y[:len(x)]}
	par.Do(len(x), elems, j)
	*j = reluJob{}
	reluJobs.Put(j)
}

// ReLUBackward sets dx[i] = dy[i] where y[i] > 0 and 0 elsewhere, for y made by
// ReLU. dx may be dy.
func ReLUBackward(y, dy, dx []float32) {
	j := reluJobs.Get()
	*j = reluJob{y: y, dy: dy[:len(y)], dx: dx[:len(y)], backward: true}
	par.Do(len(y), elems, j)
	*j = reluJob{}
	reluJobs.Put(j)
}

// Run does elements [lo, hi). Both loops are free of branches: activations have
// random signs, which a branch predictor cannot learn.
func (j *reluJob) Run(lo, hi int) {
	if j.backward {
		y, dy, dx := j.y[lo:hi], j.dy[lo:hi], j.dx[lo:hi]
		for i, v := range y {
			// y >= 0 and never -0, so its bits are a positive integer iff y > 0.
			mask := uint32(-int32(math.Float32bits(v)) >> 31)
			dx[i] = math.Float32frombits(math.Float32bits(dy[i]) & mask)
		}
		return
	}
	x, y := j.x[lo:hi], j.y[lo:hi]
	for i, v := range x {
		b := math.Float32bits(v)
		if v <= 0 { // a conditional move; false for NaN, and -0 becomes 0
			b = 0
		}
		y[i] = math.Float32frombits(b)
	}
}
