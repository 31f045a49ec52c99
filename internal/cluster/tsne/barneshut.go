package tsne

import "math"

// barnesHut are the forces of sparse affinities, and of cells of a tree.
type barnesHut struct {
	attraction attraction
	repulsion  *repulsion
	spreading  spreading
	negentropy float64 // sum of p log p
}

func newBarnesHut(a *affinities, theta float64) *barnesHut {
	return &barnesHut{
		attraction: attraction{affinities: a, force: make([]point, a.n)},
		repulsion:  newRepulsion(a.n, theta),
		spreading:  spreading{affinities: a},
		negentropy: negentropy(a.p),
	}
}

func (b *barnesHut) at(y []point) (attract, repel []point, z float64) {
	z = b.repulsion.at(y)
	b.attraction.at(y)
	return b.attraction.force, b.repulsion.force, z
}

// KL(P||Q) = sum p log p + sum p log(1+d^2) + log Z, since P sums to 1.
func (b *barnesHut) divergence(y []point, z float64) float64 {
	return b.negentropy + b.spreading.at(y) + math.Log(z)
}
