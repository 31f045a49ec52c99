package noise

import (
	"tercet/internal/component"
	"tercet/internal/record"
)

func init() {
	Family.Register(component.Component[Keys]{
		Name: Symmetric, Doc: "each label flips to another class with one probability (symmetric label noise)", Defaults: SymmetricKeys{Rate: new(0.2)},
	})
}

// SymmetricKeys flip each training label independently to another class, all of
// them equally likely. Exactly one of Rate, Q and Effective is set.
type SymmetricKeys struct {
	Rate      *float64 `yaml:"rate" check:">=0,<1" oneof:"amount" doc:"probability that a label is replaced by another class"`
	Q         *float64 `yaml:"q" check:">=0,<=1" oneof:"amount" doc:"probability that a label is redrawn from all K classes, including the true one: rate q (K-1)/K"`
	Effective *float64 `yaml:"effective" check:">=0,<=0.5" oneof:"amount" doc:"probability that the label of a pair, as often similar as different, is wrong: q - q^2/2"`
	Seed      *uint64  `yaml:"seed" doc:"seed of the noise; null: the run's seed. With the same seed, the labels that are wrong at a low rate are also wrong at a higher one"`
}

// Own implements Keys.
func (k SymmetricKeys) Own() *uint64 { return k.Seed }

// Check implements component.Checker.
func (k SymmetricKeys) Check() []component.Fault {
	return exactly("noise.rate, noise.q and noise.effective", k.Rate, k.Q, k.Effective)
}

// redraw is the probability that a label of that many classes is drawn again.
func (k SymmetricKeys) redraw(classes int) (float64, error) {
	switch {
	case k.Rate != nil:
		return SLNFromRate(*k.Rate, classes), nil
	case k.Q != nil:
		return *k.Q, nil
	}
	return SLNFromEffective(*k.Effective)
}

// Relabel implements OnLabels.
func (k SymmetricKeys) Relabel(truth []int32, classes int, seed uint64) ([]int32, record.Noise, error) {
	if k.Rate != nil {
		return Labels(truth, classes, *k.Rate, seed)
	}
	q, err := k.redraw(classes)
	if err != nil {
		return nil, record.Noise{}, err
	}
	return Labels(truth, classes, SLNRate(q, classes), seed)
}

// TripletWeights implements Weighted.
func (k SymmetricKeys) TripletWeights(classes int) (record.TripletWeights, error) {
	q, err := k.redraw(classes)
	return SLNTriplets(q, classes), err
}
