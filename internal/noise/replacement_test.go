package noise

import (
	"math"
	"testing"

	"tercet/internal/data/batch"
	"tercet/internal/testutil"
)

// Drawn with replacement, the images of a class are independent and uniform: the number of
// different ones is M (1 - (1 - 1/M)^m) of m draws from M, on average over draws. Without
// replacement all differ.
func TestDenseWithReplacement(t *testing.T) {
	t.Parallel()
	const classes, each, pairs, draws = 5, 40, 200, 60 // 20 images of 40 of each class
	y := inTurn(classes*each, classes)
	o := GraphOptions{Scenario: Dense, Pairs: pairs, Negatives: RandomOne, Order: Shuffled, Replacement: true}
	sum, squares := 0.0, 0.0
	for o.Draw = range uint64(draws) {
		list, r, err := Graph(y, y, classes, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != pairs || r.Nodes != pairs/2 || !r.Replacement || r.Similar != pairs/2 {
			t.Fatalf("%d pairs, %+v", len(list), r)
		}
		different := map[int32]bool{}
		for _, p := range list {
			different[p.I] = true
		}
		if r.Images != len(different) {
			t.Fatalf("%d images, want %d", r.Images, len(different))
		}
		n := float64(len(different))
		sum, squares = sum+n, squares+n*n
	}
	mean := sum / draws
	se := math.Sqrt((squares/draws - mean*mean) / draws)
	testutil.Near(t, "different images", mean, classes*each*(1-math.Pow(1-1./each, pairs/2/classes)), 5*se)
}

// More images than a class has can be drawn with replacement alone, and scenarios that take
// all images refuse the key.
func TestReplacementLimits(t *testing.T) {
	t.Parallel()
	y := inTurn(20, 2)
	o := GraphOptions{Scenario: Dense, Pairs: 100, Negatives: SameIndex, Order: Shuffled}
	if _, _, err := Graph(y, y, 2, o); err == nil {
		t.Error("50 images of 20 without replacement: no error")
	}
	o.Replacement = true
	if _, r, err := Graph(y, y, 2, o); err != nil || r.Pairs != 100 || r.Images > 20 {
		t.Errorf("50 images of 20 with replacement: %v, %+v", err, r)
	}
	for scenario, ok := range map[string]bool{Dense: true, Sparse: false, Full: false} {
		k := PairGraph{Scenario: scenario, Pairs: 100, Replacement: true}
		if got := len(k.Check()) == 0; got != ok {
			t.Errorf("scenario %s with replacement: accepted %v", scenario, got)
		}
	}
}

// A distance of 0 is below every threshold: an image paired with itself and labeled
// different is an error, labeled similar it is none.
func TestFloorOfSelfPairs(t *testing.T) {
	t.Parallel()
	pairs := []batch.Pair{{I: 1, J: 1}, {I: 1, J: 1}, {I: 1, J: 1, Similar: true}, {I: 2, J: 2, Similar: true}, {I: 0, J: 1}, {I: 1, J: 0, Similar: true}, {I: 1, J: 0, Similar: true}}
	if got := FloorDuplicates(pairs); got != 3 {
		t.Errorf("%d errors, want 3", got)
	}
}
