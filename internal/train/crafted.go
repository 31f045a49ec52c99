package train

import (
	"math"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/record"
)

// Crafted is record.Crafted.
type Crafted = record.Crafted

// addCrafted puts one more step into the means.
func addCrafted(c *Crafted, a adversary.Crafted, achieved float64) {
	c.Steps++
	n := float64(c.Steps)
	mean := func(m *float64, v float64) { *m += (v - *m) / n }
	mean(&c.MeanLinf, a.Radius.MeanLinf)
	mean(&c.MeanL2, a.Radius.MeanL2)
	mean(&c.Gradients, float64(a.Steps))
	mean(&c.ZeroGradient, a.ZeroGradient)
	c.MaxLinf = max(c.MaxLinf, a.Radius.MaxLinf)
	if !math.IsNaN(achieved) {
		if c.Achieved == nil {
			c.Achieved = new(float64)
		}
		mean(c.Achieved, achieved)
	}
	if a.Wanted != nil {
		if c.Wanted == nil {
			c.Wanted = new(float64)
		}
		mean(c.Wanted, *a.Wanted)
	}
}

// crafted notes what the defense did in this step, given the embeddings z of the
// crafted batch b in the training pass.
func (t *Trainer) crafted(b *adversary.Batch, z *array.Array) {
	r, ok := t.Defense.(adversary.Reporter)
	if !ok {
		return
	}
	achieved := adversary.Hardness(z, b.Tuples, 0)
	c := r.Crafted()
	for _, to := range []**Crafted{&t.State.Crafted, &t.window.Crafted} {
		if *to == nil {
			*to = &Crafted{}
		}
		addCrafted((*to), c, achieved)
	}
}
