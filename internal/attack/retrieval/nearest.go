package retrieval

import (
	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// Nearest holds the two nearest gallery items of each query that are not hidden.
type Nearest struct {
	gallery       *Gallery
	d             *Distances
	hidden        [][]int32 // (B), nil for none, while find runs
	First, Second []int32   // (B)
}

// Nearest returns the row nearest to each embedding z (B, D) of images, without those
// that an image is not compared with: what recall@1 of the fixed variant looks at. It is
// -1 for an embedding that is NaN.
func (g *Gallery) Nearest(z *array.Array, images []int) []int32 {
	return g.nearest(z, func(i int) []int32 { return g.Hidden(images[i]) })
}

// nearest is Nearest without the rows hidden(i) for z_i.
func (g *Gallery) nearest(z *array.Array, hidden func(i int) []int32) []int32 {
	out, d := make([]int32, z.Rows()), g.Measure(z)
	par.Each(z.Rows(), 1, func(i int) {
		d.Finish(i)
		d.HideAll(i, hidden(i))
		out[i], _ = d.Least(i)
	})
	d.Release()
	return out
}

// Embedding returns the embedding (D) of an image.
func (g *Gallery) Embedding(image int) []float32 { return g.Embeddings().Row(image) }

// NewNearest returns a search in g.
func NewNearest(g *Gallery) *Nearest { return &Nearest{gallery: g} }

// Find fills First and Second for queries q (B, D), with -1 for a query that is
// NaN. hidden are the rows that each is not compared with; nil: none.
func (n *Nearest) Find(q *array.Array, hidden [][]int32) {
	b := q.Rows()
	if cap(n.First) < b {
		n.First, n.Second = make([]int32, b), make([]int32, b)
	}
	n.First, n.Second = n.First[:b], n.Second[:b]
	n.d, n.hidden = n.gallery.Measure(q), hidden
	par.Do(b, 1, n)
	n.d.Release()
	n.d, n.hidden = nil, nil
}

// Run searches for queries [lo, hi).
func (n *Nearest) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		n.d.Finish(i)
		if n.hidden != nil {
			n.d.HideAll(i, n.hidden[i])
		}
		n.First[i], _ = n.d.Least(i)
		n.Second[i] = -1
		if n.First[i] >= 0 {
			n.d.Hide(i, n.First[i])
			n.Second[i], _ = n.d.Least(i)
		}
	}
}
