package kernel

import "math"

//go:generate go run -C _generate ./vector -family elementwise -out ../elementwise_amd64.s -go ../elementwise_stubs.go -pkg kernel

// elems is the chunk size of element-wise loops: 64 KiB of float32.
const elems = 1 << 14

// ReLU sets y[i] = max(x[i], 0). NaN stays NaN, -0 becomes 0. y may be x.
func ReLU(x, y []float32) {
	vectorJob{x: x, out: y[:len(x)], run: func(j *vectorJob, lo, hi int) {
		j.level.relu(j.x[lo:hi], j.out[lo:hi])
	}}.do(elems)
}

// ReLUBackward sets dx[i] = dy[i] where y[i] > 0 and 0 elsewhere (also where
// y[i] is NaN), for y made by ReLU. dx may be dy.
func ReLUBackward(y, dy, dx []float32) {
	vectorJob{x: y, y: dy[:len(y)], out: dx[:len(y)], run: func(j *vectorJob, lo, hi int) {
		j.level.reluBackward(j.x[lo:hi], j.y[lo:hi], j.out[lo:hi])
	}}.do(elems)
}

// The loops of level Generic are free of branches: activations have random
// signs, which a branch predictor cannot learn. Bits, less 1, are below those of
// infinity for the numbers above 0 alone.

func reluGeneric(x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = positive(v)
	}
}

func reluBackwardGeneric(y, dy, dx []float32) {
	dy, dx = dy[:len(y)], dx[:len(y)]
	for i, v := range y {
		dx[i] = where(v, dy[i])
	}
}

// positive returns v, or 0 where v <= 0.
func positive(v float32) float32 {
	const most, negativeInf = 1<<31 - 1, 0x1ff << 23
	b := math.Float32bits(v)
	on := (int64(b-1)-most)>>63 | (negativeInf-int64(b))>>63 // v > 0, or a NaN
	return math.Float32frombits(b & uint32(on))
}

// where returns v where mask > 0, else 0.
func where(mask, v float32) float32 {
	const inf = 0xff << 23
	on := (int64(math.Float32bits(mask)-1) - inf) >> 63
	return math.Float32frombits(math.Float32bits(v) & uint32(on))
}
