package bound

import (
	"math"

	"tercet/internal/engine/kernel"
)

// squarings is how often spectral squares: the bound is at most d^(1/2^(squarings+1)) times
// the norm, 1.4 % too large for d = 1024.
const squarings = 8

// spectral returns an upper bound of the spectral norm of w (n, d). Power iteration would
// give a lower one. With the Frobenius norm |.|_F,
//
//	|w|_2 = |w^T w|_2^(1/2) = ... <= |(w^T w)^(2^k)|_F^(1/2^(k+1)),
//
// where each product may be a little wrong: a matrix within e of another one has a norm
// within |e|_F of its norm (Delattre et al., ICML 2023, arXiv 2305.16173, for exact ones).
func spectral(w []float32, n, d int) float64 { return spectralNorm(w, n, d, squarings) }

func spectralNorm(w []float32, n, d, k int) float64 {
	square := kernel.SumSquares(w)
	if k < 0 || square == 0 {
		return math.Sqrt(square) * (1 + 0x1p-40)
	}
	small, off := gram(w, n, d)
	length := 0.0
	for _, v := range small {
		length += float64(v * v)
	}
	length = math.Sqrt(length)
	if length == 0 || math.IsInf(length, 0) || math.IsNaN(length) {
		return math.Sqrt(square) * (1 + 0x1p-40)
	}
	next := make([]float32, len(small))
	for i, v := range small {
		next[i] = float32(v / length)
	}
	m := min(n, d)
	// Rounding to float32 moves the matrix, of length 1, by at most a unit.
	norm := float64(length * (spectralNorm(next, m, m, k-1) + unit + float64(float64(m)*tiny)))
	return math.Sqrt(norm+float64(off*square)) * (1 + 0x1p-40)
}

// gram returns the smaller of w^T w and w w^T, and the largest error in units of |w|_F^2.
// Products of few rows are float32 and their sum is float64.
func gram(w []float32, n, d int) (sum []float64, off float64) {
	const few = 128
	m, long := min(n, d), max(n, d)
	sum = make([]float64, m*m)
	part := make([]float32, m*m)
	for lo := 0; lo < long; lo += few {
		size := min(few, long-lo)
		if d <= n {
			kernel.Gemm(true, false, m, m, size, 1, w[lo*d:], d, w[lo*d:], d, 0, part, m)
		} else {
			kernel.Gemm(false, true, m, m, size, 1, w[lo:], d, w[lo:], d, 0, part, m)
		}
		for i, v := range part {
			sum[i] += float64(v)
		}
	}
	return sum, Gamma(few) + 0x1p-40
}
