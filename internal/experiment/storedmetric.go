package experiment

import (
	"fmt"
	"slices"

	"tercet/internal/record"
	measuring "tercet/internal/theory/measure"
)

// protectMetric refuses to replace a measurement of a metric in file that has more than
// the one of now, unless o.Force is set. Both are of the run's own map, which all of its
// checkpoints have.
func (r *Run) protectMetric(file string, now measuring.Document, o MeasureOptions) error {
	d, err := readKept[measuring.Document](r.Path(file), record.MetricSchema)
	if d == nil || o.Force || d.Options == nil {
		return o.unlessForced(err)
	}
	lost := otherThan(d.Data.Positives, now.Data.Positives, "positives")
	lost = append(lost, otherThan(d.Seed, now.Seed, "seed")...)
	lost = append(lost, otherThan(d.Options.Delta, now.Options.Delta, "delta")...)
	there, is := d.Options.Repeats, now.Options.Repeats
	if there == 0 || is == 0 { // a claim's own numbers
		lost = append(lost, otherThan(ownNumber(there), ownNumber(is), "repeats")...)
	} else {
		lost = append(lost, lessOf(there, is, "repeats")...)
	}
	lost = append(lost, lessOf(tripletsOf(d.Options.Triplets), tripletsOf(now.Options.Triplets), "triplets")...)
	var sizes []int
	for _, n := range d.Options.Sizes {
		if !slices.Contains(now.Options.Sizes, n) {
			sizes = append(sizes, n)
		}
	}
	if sizes != nil {
		lost = append(lost, fmt.Sprintf("the sizes %v", sizes))
	}
	if lost == nil {
		return nil
	}
	return &record.KeptError{Path: r.Path(file), Lost: lost}
}

func ownNumber(n int) string {
	if n == 0 {
		return "the claim's own"
	}
	return fmt.Sprint(n)
}

func tripletsOf(n int) int {
	if n == 0 {
		return measuring.DefaultTriplets
	}
	return n
}
