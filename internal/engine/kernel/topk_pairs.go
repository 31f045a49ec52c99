package kernel

import (
	"fmt"
	"unsafe"
)

// pairsAtOnce is the number of products that the assembly forms together.
const pairsAtOnce = 6

// PairDots sets out[i] to the product of row a[i] of x with row b[i] of y, rows of d numbers
// each: with the bits of PackedRows.Dots at alpha 1. It is for few products: each takes about 20
// times as long as one of Dots.
func PairDots(d int, x, y []float32, a, b []int32, out []float32) {
	if d < 1 || len(a) != len(b) || len(out) != len(a) {
		panic(fmt.Sprintf("kernel: products of %d and %d rows of %d numbers to %d", len(a), len(b), d, len(out)))
	}
	for first := 0; first < len(a); first += pairsAtOnce {
		n := min(pairsAtOnce, len(a)-first)
		var sums [pairsAtOnce]float32
		for q := 0; q < d; q += dotRun {
			k := min(dotRun, d-q)
			var rows [2 * pairsAtOnce]*float32
			for i := range pairsAtOnce {
				at := first + min(i, n-1)
				u, v := int(a[at])*d+q, int(b[at])*d+q
				_, _ = x[u+k-1], y[v+k-1]
				rows[2*i], rows[2*i+1] = &x[u], &y[v]
			}
			var part [pairsAtOnce]float32
			pairProducts(k, &rows, &part)
			for i, s := range part {
				sums[i] += s
			}
		}
		copy(out[first:first+n], sums[:])
	}
}

func pairProducts(k int, rows *[2 * pairsAtOnce]*float32, sums *[pairsAtOnce]float32) {
	if assembly && Current() != Generic {
		pairProductsFMA(k, &rows[0], &sums[0])
		return
	}
	for i := range sums {
		x, y := unsafe.Slice(rows[2*i], k), unsafe.Slice(rows[2*i+1], k)
		for p, v := range x {
			sums[i] += float32(v * y[p])
		}
	}
}
