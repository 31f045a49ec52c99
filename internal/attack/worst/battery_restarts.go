package worst

import (
	"slices"

	"tercet/internal/engine/adversary"
)

// fewRestarts and manyRestarts are the numbers of random starts that B6 compares.
const (
	fewRestarts  = 5
	manyRestarts = 10
)

// restarts: whether more random starts break more queries than the ensemble and five starts
// do (B6).
func (b *battery) restarts() error {
	var open []int
	for _, place := range b.places {
		if b.s.By[place] == 0 {
			open = append(open, place)
		}
	}
	p, further := b.pgd, 0
	p.Start = adversary.FromRandom
	for run := range manyRestarts {
		found, err := b.apgdOf(open, p, 10+run, nil) // runs 0 to 4 are of other checks
		if err != nil {
			return err
		}
		if run >= fewRestarts {
			further += count(found)
		}
		open = slices.DeleteFunc(open, func(place int) bool { return found[place] })
	}
	b.add("B6", "further queries that 10 random starts break, over 5", b.share(further), 0.005, 0.02)
	return nil
}
