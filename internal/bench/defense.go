package bench

import (
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
)

// defense makes the job's defense: none, or hardness manipulation as the paper
// has it, with the gradual adversary g_LGA.
func (t training) defense() (adversary.Defense, error) {
	if t.crafting == nil {
		return adversary.None{}, nil
	}
	o, err := adversary.HMDefaults(adversary.Paper, margin)
	if err != nil {
		return nil, err
	}
	o.Source = "" // the triplets are given
	o.Eps = 1e-6  // as in the loss
	o.PGD.Eps, o.PGD.Step, o.PGD.Iterations = t.crafting.eps, t.crafting.alpha, t.crafting.steps
	o.PGD.Precision = t.crafting.precision
	hm, err := adversary.NewHM(o)
	if err != nil {
		return nil, err
	}
	return &manipulation{hm, t.tuples()}, nil
}

// manipulation is hardness manipulation of triplets that are known, for which
// nothing is mined: the peers do not mine either.
type manipulation struct {
	*adversary.HM
	tuples loss.Tuples
}

// MinesClean returns false.
func (*manipulation) MinesClean() bool { return false }

// Craft perturbs the images of the known triplets.
func (m *manipulation) Craft(model nn.Embedder, in *adversary.Batch, seed, step uint64) (*adversary.Batch, record.Cost, error) {
	in.Tuples = &m.tuples
	return m.HM.Craft(model, in, seed, step)
}
