package noise

import (
	"tercet/internal/component"
	"tercet/internal/record"
)

func init() {
	Family.Register(component.Component[Keys]{
		Name: TripletFlip, Doc: "positive and negative of a triplet are swapped with one probability", Defaults: TripletKeys{Rate: 0.2},
	})
}

// TripletKeys exchange positive and negative of triplets of a triplet list.
type TripletKeys struct {
	Rate float64 `yaml:"rate" check:">=0,<=1" doc:"rho, the probability that positive and negative of a triplet are exchanged"`
	Seed *uint64 `yaml:"seed" doc:"seed of the noise; null: the run's seed"`
}

// Own implements Keys.
func (k TripletKeys) Own() *uint64 { return k.Seed }

// Fit implements Fitter.
func (TripletKeys) Fit(_, triplets bool) []component.Fault {
	if triplets {
		return nil
	}
	return []component.Fault{component.Faultf("kind", "triplet-flip exchanges positive and negative of given triplets: set batch.sampler: triplet-list, or use sln, which perturbs labels")}
}

// Flip implements OnTriplets.
func (k TripletKeys) Flip() float64 { return k.Rate }

// TripletWeights implements Weighted.
func (k TripletKeys) TripletWeights(int) (record.TripletWeights, error) {
	return OrderFlips(k.Rate), nil
}
