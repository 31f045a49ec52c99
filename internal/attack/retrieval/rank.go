package retrieval

import (
	"math"
	"slices"

	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// Unranked says that query i is not a number, or so far off that its distances are
// none.
func (d *Distances) Unranked(i int) bool { return !(d.squares[i] <= longest) }

// Rank returns how many items that are not hidden come before item c when they are
// sorted by their distance from query i.
func (d *Distances) Rank(i int, c int32) int {
	return d.Before(i, d.g.Squared(d.z.Row(i), int(c)), c)
}

// Before counts the items that are not hidden whose squared distance from query i is
// below square, or equals it with an index below tie.
func (d *Distances) Before(i int, square float64, tie int32) int {
	z, slack := d.z.Row(i), d.slack(i)
	// Both ends are moved outwards by far more than their own rounding.
	low, high := float32(math.Sqrt(max(0, square-slack))*(1-0x1p-20)), float32(math.Sqrt(square+slack)*(1+0x1p-20))
	count := 0
	for j, v := range d.Row(i) {
		switch {
		case !(v <= high): // also hidden ones
		case v < low:
			count++
		default:
			if s := d.g.Squared(z, j); s < square || s == square && int32(j) < tie {
				count++
			}
		}
	}
	return count
}

// Windows finds the nearest items of each query of a batch.
type Windows struct {
	k     int
	Items [][]int32 // (B) the k nearest items, nearest first

	d *Distances
}

// window is the scratch of one query.
type window struct {
	keys, spare []float32
	found       []Neighbor
}

var spareWindows par.Free[window]

// Find fills Items with the k nearest items of z (B, D), finite, k at most N.
func (w *Windows) Find(g *Gallery, z *array.Array, k int) {
	w.k = k
	for len(w.Items) < z.Rows() {
		w.Items = append(w.Items, nil)
	}
	w.d = g.Measure(z)
	par.Do(z.Rows(), 1, w)
	w.d.Release()
	w.d = nil
}

// Run searches for queries [lo, hi).
func (w *Windows) Run(lo, hi int) {
	s := spareWindows.Get()
	for i := lo; i < hi; i++ {
		w.d.Finish(i)
		row, z := w.d.Row(i), w.d.z.Row(i)
		s.keys = append(s.keys[:0], row...)
		last := float64(Ascending(s.keys, &s.spare)[w.k-1])
		limit := float32(math.Sqrt(float64(last*last)+float64(2*w.d.slack(i))) * (1 + 0x1p-20))
		s.found = s.found[:0]
		for j, v := range row {
			if v <= limit {
				s.found = append(s.found, Neighbor{int32(j), w.d.g.Squared(z, j)})
			}
		}
		slices.SortFunc(s.found, Neighbor.Compare)
		w.Items[i] = w.Items[i][:0]
		for _, f := range s.found[:w.k] {
			w.Items[i] = append(w.Items[i], f.Row)
		}
	}
	spareWindows.Put(s)
}
