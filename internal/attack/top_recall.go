package attack

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
)

// recall scores queries by recall@1: 1 if the nearest gallery item has the
// query's label, else 0, its own copy left out. The published variant takes for
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

// checkBatch returns an error unless b holds rows of the gallery and an embedding
// of each, whose distances float32 can hold.
func (g *Gallery) checkBatch(name string, b *Batch) error {
	if err := b.Clean.SameShape("clean embeddings", len(b.Items), g.X.Cols()); err != nil {
		return fmt.Errorf("attack %s: %w", name, err)
	}
	for i, item := range b.Items {
		if item < 0 || item >= g.Len() {
			return fmt.Errorf("attack %s: query %d is item %d of a gallery of %d", name, i, item, g.Len())
		}
		if !(g.fromMean(b.Clean.Row(i)) <= longest) {
			return fmt.Errorf("attack %s: the clean embedding of item %d is not finite, or too far from the gallery for float32", name, item)
		}
	}
	return nil
}
