package worst

import (
	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// Other is another network of the same images: what comes near to breaking a query of it is
// tried, since where gradients are masked, those of another network may serve.
type Other struct {
	Model   nn.Embedder
	Gallery *retrieval.Gallery // of its embeddings
	Plain   bool               // trained without defense: the ensemble should break all that it has
}

// fromOthers runs APGD on the margin of each of the other networks, from the clean image, and
// tries the images with the lowest one: those that break it by most, not by little.
func (r *runner) fromOthers(b *batch) error {
	for at, o := range r.o.Others {
		images := array.New(b.x.Shape...)
		f := newWhole(o.Gallery, r.o.K)
		f.aim(b.items)
		p := r.pgd
		p.Start = adversary.FromClean
		seed := rng.New(r.o.Seed, "worst.others", uint64(at)).Uint64()
		report, err := p.Run(o.Model, b.x, b.ids, &goal{ctx: r.ctx, f: f, loss: marginLoss{}}, seed, images)
		if err != nil {
			return r.about(b.items, err)
		}
		r.cost.Forward += int64(report.Forward) * int64(b.x.Rows())
		r.cost.Backward += int64(report.Backward) * int64(b.x.Rows())
		if err := r.try(b, func(i int, _, out []float32) error {
			copy(out, images.Row(i))
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
