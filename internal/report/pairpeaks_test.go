package report

import "testing"

// A mean at an end that is the largest decides nothing by itself: what counts is the
// interval of the largest mean between the ends, less the end.
func TestBetweenTheEnds(t *testing.T) {
	falling := [][]float64{{5, 5.1, 5.2}, {4, 4.1, 4.2}, {3, 3.1, 3.2}, {1, 1.1, 1.2}}
	rise, fall := between(falling)
	meanIs(t, "rise", *rise, -1, 0, 3)
	meanIs(t, "fall", *fall, 3, 0, 3)
	if v := peakVerdict(rise, fall); v != "contradicted" {
		t.Errorf("a curve that falls in every seed: %s", v)
	}
	flat := [][]float64{{5.1, 4.9, 5.1}, {5, 5, 5}, {1, 1, 1}}
	if rise, fall = between(flat); peakVerdict(rise, fall) != "inconclusive" {
		t.Errorf("a largest mean within the spread of seeds: %v %v", rise.CI95, fall.CI95)
	}
	if rise, fall = between(falling[:2]); rise != nil || fall != nil || peakVerdict(rise, fall) != "inconclusive" {
		t.Error("two widths have nothing between them")
	}
	if rise, _ = between([][]float64{{5}, {4}, {1}}); rise.CI95 != nil || peakVerdict(rise, rise) != "inconclusive" {
		t.Error("one seed")
	}
}

func TestLeastDifference(t *testing.T) {
	a := [][]float64{{2, 2.5, 3}, {1, 1.1, 1.2}, {4, 4, 4.1}}
	zero := [][]float64{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}
	if e, at := leastDifference(a, zero); at != 1 && at != 0 || e.CI95[0] > 1 {
		t.Errorf("at %d %v", at, e.CI95)
	}
	a[2] = []float64{-4, -4, -4.1} // an interval below 0 counts most
	if _, at := leastDifference(a, zero); at != 2 {
		t.Errorf("at %d", at)
	}
}
