package attack

import (
	"math"
	"slices"

	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// Ranks are decided as nearest neighbors are: float32 where its error leaves no
// doubt, else float64; equal distances are ordered by index.

// unranked says that query i is not a number, or so far off that its distances are
// none.
func (d *distances) unranked(i int) bool { return !(d.squares[i] <= longest) }

// rank returns how many items that are not hidden come before item c when they are
// sorted by their distance from query i.
func (d *distances) rank(i int, c int32) int {
	return d.before(i, d.g.squared(d.z.Row(i), int(c)), c)
}

// before counts the items that are not hidden whose squared distance from query i is
// below square, or equals it with an index below tie.
func (d *distances) before(i int, square float64, tie int32) int {
	z, slack := d.z.Row(i), d.slack(i)
	// Both ends are moved outwards by far more than their own rounding.
	low, high := float32(math.Sqrt(max(0, square-slack))*(1-0x1p-20)), float32(math.Sqrt(square+slack)*(1+0x1p-20))
	count := 0
	for j, v := range d.row(i) {
		switch {
		case !(v <= high): // also hidden ones
		case v < low:
			count++
		default:
			if s := d.g.squared(z, j); s < square || s == square && int32(j) < tie {
				count++
			}
		}
	}
	return count
}

// windows finds the nearest items of each query of a batch.
type windows struct {
	k     int
	items [][]int32 // (B) the k nearest items, nearest first

	d *distances
}

// window is the scratch of one query.
type window struct {
	keys, spare []float32
	found       []Neighbor
}

var spareWindows par.Free[window]

// find fills items with the k nearest items of z (B, D), finite, k at most N.
func (w *windows) find(g *Gallery, z *array.Array, k int) {
	w.k = k
	for len(w.items) < z.Rows() {
		w.items = append(w.items, nil)
	}
	w.d = newDistances(g, z)
	par.Do(z.Rows(), 1, w)
	w.d.release()
	w.d = nil
}

// Run searches for queries [lo, hi).
func (w *windows) Run(lo, hi int) {
	s := spareWindows.Get()
	for i := lo; i < hi; i++ {
		w.d.finish(i)
		row, z := w.d.row(i), w.d.z.Row(i)
		s.keys = append(s.keys[:0], row...)
		last := float64(ascending(s.keys, &s.spare)[w.k-1])
		limit := float32(math.Sqrt(float64(last*last)+float64(2*w.d.slack(i))) * (1 + 0x1p-20))
		s.found = s.found[:0]
		for j, v := range row {
			if v <= limit {
				s.found = append(s.found, Neighbor{int32(j), w.d.g.squared(z, j)})
			}
		}
		slices.SortFunc(s.found, Neighbor.Compare)
		w.items[i] = w.items[i][:0]
		for _, f := range s.found[:w.k] {
			w.items[i] = append(w.items[i], f.Row)
		}
	}
	spareWindows.Put(s)
}
