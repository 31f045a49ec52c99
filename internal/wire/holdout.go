package wire

import (
	"fmt"
	"math"
	"slices"

	"tercet/internal/data"
)

// HoldOut moves a fraction of the training set into the validation set, chosen
// by seed; 0 moves nothing. It asks of the network what the test set asks: where
// no test class is trained on, whole classes are held out, otherwise a share of
// each class's images.
func (s *Sets) HoldOut(fraction float64, seed uint64) error {
	keep := 1 - fraction
	if !(keep < 1) {
		return nil
	}
	split := data.Split{Kind: "fraction", Train: keep, Seed: seed}
	if s.Test != nil && Disjoint(s.Train, s.Test) {
		split.Kind = "class"
	}
	train, validation, err := split.Divide(data.Compact(s.Train), nil)
	if err != nil {
		return fmt.Errorf("data.split.validation: %w", err)
	}
	s.Train, s.Validation = train, validation
	return nil
}

// HoldOutHint says which fraction would hold out two classes, where the validation set
// has fewer.
func (s *Sets) HoldOutHint(split string) string {
	if split != "validation" || s.Test == nil || !Disjoint(s.Train, s.Test) {
		return ""
	}
	k := data.Distinct(s.Train.Labels()) + data.Distinct(s.Validation.Labels())
	if k < 4 {
		return fmt.Sprintf(". The %d classes to train on are too few to hold some out: set data.split.validation: 0", k)
	}
	return fmt.Sprintf(". data.split.validation holds out whole classes: set it to %g or more for two of %d", TwoOf(k), k)
}

// TwoOf is the smallest fraction, in hundredths, that holds out two of k classes.
func TwoOf(k int) float64 {
	for h := 1; h < 100; h++ {
		if f := float64(h) / 100; k-int(math.Round((1-f)*float64(k))) >= 2 {
			return f
		}
	}
	return 0.5
}

// Disjoint says whether a and b have items of no common class, by name.
func Disjoint(a, b data.Dataset) bool {
	seen := map[string]bool{}
	for _, name := range data.Compact(a).Classes() {
		seen[name] = true
	}
	return !slices.ContainsFunc(data.Compact(b).Classes(), func(name string) bool { return seen[name] })
}
