package data

import (
	"fmt"
	"math"

	"tercet/internal/rng"
)

// Split says the split into training and test set.
type Split struct {
	// Kind is "" (as the source has it, with or without a test set), "file" (as
	// the source has it; no test set is an error), "class" (test classes are
	// disjoint from those of training), "fraction" (a share of each class) or
	// "none" (all for training). class, fraction and none pool what the source
	// tells apart.
	Kind string
	// Train is the training share: for class a count of classes, or a fraction
	// below 1 of them, 0 meaning half; for fraction a fraction of each class's
	// items.
	Train float64
	// First takes the first classes for training, in their order, as CUB, Cars
	// and SOP do; otherwise the seed chooses them.
	First bool
	Seed  uint64
}

// Divide applies s to what a source gives; test may be nil. A set of classes
// that the split makes is numbered from 0.
func (s Split) Divide(train, test Dataset) (Dataset, Dataset, error) {
	switch s.Kind {
	case "":
		return train, test, nil
	case "file":
		if test == nil {
			return nil, nil, unfit("the data have no test set; use split class, fraction or none")
		}
		return train, test, nil
	case "class", "fraction", "none":
	default:
		return nil, nil, fmt.Errorf("unknown split %q; want file, class, fraction or none", s.Kind)
	}
	all := train
	if test != nil {
		var err error
		if all, err = Concat(train, test); err != nil {
			return nil, nil, err
		}
	}
	switch s.Kind {
	case "class":
		return s.byClass(Compact(all))
	case "fraction":
		return s.byFraction(all)
	}
	return all, nil, nil
}

// byClass gives whole classes to training or to test. ds has no empty class.
func (s Split) byClass(ds Dataset) (train, test Dataset, err error) {
	k := len(ds.Classes())
	if k < 2 {
		return nil, nil, unfit("split by class: the data have %d class(es); at least 2 are needed", k)
	}
	n := 0
	switch {
	case s.Train == 0:
		n = (k + 1) / 2
	case s.Train > 0 && s.Train < 1:
		n = min(max(int(math.Round(s.Train*float64(k))), 1), k-1)
	case s.Train == math.Trunc(s.Train) && s.Train < float64(k):
		n = int(s.Train)
	}
	if n < 1 {
		return nil, nil, unfit("split by class: %v training classes of %d; want 1 to %d, or a fraction below 1", s.Train, k, k-1)
	}
	order := make([]int32, k)
	for i := range order {
		order[i] = int32(i)
	}
	if !s.First {
		order = rng.Shuffled(order, rng.New(s.Seed, "data/split class"))
	}
	learn := make([]bool, k)
	for _, y := range order[:n] {
		learn[y] = true
	}
	return part(ds, func(i int) bool { return learn[ds.Labels()[i]] })
}

// byFraction gives a share of each class to training, rounded, but at least one
// item to each side where the class has two. A class of one item goes to
// training.
func (s Split) byFraction(ds Dataset) (train, test Dataset, err error) {
	if !(s.Train > 0 && s.Train < 1) {
		return nil, nil, fmt.Errorf("split by fraction: training share %v; want more than 0 and less than 1", s.Train)
	}
	learn := make([]bool, ds.Len())
	for k, m := range ByClass(ds) {
		n := int(math.Round(s.Train * float64(len(m))))
		n = max(min(n, len(m)-1), min(len(m), 1))
		for _, i := range rng.Shuffled(m, rng.New(s.Seed, "data/split fraction", uint64(k)))[:n] {
			learn[i] = true
		}
	}
	return part(ds, func(i int) bool { return learn[i] })
}

// part tells the items of ds apart.
func part(ds Dataset, learn func(i int) bool) (train, test Dataset, err error) {
	var a, b []int
	for i := range ds.Len() {
		if learn(i) {
			a = append(a, i)
		} else {
			b = append(b, i)
		}
	}
	if len(a) == 0 || len(b) == 0 {
		return nil, nil, unfit("the split leaves %d items for training and %d for test", len(a), len(b))
	}
	return Compact(pick(ds, a)), Compact(pick(ds, b)), nil
}
