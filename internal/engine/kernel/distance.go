package kernel

import "fmt"

// Dot returns the inner product of a and b, of equal length, with products and
// sum in float64, in index order.
func Dot(a, b []float32) float64 {
	b = b[:len(a)]
	var s float64
	for i, v := range a {
		s += float64(v) * float64(b[i])
	}
	return s
}

// SquaredDistance returns ||a - b||^2 for a and b of equal length, with
// differences and sum in float64, in index order.
func SquaredDistance(a, b []float32) float64 {
	b = b[:len(a)]
	var s float64
	for i, v := range a {
		d := float64(v) - float64(b[i])
		s += d * d
	}
	return s
}

// PairwiseSquared sets out[i*m+j] = ||x_i - y_j||^2 for x (n, d) and y (m, d).
//
// It computes ||x_i||^2 + ||y_j||^2 - 2 x_i.y_j with float64 norms and a float32
// product, clamped at 0. The absolute error is at most about
// (d+2)*2^-24*(||x_i||^2 + ||y_j||^2), in practice sqrt(d) in place of d: the
// distances of near-equal points have few or no correct digits, and
// SquaredDistance is the choice for them. Where x and y are the same slice the
// diagonal is exactly 0 and the result exactly symmetric. NaN in a point makes
// its distances NaN, the diagonal included.
func PairwiseSquared(n, m, d int, x, y, out []float32) {
	if n < 0 || m < 0 || d < 0 || len(x) != n*d || len(y) != m*d || len(out) != n*m {
		panic(fmt.Sprintf("kernel: pairwise distances of (%d, %d) and (%d, %d): got %d, %d and %d numbers", n, d, m, d, len(x), len(y), len(out)))
	}
	for i := range n {
		for j := range m {
			out[i*m+j] = float32(SquaredDistance(x[i*d:(i+1)*d], y[j*d:(j+1)*d]))
		}
	}
}
