package train

import (
	"math"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
)

// Crafted sums up what a defence did over some training steps.
type Crafted struct {
	Steps        int      `json:"steps"`     // training steps
	MeanLinf     float64  `json:"mean_linf"` // size of the perturbations, pixels in [0, 1]: mean over images and steps,
	MaxLinf      float64  `json:"max_linf"`  // and the largest one
	MeanL2       float64  `json:"mean_l2"`
	Gradients    float64  `json:"gradient_steps"`            // of crafting, in the mean
	ZeroGradient float64  `json:"zero_gradient"`             // fraction of input gradients that vanished
	Achieved     *float64 `json:"hardness,omitempty"`        // mean d(a,p) - d(a,n) of the crafted triplets in the training pass
	Wanted       *float64 `json:"wanted_hardness,omitempty"` // mean destination, where the defence has one
}

// add puts one more step into the means.
func (c *Crafted) add(a adversary.Crafted, achieved float64) {
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

// crafted notes what the defence did in this step, given the embeddings z of the
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
		(*to).add(c, achieved)
	}
}
