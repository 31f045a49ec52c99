package noise

import (
	"tercet/internal/component"
	"tercet/internal/data/batch"
	"tercet/internal/record"
)

// everyTuple keeps an epoch's last batch: a list is meant to be seen whole.
var everyTuple = map[string]any{"drop_last": false}

func init() {
	batch.Samplers.Register(component.Component[batch.SamplerKeys]{
		Name: "pair-graph", Doc: "a list of pairs, as many similar as different (DIBS)", Preset: everyTuple,
		Defaults: PairGraph{Scenario: "s2", Pairs: 6000, Negatives: "same-index", Order: "shuffled", Size: 128},
	})
	batch.Samplers.Register(component.Component[batch.SamplerKeys]{
		Name: "triplet-list", Doc: "a list of random triplets", Preset: everyTuple, Defaults: TripletList{Triplets: 60000, Size: 128},
	})
}

// Drawing is what pairs and triplets are drawn from.
type Drawing struct {
	Truth, Seen []int32 // labels, true and trained on
	Classes     int
	Noise       Keys
	Seed        uint64 // of the run
}

// GivesPairs is implemented by the keys of samplers that give pairs.
type GivesPairs interface {
	// Draw draws the pairs of epoch 0, and returns the draws of all.
	Draw(in Drawing) (draw func(epoch int) []batch.Pair, r record.PairGraph, err error)
	Tuples(o *batch.TupleOptions)
}

// GivesTriplets is implemented by the keys of samplers that give triplets.
type GivesTriplets interface {
	// Draw draws the triplets of epoch 0, and returns the draws of all.
	Draw(in Drawing) (draw func(epoch int) []batch.Triplet, r record.Triplets, err error)
	Tuples(o *batch.TupleOptions)
}

// PairGraph gives a fixed list of pairs: the edges of a balanced pair graph (DIBS,
// section 3). No miner is asked.
type PairGraph struct {
	Scenario  string `yaml:"scenario" enum:"s2|s1|full" doc:"s2: all pairs of PAIRS/2 images, dense; s1: PAIRS of the pairs of all images, sparse; full: all pairs of all images, two for each"`
	Pairs     int    `yaml:"pairs" check:">=0,<=100000000" doc:"total number of pairs, half of them similar according to the training labels; not used by scenario full, which has two pairs per image"`
	Negatives string `yaml:"negatives" enum:"same-index|random" doc:"negative partner of an image: the image of the same index in another class (text, Theorem 1), or any image of that class (Algorithm 1)"`
	Order     string `yaml:"order" enum:"shuffled|paper" doc:"chains join images in random order, or in the order of the dataset, sorted by true class, which undoes most of the noise"`
	// Algorithm 2 of the paper draws with replacement (D5).
	Replacement bool `yaml:"replacement" doc:"scenario s2: draw its images with replacement, as the paper's Algorithm 2 does"`
	Redraw      bool `yaml:"redraw" doc:"draw another graph for each epoch"`
	Size        int  `yaml:"size" check:">=1,<=1000000" doc:"pairs in a batch: 2 x SIZE images"`
}

// Check implements component.Checker.
func (k PairGraph) Check() []component.Fault {
	switch {
	case k.Replacement && k.Scenario != Dense:
		return []component.Fault{component.Faultf("replacement", "is of scenario s2, which draws a part of the images; scenario is %s", k.Scenario)}
	case k.Scenario == Full:
	case k.Pairs%2 != 0:
		return []component.Fault{component.Faultf("pairs", "must be even, half similar and half different, is %d", k.Pairs)}
	case k.Pairs == 0:
		return []component.Fault{component.Faultf("pairs", "must be set for scenario %s: it takes so many pairs", k.Scenario)}
	}
	return nil
}

// Layout implements batch.SamplerKeys.
func (PairGraph) Layout() string { return batch.LayoutGivenPairs }

// Rows implements data.SamplerKeys.
func (k PairGraph) Rows() int { return 2 * k.Size }

// Tuples sets the size of batches.
func (k PairGraph) Tuples(o *batch.TupleOptions) { o.Size, o.Redraw = k.Size, k.Redraw }

// Draw implements GivesPairs.
func (k PairGraph) Draw(in Drawing) (func(epoch int) []batch.Pair, record.PairGraph, error) {
	o := GraphOptions{Scenario: k.Scenario, Pairs: k.Pairs, Negatives: k.Negatives, Order: k.Order, Replacement: k.Replacement, Seed: in.Seed}
	if k.Scenario == Full {
		o.Pairs = 0 // all
	}
	if n, noisy := in.Noise.(OnPairs); noisy {
		var err error
		if o.Wrong, err = n.WrongPairs(); err != nil {
			return nil, record.PairGraph{}, err
		}
		o.Seed = Seed(in.Noise, in.Seed)
	}
	first, report, err := Graph(in.Truth, in.Seen, in.Classes, o)
	if err != nil {
		return nil, report, err
	}
	return func(epoch int) []batch.Pair {
		if epoch == 0 || !k.Redraw {
			return first
		}
		o := o
		o.Draw = uint64(epoch)
		pairs, _, _ := Graph(in.Truth, in.Seen, in.Classes, o) // the sampler refuses none
		return pairs
	}, report, nil
}

// TripletList gives a fixed list of triplets drawn by the labels that are trained
// on. No miner is asked.
type TripletList struct {
	Triplets int      `yaml:"triplets" check:">=1,<=100000000" doc:"triplets in all"`
	Prior    *float64 `yaml:"prior" check:">=0,<=1" doc:"two classes: probability that an anchor is of the first one; null draws anchors uniformly from all images"`
	Redraw   bool     `yaml:"redraw" doc:"draw others for each epoch"`
	Size     int      `yaml:"size" check:">=1,<=1000000" doc:"triplets in a batch: 3 x SIZE images"`
}

// Layout implements batch.SamplerKeys.
func (TripletList) Layout() string { return batch.LayoutGivenTriplets }

// Rows implements data.SamplerKeys.
func (k TripletList) Rows() int { return 3 * k.Size }

// Tuples sets the size of batches.
func (k TripletList) Tuples(o *batch.TupleOptions) { o.Size, o.Redraw = k.Size, k.Redraw }

// Draw implements GivesTriplets.
func (k TripletList) Draw(in Drawing) (func(epoch int) []batch.Triplet, record.Triplets, error) {
	seed := Seed(in.Noise, in.Seed)
	options := func(seed uint64, epoch int) TripletOptions {
		return TripletOptions{Classes: in.Classes, Count: k.Triplets, Prior: k.Prior, Seed: seed, Draw: uint64(epoch)}
	}
	draw := func(epoch int) ([]batch.Triplet, record.Triplets, error) {
		return Triplets(in.Truth, in.Seen, 0, options(in.Seed, epoch))
	}
	switch n := in.Noise.(type) {
	case OnTriplets:
		draw = func(epoch int) ([]batch.Triplet, record.Triplets, error) {
			return Triplets(in.Truth, in.Seen, n.Flip(), options(seed, epoch))
		}
	case OnPairs:
		positive, negative, err := n.WrongLabels()
		if err != nil {
			return nil, record.Triplets{}, err
		}
		draw = func(epoch int) ([]batch.Triplet, record.Triplets, error) {
			return PairTriplets(in.Truth, positive, negative, options(seed, epoch))
		}
	}
	first, report, err := draw(0)
	if err != nil {
		return nil, report, err
	}
	return func(epoch int) []batch.Triplet {
		if epoch == 0 || !k.Redraw {
			return first
		}
		more, _, _ := draw(epoch)
		return more
	}, report, nil
}
