package noise

import (
	"fmt"

	"tercet/internal/data/batch"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// The scenarios of a pair graph: which of the pairs that chains give are taken.
const (
	Full   = "full" // all 2N pairs of N images
	Sparse = "s1"   // some of them, half of them similar: far apart, few images met twice
	Dense  = "s2"   // all pairs of a few images
)

// What an image's different pair is with, in the other class.
const (
	SameIndex = "same-index" // the image at its own place in the chain
	RandomOne = "random"     // any image
)

// The order of a class's images in its chain.
const (
	Shuffled   = "shuffled"
	PaperOrder = "paper" // as they come; those of a reduced set come sorted by true class
)

// GraphOptions says which pairs to make.
type GraphOptions struct {
	Scenario  string // Full, Sparse or Dense
	Pairs     int    // how many pairs, an even number; with Full 0 or as many as there are
	Negatives string // SameIndex or RandomOne
	Order     string // Shuffled or PaperOrder
	// Replacement draws the images of Dense with replacement, as Algorithm 2 does: copies
	// of an image are images of their own, with one label.
	Replacement bool
	Wrong       WrongPairs // how probable wrong labels of pairs are
	Seed        uint64
	Draw        uint64 // tells graphs of one seed apart: an epoch, a repetition
}

// Graph returns balanced pairs of labeled images, as Fonseca & Guidetti's Algorithms 1
// to 6 make them, with their slips put right. truth and seen hold labels from 0 to
// classes-1 before and after label noise, and may be one slice.
//
// Each class's images, by seen, are a closed chain of similar pairs, and each image is
// in one different pair with an image of another, uniformly drawn, class: SameIndex takes
// the one at the same place in its chain (modulo its length), as the paper's text and
// theorem have it, RandomOne any, as its algorithm has it. Duplicate pairs stay, each
// with noise of its own. Sparse takes Pairs of these pairs without replacement, half of
// them labeled similar after noise. Dense makes them of Pairs/2 images, Pairs/(2K) of
// each class by truth (one more of the first classes where that is not a whole number). Drawn
// with replacement, an image may be its own neighbor: that pair has distance 0.
//
// In PaperOrder a Dense graph's chains keep the order of the reduced set, sorted by true
// class: after label noise, neighbors in a chain then mostly are of one true class, and
// far fewer pairs are wrong than the noise's rate says.
//
// Images, chains, partners, selection and noise come from streams of their own, set by
// Seed and Draw: noise changes nothing but labels (and through them Sparse's selection),
// and with one seed a pair that is wrong at one probability is wrong at every higher one.
//
// Errors name unknown options, odd or unmeetable numbers of pairs, labels out of range,
// and classes that are left with fewer than two images.
func Graph(truth, seen []int32, classes int, o GraphOptions) ([]batch.Pair, record.PairGraph, error) {
	if err := o.check(truth, seen, classes); err != nil {
		return nil, record.PairGraph{}, err
	}
	items, err := o.items(truth, classes)
	if err != nil {
		return nil, record.PairGraph{}, err
	}
	lists, err := o.lists(items, truth, seen, classes)
	if err != nil {
		return nil, record.PairGraph{}, err
	}
	pairs := chains(lists, o.Negatives == RandomOne, rng.New(o.Seed, "noise/graph/partners", o.Draw))
	flipped := FlipPairs(pairs, o.Wrong, rng.New(o.Seed, "noise/graph/labels", o.Draw))
	if o.Scenario == Sparse {
		if pairs, flipped, err = o.pick(pairs, flipped); err != nil {
			return nil, record.PairGraph{}, err
		}
	}
	r := record.PairGraph{
		Scenario: o.Scenario, Negatives: o.Negatives, Order: o.Order, Replacement: o.Replacement && o.Scenario == Dense,
		Nodes: len(items), Q: o.Wrong.Similar + o.Wrong.Different, Wanted: o.Wrong.Effective(),
	}
	describe(&r, pairs, flipped, truth)
	return pairs, r, nil
}

func (o GraphOptions) check(truth, seen []int32, classes int) error {
	switch {
	case o.Scenario != Full && o.Scenario != Sparse && o.Scenario != Dense:
		return fmt.Errorf("noise: pair graph: scenario %q; want %s, %s or %s", o.Scenario, Full, Sparse, Dense)
	case o.Negatives != SameIndex && o.Negatives != RandomOne:
		return fmt.Errorf("noise: pair graph: negatives %q; want %s or %s", o.Negatives, SameIndex, RandomOne)
	case o.Order != Shuffled && o.Order != PaperOrder:
		return fmt.Errorf("noise: pair graph: order %q; want %s or %s", o.Order, Shuffled, PaperOrder)
	case o.Pairs%2 != 0:
		return fmt.Errorf("noise: pair graph: %d pairs; want an even number: half of them are similar", o.Pairs)
	case o.Scenario == Full && o.Pairs != 0 && o.Pairs != 2*len(truth):
		return fmt.Errorf("noise: pair graph: %d pairs requested, but scenario full makes all %d of %d images; leave the number out, or choose %s or %s", o.Pairs, 2*len(truth), len(truth), Sparse, Dense)
	case o.Scenario != Full && o.Pairs < 2:
		return fmt.Errorf("noise: pair graph: %d pairs; scenario %s needs 2 or more", o.Pairs, o.Scenario)
	case classes < 2:
		return fmt.Errorf("noise: pair graph: %d class; different pairs need two", classes)
	case len(seen) != len(truth):
		return fmt.Errorf("noise: pair graph: %d labels with noise, %d without", len(seen), len(truth))
	}
	if err := o.Wrong.check(); err != nil {
		return err
	}
	if err := checkLabels("pair graph: truth", truth, classes); err != nil {
		return err
	}
	return checkLabels("pair graph: labels with noise", seen, classes)
}
