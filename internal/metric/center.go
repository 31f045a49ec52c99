package metric

import (
	"math"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

const (
	// offsetShare is how many times larger than the mean squared distance from
	// the mean its squared length must be for vectors to be centered.
	offsetShare = 4
	// safeToCenter keeps a difference of two numbers within float32.
	safeToCenter = 1e38
)

// centered shifts queries x and gallery g, rows of d numbers, by about the
// gallery's mean where a common offset dominates: Euclidean distances do not
// change, but their float32 products would lose the digits that tell rows
// apart. The shift is rounded to a power of two below the column's spread, so
// that subtracting it is exact and ties stay ties. Other data come back as they
// are, to the bit. x and g may be the same slice.
func centered(x, g []float32, d int) (cx, cg []float32) {
	if kernel.MaxAbs(g) > safeToCenter || kernel.MaxAbs(x) > safeToCenter {
		return x, g
	}
	n := len(g) / d
	mean := make([]float64, d)
	spread := make([]float64, d)
	par.For(d, 16, func(lo, hi int) { // each column summed in row order
		for i := range n {
			for j := lo; j < hi; j++ {
				mean[j] += float64(g[i*d+j])
			}
		}
		for j := lo; j < hi; j++ {
			mean[j] /= float64(n)
		}
		for i := range n {
			for j := lo; j < hi; j++ {
				v := float64(g[i*d+j]) - mean[j]
				spread[j] += float64(v * v)
			}
		}
	})
	var offset, within float64
	for j := range d {
		offset += float64(mean[j] * mean[j])
		within += spread[j] / float64(n)
	}
	if offset <= offsetShare*within {
		return x, g
	}
	for j := range mean {
		if unit := math.Sqrt(spread[j] / float64(n)); unit > 0 {
			unit = math.Exp2(math.Floor(math.Log2(unit)))
			mean[j] = math.Round(mean[j]/unit) * unit
		}
	}
	cg = minus(g, mean)
	if len(x) == len(g) && &x[0] == &g[0] {
		return cg, cg
	}
	return minus(x, mean), cg
}

// squares returns ||x_i||^2 of each of the n rows of x, d numbers each.
func squares(x []float32, n, d int) []float64 {
	out := make([]float64, n)
	par.For(n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = kernel.SumSquares(x[i*d : (i+1)*d])
		}
	})
	return out
}

func minus(x []float32, mean []float64) []float32 {
	d := len(mean)
	out := make([]float32, len(x))
	par.For(len(x)/d, 256, func(lo, hi int) {
		for i := lo * d; i < hi*d; i++ {
			out[i] = float32(float64(x[i]) - mean[i%d])
		}
	})
	return out
}
