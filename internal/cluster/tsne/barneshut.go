package tsne

import (
	"math"
	"slices"

	"tercet/internal/par"
)

// barnesHut are the forces of sparse affinities, and of cells of a tree.
type barnesHut struct {
	repulsion  *repulsion
	attraction attraction
	spreading  spreading
	negentropy float64 // sum of p log p

	// Attraction is summed in an order of rows in which neighbors are near, so that
	// their places are in a near cache.
	order  []int32
	places []point // in that order
	pull   []point // by rows
	calls  int
}

// arrangeAt are the iterations at which rows are put in the order of the map: when
// groups have formed, and when they have spread after the exaggeration.
var arrangeAt = []int{100, 400}

func newBarnesHut(a *affinities, theta float64) *barnesHut {
	b := &barnesHut{
		repulsion:  newRepulsion(a.n, theta),
		attraction: attraction{affinities: a, force: make([]point, a.n)},
		spreading:  spreading{affinities: a},
		negentropy: negentropy(a.p),
		order:      make([]int32, a.n), places: make([]point, a.n), pull: make([]point, a.n),
	}
	for i := range b.order {
		b.order[i] = int32(i)
	}
	return b
}

func (b *barnesHut) at(y []point) (attract, repel []point, z float64) {
	z = b.repulsion.at(y)
	if b.calls++; slices.Contains(arrangeAt, b.calls) {
		b.arrange(b.repulsion.tree.order)
	}
	b.place(y)
	b.attraction.at(b.places)
	for k, row := range b.order {
		b.pull[row] = b.attraction.force[k]
	}
	return b.pull, b.repulsion.force, z
}

func (b *barnesHut) place(y []point) {
	for k, row := range b.order {
		b.places[k] = y[row]
	}
}

// KL(P||Q) = sum p log p + sum p log(1+d^2) + log Z, since P sums to 1.
func (b *barnesHut) divergence(y []point, z float64) float64 {
	b.place(y)
	return b.negentropy + b.spreading.at(b.places) + math.Log(z)
}

// arrange puts rows in the given order.
func (b *barnesHut) arrange(order []int32) {
	was := make([]int32, len(order)) // place of each row before
	for k, row := range b.order {
		was[row] = int32(k)
	}
	from := make([]int32, len(order)) // place before of each place
	for k, row := range order {
		from[k] = was[row]
	}
	a := b.attraction.affinities.arranged(from)
	b.attraction.affinities, b.spreading.affinities = a, a
	copy(b.order, order)
}

// arranged returns the affinities with row and column k those of from[k].
func (a *affinities) arranged(from []int32) *affinities {
	to := make([]int32, a.n) // the new place of each
	for k, old := range from {
		to[old] = int32(k)
	}
	r := &affinities{n: a.n, start: make([]int, a.n+1), to: make([]int32, len(a.to)), p: make([]float32, len(a.p))}
	for k, old := range from {
		r.start[k+1] = r.start[k] + a.start[old+1] - a.start[old]
	}
	par.For(a.n, 256, func(lo, hi int) {
		var by []int
		for k := lo; k < hi; k++ {
			first, end := a.start[from[k]], a.start[from[k]+1]
			by = by[:0]
			for e := first; e < end; e++ {
				by = append(by, e)
			}
			slices.SortFunc(by, func(x, y int) int { return int(to[a.to[x]]) - int(to[a.to[y]]) })
			for i, e := range by {
				r.to[r.start[k]+i], r.p[r.start[k]+i] = to[a.to[e]], a.p[e]
			}
		}
	})
	return r
}
