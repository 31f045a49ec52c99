package kernel

import "fmt"

// SumLanes is the number of interleaved sums of Nearer.
const SumLanes = exactLanes

// Nearer sets out[j] = min(nearest[j], max(0, x[j]+(norm[j]+own))), the squared
// distances to the nearest of some points after another, of squared length own,
// has joined them, for x[j] = -2 times its product with row j and norm[j] that
// row's squared length. It adds out[j] to sums[j%SumLanes]. All slices have one
// length, a multiple of SumLanes; out may be nearest.
func Nearer(x, norm []float32, own float32, nearest, out []float32, sums *[SumLanes]float64) {
	n := len(x)
	if n%SumLanes != 0 || len(norm) != n || len(nearest) != n || len(out) != n {
		panic(fmt.Sprintf("kernel: distances of %d, %d, %d and %d rows", n, len(norm), len(nearest), len(out)))
	}
	if l := Current(); assembly && l != Generic && n > 0 {
		nearerAsm(l, n/SumLanes, &x[0], &norm[0], own, &nearest[0], &out[0], &sums[0])
		return
	}
	for j, v := range x {
		v = min(nearest[j], max(0, v+(norm[j]+own)))
		out[j] = v
		sums[j%SumLanes] += float64(v)
	}
}

// AddRow adds x to sum, of equal length, in float64.
func AddRow(sum []float64, x []float32) {
	sum = sum[:len(x)]
	l, n := laned(len(x))
	if assembly && n > 0 {
		addRowAsm(l, n/exactLanes, &sum[0], &x[0])
	}
	sum = sum[n:]
	for i, v := range x[n:] {
		sum[i] += float64(v)
	}
}

// MeanRow returns the mean of the n rows of x (n, d), in float64.
func MeanRow(x []float32, n, d int) []float64 {
	mean := make([]float64, d)
	for i := range n {
		AddRow(mean, x[i*d:(i+1)*d])
	}
	for j := range mean {
		mean[j] /= float64(n)
	}
	return mean
}

// SubtractRow subtracts x from sum, of equal length, in float64.
func SubtractRow(sum []float64, x []float32) {
	sum = sum[:len(x)]
	l, n := laned(len(x))
	if assembly && n > 0 {
		subtractRowAsm(l, n/exactLanes, &sum[0], &x[0])
	}
	sum = sum[n:]
	for i, v := range x[n:] {
		sum[i] -= float64(v)
	}
}

// ShiftRow sets out[i] = (x[i] - mean[i]) * scale, computed in float64. All have
// one length; out may be x.
func ShiftRow(x []float32, mean []float64, scale float64, out []float32) {
	mean, out = mean[:len(x)], out[:len(x)]
	l, n := laned(len(x))
	if assembly && n > 0 {
		shiftRowAsm(l, n/exactLanes, &x[0], &mean[0], scale, &out[0])
	}
	mean, out = mean[n:], out[n:]
	for i, v := range x[n:] {
		out[i] = float32((float64(v) - mean[i]) * scale)
	}
}
