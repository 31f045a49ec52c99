package kernel

import "math"

// Sum returns the sum of x, in float64.
func Sum(x []float32) float64 {
	var s float64
	for _, v := range x {
		s += float64(v)
	}
	return s
}

// SumSquares returns the sum of the squares of x, in float64.
func SumSquares(x []float32) float64 {
	var s float64
	for _, v := range x {
		s += float64(v) * float64(v)
	}
	return s
}

// Axpy computes y += alpha*x for slices of equal length.
func Axpy(alpha float32, x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += alpha * v
	}
}

// MaxAbs returns the largest magnitude in x, 0 for none, and NaN where x holds
// a NaN.
func MaxAbs(x []float32) float32 {
	var m float32
	for _, v := range x {
		if v != v {
			return v
		}
		m = max(m, float32(math.Abs(float64(v))))
	}
	return m
}

// AllFinite returns -1 and true where x holds neither NaN nor infinity, else the
// index of the first one and false.
func AllFinite(x []float32) (index int, ok bool) {
	for i, v := range x {
		if v-v != 0 {
			return i, false
		}
	}
	return -1, true
}
