package noise

import (
	"tercet/internal/component"
	"tercet/internal/record"
)

func init() {
	Family.Register(component.Component[Keys]{
		Name: PairLabel, Doc: "each label of a pair becomes a fair coin with one probability (pair label noise)", Defaults: PairKeys{Q: new(0.2)},
	})
}

// PairKeys replace the label of each pair of a pair graph, or of the two pairs of each
// triplet of a triplet list, by a fair coin, or make them wrong at a rate for similar and one for different labels.
// Exactly one of Q, Effective, and Beta with Gamma is set.
type PairKeys struct {
	Q         *float64 `yaml:"q" check:">=0,<=1" oneof:"amount" doc:"probability that a pair's label is replaced by a fair coin, so that half as many are wrong"`
	Effective *float64 `yaml:"effective" check:">=0,<=0.5" oneof:"amount" doc:"probability that a pair's label is wrong: q/2"`
	Beta      *float64 `yaml:"beta" check:">0.5,<=1" oneof:"amount" doc:"probability that a pair labeled similar, or a triplet's positive, is right; set gamma too"`
	Gamma     *float64 `yaml:"gamma" check:">0.5,<=1" oneof:"amount" doc:"probability that a pair labeled different, or a triplet's negative, is right; set beta too"`
	Seed      *uint64  `yaml:"seed" doc:"seed of the noise; null: the run's seed"`
}

// Own implements Keys.
func (k PairKeys) Own() *uint64 { return k.Seed }

// Check implements component.Checker.
func (k PairKeys) Check() []component.Fault {
	if (k.Beta == nil) != (k.Gamma == nil) {
		return []component.Fault{component.Faultf("kind", "set noise.beta and noise.gamma together: a pair labeled similar is right with probability beta, one labeled different with gamma")}
	}
	return exactly("noise.q, noise.effective, and noise.beta with noise.gamma", k.Q, k.Effective, k.Beta)
}

// Fit implements Fitter.
func (PairKeys) Fit(pairs, triplets bool) []component.Fault {
	if pairs || triplets {
		return nil
	}
	return []component.Fault{component.Faultf("kind", "pln perturbs the labels of given pairs: set batch.sampler: pair-graph, or triplet-list, whose triplets are two pairs each, or use sln, which perturbs those of images")}
}

// WrongPairs implements OnPairs.
func (k PairKeys) WrongPairs() (WrongPairs, error) {
	switch {
	case k.Beta != nil && k.Gamma != nil:
		return wrongOf(*k.Beta, *k.Gamma)
	case k.Q != nil:
		return Coins(*k.Q), nil
	}
	q, err := PLNFromEffective(*k.Effective)
	return Coins(q), err
}

// WrongLabels implements OnPairs.
func (k PairKeys) WrongLabels() (similar, different float64, err error) {
	if k.Beta != nil && k.Gamma != nil {
		return decimal(1 - *k.Beta), decimal(1 - *k.Gamma), nil
	}
	w, err := k.WrongPairs()
	return w.Similar, w.Different, err
}

// TripletWeights implements Weighted.
func (k PairKeys) TripletWeights(int) (record.TripletWeights, error) {
	if k.Beta != nil && k.Gamma != nil {
		return independent(*k.Beta, *k.Gamma), nil
	}
	w, err := k.WrongPairs()
	return PLNTriplets(w.Effective(), 0.5), err
}
