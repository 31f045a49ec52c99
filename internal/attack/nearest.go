package attack

import (
	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// nearest holds the two nearest gallery items of each query that are not hidden.
type nearest struct {
	gallery       *Gallery
	d             *distances
	hidden        [][]int32 // (B), nil for none, while find runs
	first, second []int32   // (B)
}

// Nearest returns the row nearest to each embedding z (B, D) of images, without those
// that an image is not compared with: what recall@1 of the fixed variant looks at. It is
// -1 for an embedding that is NaN.
func (g *Gallery) Nearest(z *array.Array, images []int) []int32 {
	hidden := make([][]int32, len(images))
	for i, item := range images {
		hidden[i] = g.Hidden(item)
	}
	n := newNearest(g)
	n.find(z, hidden)
	return n.first
}

// Embedding returns the embedding (D) of an image.
func (g *Gallery) Embedding(image int) []float32 { return g.embeddings().Row(image) }

func newNearest(g *Gallery) *nearest { return &nearest{gallery: g} }

// find fills first and second for queries q (B, D), with -1 for a query that is
// NaN. hidden are the rows that each is not compared with; nil: none.
func (n *nearest) find(q *array.Array, hidden [][]int32) {
	b := q.Rows()
	if cap(n.first) < b {
		n.first, n.second = make([]int32, b), make([]int32, b)
	}
	n.first, n.second = n.first[:b], n.second[:b]
	n.d, n.hidden = newDistances(n.gallery, q), hidden
	par.Do(b, 1, n)
	n.d.release()
	n.d, n.hidden = nil, nil
}

// Run searches for queries [lo, hi).
func (n *nearest) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		n.d.finish(i)
		if n.hidden != nil {
			n.d.hideAll(i, n.hidden[i])
		}
		n.first[i], _ = n.d.least(i)
		n.second[i] = -1
		if n.first[i] >= 0 {
			n.d.hide(i, n.first[i])
			n.second[i], _ = n.d.least(i)
		}
	}
}
