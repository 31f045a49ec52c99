package metric

import (
	"math"

	"tercet/internal/engine/kernel"
	"tercet/internal/engine/pages"
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
	var o offsets
	o.addSums(g, d)
	o.divide()
	o.addSpread(g, d)
	mean := o.shift()
	if mean == nil {
		return x, g
	}
	cg = minus(g, mean)
	if len(x) == len(g) && &x[0] == &g[0] {
		return cg, cg
	}
	return minus(x, mean), cg
}

// offsets are the means of columns and their spread, of rows that come in order.
type offsets struct {
	n            int
	mean, spread []float64
}

// addSums adds rows to the sums of columns.
func (o *offsets) addSums(g []float32, d int) {
	n := len(g) / d
	if o.n += n; o.mean == nil {
		o.mean, o.spread = make([]float64, d), make([]float64, d)
	}
	par.For(d, 16, func(lo, hi int) { // each column summed in row order
		for i := range n {
			for j := lo; j < hi; j++ {
				o.mean[j] += float64(g[i*d+j])
			}
		}
	})
}

// divide turns sums into means.
func (o *offsets) divide() {
	for j := range o.mean {
		o.mean[j] /= float64(o.n)
	}
}

// addSpread adds the squared deviations of rows from the means.
func (o *offsets) addSpread(g []float32, d int) {
	par.For(d, 16, func(lo, hi int) {
		for i := range len(g) / d {
			for j := lo; j < hi; j++ {
				v := float64(g[i*d+j]) - o.mean[j]
				o.spread[j] += float64(v * v)
			}
		}
	})
}

// shift is what is subtracted from rows, nil for nothing.
func (o *offsets) shift() []float64 {
	var offset, within float64
	for j, m := range o.mean {
		offset += float64(m * m)
		within += o.spread[j] / float64(o.n)
	}
	if offset <= offsetShare*within {
		return nil
	}
	for j, m := range o.mean {
		if unit := math.Sqrt(o.spread[j] / float64(o.n)); unit > 0 {
			unit = math.Exp2(math.Floor(math.Log2(unit)))
			o.mean[j] = math.Round(m/unit) * unit
		}
	}
	return o.mean
}

// squares returns ||x_i||^2 of each of the n rows of x, d numbers each.
func squares(x []float32, n, d int) []float64 {
	out := make([]float64, n)
	par.Each(n, 64, func(i int) {
		out[i] = kernel.SumSquares(x[i*d : (i+1)*d])
	})
	return out
}

func minus(x []float32, mean []float64) []float32 {
	d := len(mean)
	out := pages.Make[float32](len(x))
	par.For(len(x)/d, 256, func(lo, hi int) {
		for i := lo * d; i < hi*d; i++ {
			out[i] = float32(float64(x[i]) - mean[i%d])
		}
	})
	return out
}
