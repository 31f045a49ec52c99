package attack

import (
	"math"

	"tercet/internal/engine/array"
)

// recall scores queries by recall@1: 1 if the nearest gallery item has the
// query's label, else 0, the query itself left out. The published variant takes for
// that copy the item nearest to the clean embedding, which is another one where
// images repeat or embeddings collapse; the fixed one knows its index.
type recall struct {
	g       *Gallery
	variant Variant
	items   []int // of the batch
	own     []int32
	found   *nearest
}

func newRecall(g *Gallery, v Variant) recall { return recall{g: g, variant: v, found: newNearest(g)} }

// aim sets what is left out. In the published variant found then holds the two
// items nearest to each clean embedding.
func (r *recall) aim(name string, b *Batch) error {
	if err := r.g.checkBatch(name, b); err != nil {
		return err
	}
	r.items, r.own = b.Items, r.own[:0]
	if r.variant == Published {
		r.found.find(b.Clean)
		r.own = append(r.own, r.found.first...)
		return nil
	}
	for _, item := range b.Items {
		r.own = append(r.own, int32(item))
	}
	return nil
}

// score writes the recall of embeddings z (B, D), NaN for one that is NaN.
func (r *recall) score(z *array.Array, out []float64) {
	r.found.find(z)
	for i, item := range r.items {
		out[i] = 0
		switch top := r.found.without(i, r.own[i]); {
		case top < 0:
			out[i] = math.NaN()
		case r.g.Labels[top] == r.g.Labels[item]:
			out[i] = 1
		}
	}
}
