package mine

import (
	"math"

	"tercet/internal/engine/kernel"
)

// view knows the squared distances from one anchor to all rows within bounds.
// Miners compare distances with each other and with thresholds; nearly all of
// these comparisons are decided by the bounds, and only what they leave open is
// measured in float64. The outcome is that of float64 throughout.
//
// The bounds come from one float32 product of the anchors with all rows: the
// squared distance is |x|^2 + |y|^2 - 2 x.y, and an inner product of length D is
// off by at most D u / (1 - D u) |x||y|, u = 2^-24, in whatever order it is summed
// (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1).
type view struct {
	usable bool      // the products are finite; otherwise all is measured
	x      []float32 // (anchors, D) where the anchors are not evenly spread
	gram   []float32 // (anchors, rows) inner products
	square []float64 // (rows) |x|^2, x scaled to length 1 under Normalize
	loose  float64   // bound of an inner product's relative error
	tiny   float64   // bound of its absolute error from products that underflow

	a      int       // the anchor looked from
	lo, hi []float64 // (rows) bounds of its squared distances; both 0 at a itself
}

// survey prepares looking from the batch's anchors.
func (b *batch) survey() {
	v := &b.view
	n, rows, dim := len(b.anchors), b.rows, b.dim
	v.square = grow(v.square, rows)
	v.lo, v.hi = grow(v.lo, rows), grow(v.hi, rows)
	largest := 0.0
	for i := range v.square {
		x := b.z.Data[i*dim:][:dim]
		s := kernel.Dot(x, x)
		largest = max(largest, s)
		v.square[i] = s * b.unit[i] * b.unit[i]
	}
	du := float64(float64(dim+2) / (1 << 24))
	if v.usable = largest < 1e37 && du < 0.1; !v.usable {
		return
	}
	v.loose, v.tiny = du/(1-du), float64(dim)*1.2e-38
	v.gram = grow(v.gram, n*rows)
	x, stride := b.z.Data, dim
	switch {
	case n == rows:
	case b.o.Layout == Pairs:
		stride = 2 * dim // every other row
	default:
		v.x = v.x[:0]
		for _, a := range b.anchors {
			v.x = append(v.x, b.z.Data[a*dim:][:dim]...)
		}
		x = v.x
	}
	kernel.Gemm(false, true, n, rows, dim, 1, x, stride, b.z.Data, dim, 0, v.gram, rows)
}

// look fills the bounds for the i-th anchor.
func (b *batch) look(i int) {
	v := &b.view
	v.a = b.anchors[i]
	if !v.usable {
		for j := range v.lo {
			d := b.measure(v.a, j)
			v.lo[j], v.hi[j] = d*d, d*d
		}
		return
	}
	gram := v.gram[i*b.rows:][:b.rows]
	sa, ua := v.square[v.a], b.unit[v.a]
	root := math.Sqrt(sa)
	for j, g := range gram {
		sb, u := v.square[j], float64(ua*b.unit[j])
		d := sa + sb - float64(2*u*float64(g))
		// The last term covers the float64 sums.
		off := float64(2*v.loose*root*math.Sqrt(sb)) + float64(2*u*v.tiny) + float64(1e-13*(sa+sb))
		v.lo[j], v.hi[j] = max(d-off, 0), d+off
	}
	v.lo[v.a], v.hi[v.a] = 0, 0
}

// ulps covers the rounding of a squared threshold.
const ulps = 1e-14

// nearer and farther report whether the distance from the anchor looked from to
// row j is below or above t >= 0.
func (b *batch) nearer(j int, t float64) bool {
	return b.compare(j, t*t, t, false) < 0
}

func (b *batch) farther(j int, t float64) bool {
	return b.compare(j, t*t, t, false) > 0
}

// gapTo compares gap(a, j), a the anchor looked from, with t >= 0.
func (b *batch) gapTo(j int, t float64) int {
	if b.o.Squared {
		return b.compare(j, t, t, true)
	}
	return b.compare(j, t*t, t, false)
}

// compare returns the sign of d - t, d the distance to row j or its square;
// square is the threshold for the squared distance.
func (b *batch) compare(j int, square, t float64, squared bool) int {
	v := &b.view
	switch {
	case v.hi[j] < square-float64(ulps*square):
		return -1
	case v.lo[j] > square+float64(ulps*square):
		return 1
	}
	d := b.measure(v.a, j)
	if squared {
		d *= d
	}
	switch {
	case d < t:
		return -1
	case d > t:
		return 1
	}
	return 0
}

// farthest returns the largest distance from the anchor looked from to a row of
// its label, 0 if it is alone.
func (b *batch) farthest() float64 {
	v := &b.view
	sure := 0.0
	for j, l := range v.lo {
		if l > sure && b.same(v.a, j) {
			sure = l
		}
	}
	d := 0.0
	for j, h := range v.hi {
		if h >= sure && b.same(v.a, j) && j != v.a {
			d = max(d, b.measure(v.a, j))
		}
	}
	return d
}

// nearest returns the smallest distance from the anchor looked from to a row of
// another label, infinity if there is none.
func (b *batch) nearest() float64 {
	v := &b.view
	sure := math.Inf(1)
	for j, h := range v.hi {
		if h < sure && b.other(v.a, j) {
			sure = h
		}
	}
	d := math.Inf(1)
	for j, l := range v.lo {
		if l <= sure && b.other(v.a, j) {
			d = min(d, b.measure(v.a, j))
		}
	}
	return d
}
