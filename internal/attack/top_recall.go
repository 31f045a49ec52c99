package attack

import (
	"math"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
)

// recall scores queries by recall@1: 1 if the nearest gallery item has the
// query's label, else 0, the query itself and its sequence left out. The published
// variant takes for that copy the item nearest to the clean embedding, which is another
// one where images repeat or embeddings collapse; the fixed one knows its index.
type recall struct {
	g       *retrieval.Gallery
	variant Variant
	items   []int // of the batch
	own     []int32
	hidden  [][]int32
	found   *retrieval.Nearest
}

// otherLabels lists the items of each label for attacks that need items of another one.
func otherLabels(name string, g *retrieval.Gallery) (*retrieval.Members, error) {
	m := retrieval.NewMembers(g.Labels)
	if m.Groups() < 2 {
		return nil, retrieval.Unfit("attack %s: all %d images of the gallery have label %d; it needs items of another label", name, g.Len(), g.Labels[0])
	}
	return m, nil
}

func newRecall(g *retrieval.Gallery, v Variant) recall {
	return recall{g: g, variant: v, found: retrieval.NewNearest(g)}
}

// aim sets what is left out. In the published variant found then holds the two
// items nearest to each clean embedding.
func (r *recall) aim(name string, b *Batch) error {
	if err := b.check(name, r.g); err != nil {
		return err
	}
	r.items, r.own, r.hidden = b.Items, r.own[:0], r.hidden[:0]
	if r.variant == Published {
		r.found.Find(b.Clean, nil)
		r.own = append(r.own, r.found.First...)
	}
	for i, item := range b.Items {
		if r.variant == Published {
			r.hidden = append(r.hidden, r.own[i:i+1])
			continue
		}
		r.hidden = append(r.hidden, r.g.Hidden(item))
	}
	return nil
}

// score writes the recall of embeddings z (B, D), NaN for one that is NaN.
func (r *recall) score(z *array.Array, out []float64) {
	r.found.Find(z, r.hidden)
	for i, item := range r.items {
		out[i] = 0
		switch top := r.found.First[i]; {
		case top < 0:
			out[i] = math.NaN()
		case r.g.Labels[top] == r.g.Label(item):
			out[i] = 1
		}
	}
}
