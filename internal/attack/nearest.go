package attack

import (
	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// nearest holds the two nearest gallery items of each query.
type nearest struct {
	gallery       *Gallery
	d             *distances
	first, second []int32 // (B)
}

func newNearest(g *Gallery) *nearest { return &nearest{gallery: g} }

// find fills first and second for queries q (B, D), with -1 for a query that is
// NaN.
func (n *nearest) find(q *array.Array) {
	b := q.Rows()
	if cap(n.first) < b {
		n.first, n.second = make([]int32, b), make([]int32, b)
	}
	n.first, n.second = n.first[:b], n.second[:b]
	n.d = newDistances(n.gallery, q)
	par.Do(b, 1, n)
	n.d.release()
	n.d = nil
}

// Run searches for queries [lo, hi).
func (n *nearest) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		n.d.finish(i)
		n.first[i], _ = n.d.least(i)
		n.second[i] = -1
		if n.first[i] >= 0 {
			n.d.hide(i, n.first[i])
			n.second[i], _ = n.d.least(i)
		}
	}
}

// without returns the nearest item of query i other than `masked`.
func (n *nearest) without(i int, masked int32) int32 {
	if n.first[i] == masked {
		return n.second[i]
	}
	return n.first[i]
}
