package loss

import (
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// allPairs lists each pair of a batch of that many rows in the given number of
// classes.
func allPairs(rows, classes int) []Pair {
	var out []Pair
	for i := range rows {
		for j := range i {
			out = append(out, Pair{int32(j), int32(i), i%classes == j%classes})
		}
	}
	return out
}

func BenchmarkMarginLosses(b *testing.B) {
	const rows, classes = 128, 10
	z := random(rng.New(5, "margins"), rows, 128, 0.05)
	grad := array.New(rows, 128)
	ts := &Tuples{Triplets: allTriplets(rows, classes), Pairs: allPairs(rows, classes)}
	triplets, _ := NewThreshold(ThresholdDefaults())
	pairs, _ := NewThreshold(ThresholdOptions{1, 0.5, Sum, ByPairs})
	capped, _ := NewCapped(CappedDefaults())
	for name, l := range map[string]Objective{"capped-batch-all": capped, "threshold-batch-all": triplets, "threshold-pairs": pairs} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := l.Eval(z, ts, grad); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
