package worst

import (
	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// blind is an attack that sees no gradient. It tries images of each query, one after
// another.
type blind interface {
	// propose writes image t of query i. It is called from several goroutines.
	propose(t, i int, out []float32)
	// look takes the embeddings of the images proposed last, and searches for them.
	look(z *array.Array)
	// seen takes the image of query i, whose place in the last search is k, and says whether
	// it is a success; the query then leaves.
	seen(i, k int, x []float32) bool
}

// tryBlind runs a on the queries of rows of b, of which w are the clean images. a keeps the
// best image of each in w.adv.
func (r *runner) tryBlind(b *batch, rows []int, w *batch, tries int, a blind) error {
	var left []int // queries of w
	for i := range rows {
		left = append(left, i)
	}
	r.field.aim(w.items)
	x := w.adv.Clone()
	for t := 0; t < tries && len(left) > 0; t++ {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		x.SetRows(len(left))
		par.Each(len(left), 1, func(k int) {
			a.propose(t, left[k], x.Row(k))
		})
		a.look(r.embed(r.model, x))
		var stay []int
		for k, i := range left {
			if a.seen(i, k, x.Row(k)) {
				b.claimed[rows[i]] = true
				continue
			}
			stay = append(stay, k)
		}
		if len(stay) < len(left) {
			left = retained(left, stay)
			r.field.retain(stay)
		}
	}
	r.keepBest(b, rows, w)
	return r.settle(b, rows, w.adv)
}
