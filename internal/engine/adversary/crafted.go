package adversary

import (
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
)

// Crafted describes what a defense's last Craft did, for the log of a run.
type Crafted struct {
	Radius record.Radius `json:"radius"` // over the rows that are perturbed
	// ZeroGradient is the fraction of input gradients, over the perturbed rows and
	// steps, that were zero in every pixel.
	ZeroGradient float64 `json:"zero_gradient"`
	Steps        int     `json:"steps"` // gradient steps taken, fewer than allowed where crafting ended early
	// Wanted is the mean destination hardness of the triplets, nil for defenses
	// without one; valid until the next Craft.
	Wanted *float64 `json:"wanted,omitempty"`
}

// Reporter is a defense that tells what its last Craft did. All defenses but None
// are.
type Reporter interface{ Crafted() Crafted }

// Hardness returns the mean of d(a,p) - d(a,n) over the triplets of t in the
// embeddings z (B, D), eps added to every coordinate difference: on a crafted batch
// the hardness achieved. It is NaN without triplets and where z lacks a row.
func Hardness(z *array.Array, t *loss.Tuples, eps float64) float64 {
	sum := 0.0
	for i, x := range t.Triplets {
		if err := x.Check(i, z.Rows()); err != nil {
			return math.NaN()
		}
		a := z.Row(int(x.A))
		sum += distance(a, z.Row(int(x.P)), eps) - distance(a, z.Row(int(x.N)), eps)
	}
	return sum / float64(len(t.Triplets))
}

// Origin is a defense that crafts rows of a batch before triplets are mined from them.
type Origin interface {
	// CleanRows returns the embeddings of the clean images of the rows that the last
	// Craft made, in Eval mode.
	CleanRows() *array.Array
}

// reporting makes a defense a Reporter.
type reporting struct{ crafted Crafted }

// Crafted implements Reporter.
func (r *reporting) Crafted() Crafted { return r.crafted }

// run crafts out from clean by p and keeps what it did.
func (r *reporting) run(p *PGD, model nn.Embedder, clean *array.Array, ids []uint64, goal Goal, seed uint64, out *array.Array) (record.Cost, error) {
	r.crafted = Crafted{}
	report, err := p.Run(model, clean, ids, goal, seed, out)
	if err != nil {
		return record.Cost{}, err
	}
	r.crafted = Crafted{Radius: report.Radius, ZeroGradient: report.ZeroGradient, Steps: report.Backward}
	rows := int64(clean.Rows())
	return record.Cost{Forward: rows * int64(report.Forward), Backward: rows * int64(report.Backward)}, nil
}
