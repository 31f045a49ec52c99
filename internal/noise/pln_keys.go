package noise

import "tercet/internal/component"

func init() {
	Family.Register(component.Component[Keys]{
		Name: PairLabel, Doc: "each label of a pair becomes a fair coin with one probability (pair label noise)", Defaults: PairKeys{Q: new(0.2)},
	})
}

// PairKeys replace the label of each pair of a pair graph, or of the two pairs of each
// triplet of a triplet list, by a fair coin. Exactly one of Q and Effective is set.
type PairKeys struct {
	Q         *float64 `yaml:"q" check:">=0,<=1" oneof:"amount" doc:"probability that a pair's label is replaced by a fair coin, so that half as many are wrong"`
	Effective *float64 `yaml:"effective" check:">=0,<=0.5" oneof:"amount" doc:"probability that a pair's label is wrong: q/2"`
	Seed      *uint64  `yaml:"seed" doc:"seed of the noise; null takes the run's"`
}

// Own implements Keys.
func (k PairKeys) Own() *uint64 { return k.Seed }

// Check implements component.Checker.
func (k PairKeys) Check() []component.Fault {
	return exactly("noise.q and noise.effective", k.Q, k.Effective)
}

// Fit implements Fitter.
func (PairKeys) Fit(pairs, triplets bool) []component.Fault {
	if pairs || triplets {
		return nil
	}
	return []component.Fault{component.Faultf("kind", "pln perturbs the labels of given pairs: set batch.sampler: pair-graph, or triplet-list, whose triplets are two pairs each, or take sln, which perturbs those of images")}
}

// Coin implements OnPairs.
func (k PairKeys) Coin() (float64, error) {
	if k.Q != nil {
		return *k.Q, nil
	}
	return PLNFromEffective(*k.Effective)
}

// TripletWeights implements Weighted: of the triplets' pairs, as often similar as
// different.
func (k PairKeys) TripletWeights(int) (TripletWeights, error) {
	q, err := k.Coin()
	return PLNTriplets(PLNEffective(q), 0.5), err
}
