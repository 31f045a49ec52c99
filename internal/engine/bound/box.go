package bound

import (
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// unit is half the distance of 1 from the next float32.
const unit = 0x1p-24

// tiny covers what products lose that are too small for float32. In tiles (kernel level amx)
// numbers below 2^-126 count as 0, and those below 2^-102 lose digits: a sum of 10^6 products
// of numbers up to 10^6 then loses less than this.
const tiny = 1e-25

// chunk is the number of elements of one part of an elementwise pass.
const chunk = 1 << 13

// Gamma bounds the relative error of a float32 sum of n products in any order. Eight
// more operations are allowed for: a bias, a batch norm folded into the weights.
//
// It also bounds that of kernel level amx, which makes each product of six of bfloat16. For
// k >= 64, the least of its products of matrices, no number there is rounded more than
// 17 + 6 ceil(k/32) times, of magnitudes that are 1.02 times as large at most, and what is
// left out is 1.02 units: less than k + 8 together.
func Gamma(n int) float64 {
	k := float64(float64(n+8) * unit)
	return k / (1 - k)
}

// up rounds v to float32 upwards.
func up(v float64) float32 {
	f := float32(v)
	if float64(f) < v {
		return math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}

// Box holds intervals of numbers: [C-R, C+R], rows (B, n). R is not negative.
type Box struct{ C, R *array.Array }

// sized makes b hold rows rows of n numbers, keeping its storage.
func (b *Box) sized(rows, n int) {
	if b.C == nil {
		b.C, b.R = array.New(rows, n), array.New(rows, n)
	}
	b.C.SetRows(rows)
	b.R.SetRows(rows)
}

// set writes the interval [lo, hi] to element i.
func (b *Box) set(i int, lo, hi float64) {
	c := float32(lo + float64((hi-lo)/2))
	b.C.Data[i] = c
	// The relative term is for the roundings of lo, hi and of the differences here.
	b.R.Data[i] = up(max(hi-float64(c), float64(c)-lo, 0) + float64(0x1p-48*(math.Abs(lo)+math.Abs(hi))))
}

// Bounds returns the ends of element k of row i.
func (b *Box) Bounds(i, k int) (lo, hi float64) {
	c, r := float64(b.C.Row(i)[k]), float64(b.R.Row(i)[k])
	return c - r, c + r
}

// Ball sets b to the images x (B, ...), pixels in [0, 1], moved by at most eps[i] in each
// pixel and staying in [0, 1].
func (b *Box) Ball(x *array.Array, eps []float64) {
	n := x.Cols()
	b.sized(x.Rows(), n)
	par.Each(x.Rows(), max(1, chunk/n), func(i int) {
		for k, v := range x.Row(i) {
			lo, hi := max(0, float64(v)-eps[i]), min(1, float64(v)+eps[i])
			b.set(i*n+k, lo, hi)
		}
	})
}
