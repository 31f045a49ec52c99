package train

import (
	"math"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/record"
)

// addCrafted puts one more step into the means, given the hardness of its triplets
// before and after (NaN: not known).
func addCrafted(c *record.Crafted, a adversary.Crafted, benign, achieved float64) {
	c.Steps++
	n := float64(c.Steps)
	mean := func(m *float64, v float64) { *m += (v - *m) / n }
	mean(&c.MeanLinf, a.Radius.MeanLinf)
	mean(&c.MeanL2, a.Radius.MeanL2)
	mean(&c.Gradients, float64(a.Steps))
	mean(&c.ZeroGradient, a.ZeroGradient)
	c.MaxLinf = max(c.MaxLinf, a.Radius.MaxLinf)
	optional := func(m **float64, v float64) {
		if math.IsNaN(v) || *m == nil && c.Steps > 1 { // earlier steps, of an older version, lack it
			return
		}
		if *m == nil {
			*m = new(float64)
		}
		mean(*m, v)
	}
	optional(&c.Achieved, achieved)
	optional(&c.Benign, benign)
	if a.Wanted != nil {
		optional(&c.Wanted, *a.Wanted)
	}
}

// crafted notes what the defense did in this step, given the embeddings z of the
// crafted batch b in the training pass, and the hardness of triplets that were mined
// before crafting.
func (t *Trainer) crafted(b *adversary.Batch, z *array.Array, benign float64) {
	r, ok := t.Defense.(adversary.Reporter)
	if !ok {
		return
	}
	achieved := adversary.Hardness(z, b.Tuples, 0)
	if o, ok := t.Defense.(adversary.Origin); ok {
		benign = adversary.Hardness(o.CleanRows(), b.Tuples, 0)
	}
	c := r.Crafted()
	for _, to := range []**record.Crafted{&t.State.Crafted, &t.window.Crafted} {
		if *to == nil {
			*to = &record.Crafted{}
		}
		addCrafted(*to, c, benign, achieved)
	}
}
