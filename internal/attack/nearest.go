package attack

import (
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// nearest finds the two nearest gallery items of each query, exactly: distances
// in float32 choose candidates with their error allowed for, distances in float64
// decide. Equal distances are ordered by index.
type nearest struct {
	gallery *array.Array // (N, D), N >= 2
	largest float64      // largest squared length in the gallery

	q             *array.Array
	approx        []float32 // (B, N) squared distances
	first, second []int32   // (B)
}

func newNearest(gallery *array.Array) *nearest {
	n := &nearest{gallery: gallery}
	for i := range gallery.Rows() {
		n.largest = max(n.largest, kernel.SumSquares(gallery.Row(i)))
	}
	return n
}

// find fills first and second for queries q (B, D).
func (n *nearest) find(q *array.Array) {
	b, size, d := q.Rows(), n.gallery.Rows(), q.Cols()
	if cap(n.approx) < b*size {
		n.approx = make([]float32, b*size)
		n.first, n.second = make([]int32, b), make([]int32, b)
	}
	n.approx, n.first, n.second = n.approx[:b*size], n.first[:b], n.second[:b]
	n.q = q
	kernel.PairwiseSquared(b, size, d, q.Data, n.gallery.Data, n.approx)
	par.Do(b, 1, n)
}

// Run searches for queries [lo, hi).
func (n *nearest) Run(lo, hi int) {
	size := n.gallery.Rows()
	for i := lo; i < hi; i++ {
		q, row := n.q.Row(i), n.approx[i*size:][:size]
		least, next := float32(math.Inf(1)), float32(math.Inf(1))
		for _, v := range row {
			switch {
			case v < least:
				least, next = v, least
			case v < next:
				next = v
			}
		}
		// Twice the bound that PairwiseSquared states, and the rounding to float32.
		bound := 2 * float64(len(q)+3) * 0x1p-24 * (kernel.SumSquares(q) + n.largest)
		limit := float64(next) + bound
		best := [2]int32{-1, -1}
		at := [2]float64{math.Inf(1), math.Inf(1)}
		for j, v := range row {
			if float64(v) > limit {
				continue
			}
			d := kernel.SquaredDistance(q, n.gallery.Row(j))
			switch {
			case best[0] < 0 || d < at[0]:
				best, at = [2]int32{int32(j), best[0]}, [2]float64{d, at[0]}
			case best[1] < 0 || d < at[1]:
				best[1], at[1] = int32(j), d
			}
		}
		n.first[i], n.second[i] = best[0], best[1]
	}
}

// without returns the nearest item of query i other than `masked`.
func (n *nearest) without(i int, masked int32) int32 {
	if n.first[i] == masked {
		return n.second[i]
	}
	return n.first[i]
}
