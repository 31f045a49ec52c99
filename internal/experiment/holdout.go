package experiment

import (
	"fmt"

	"tercet/internal/data"
)

// holdOut moves a fraction of the training set into the validation set, chosen
// by seed; 0 moves nothing. It asks of the network what the test set asks: where
// no test class is trained on, whole classes are held out, otherwise a share of
// each class's images.
func (s *Sets) holdOut(fraction float64, seed uint64) error {
	keep := 1 - fraction
	if !(keep < 1) {
		return nil
	}
	split := data.Split{Kind: "fraction", Train: keep, Seed: seed}
	if s.Test != nil && disjoint(s.Train, s.Test) {
		split.Kind = "class"
	}
	train, validation, err := split.Divide(data.Compact(s.Train), nil)
	if err != nil {
		return fmt.Errorf("data.split.validation: %w", err)
	}
	s.Train, s.Validation = train, validation
	return nil
}

// disjoint says whether a and b have items of no common class, by name.
func disjoint(a, b data.Dataset) bool {
	seen := map[string]bool{}
	for _, name := range data.Compact(a).Classes() {
		seen[name] = true
	}
	for _, name := range data.Compact(b).Classes() {
		if seen[name] {
			return false
		}
	}
	return true
}
