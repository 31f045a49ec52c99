package noise

import (
	"tercet/internal/component"
	"tercet/internal/record"
)

// Family is the noises that a config can name. A noise registers itself in its file.
var Family = component.NewFamily[Keys]("none", Symmetric, PairLabel, TripletFlip, Confusion, PairFlip)

// Keys are the keys of a noise. What it is put on says which of the interfaces below
// they implement.
type Keys interface {
	// Own returns the noise's own seed; nil takes the run's.
	Own() *uint64
}

// Seed returns the seed of the noise in a run of that seed.
func Seed(k Keys, run uint64) uint64 {
	if own := k.Own(); own != nil {
		return *own
	}
	return run
}

// OnLabels is implemented by the keys of noise on the labels of images.
type OnLabels interface {
	// Relabel returns other labels than the true ones, 0 to classes-1.
	Relabel(truth []int32, classes int, seed uint64) ([]int32, record.Noise, error)
}

// OnPairs is implemented by the keys of noise on the labels of pairs.
type OnPairs interface {
	// WrongPairs returns how probable wrong labels of pairs are.
	WrongPairs() (WrongPairs, error)
	// WrongLabels returns how probable it is that a pair labeled similar, and one labeled
	// different, is not, of pairs that are as often similar as different: the positives
	// and negatives of triplets that are made of such pairs.
	WrongLabels() (similar, different float64, err error)
}

// OnTriplets is implemented by the keys of noise on triplets.
type OnTriplets interface {
	// Flip returns the probability that positive and negative change places.
	Flip() float64
}

// Weighted is implemented by the keys of noise from which it follows how probable wrong
// triplets are.
type Weighted interface {
	// TripletWeights are those of triplets drawn by labels of so many classes.
	TripletWeights(classes int) (record.TripletWeights, error)
}

// Fitter is implemented by the keys of noise that ask for given pairs or triplets.
type Fitter interface {
	// Fit returns what is wrong with a sampler that gives pairs, triplets or neither.
	Fit(pairs, triplets bool) []component.Fault
}

func init() {
	Family.Register(component.Component[Keys]{Name: "none", Doc: "labels as they are", Defaults: NoKeys{}})
}

// NoKeys leaves labels, pairs and triplets as they are.
type NoKeys struct{}

// Own implements Keys.
func (NoKeys) Own() *uint64 { return nil }

// TripletWeights implements Weighted.
func (NoKeys) TripletWeights(classes int) (record.TripletWeights, error) {
	return SLNTriplets(0, classes), nil
}

// exactly returns a fault unless one of the keys is set.
func exactly(words string, keys ...*float64) []component.Fault {
	set := 0
	for _, k := range keys {
		if k != nil {
			set++
		}
	}
	if set == 1 {
		return nil
	}
	return []component.Fault{component.Faultf("kind", "set exactly one of %s", words)}
}
