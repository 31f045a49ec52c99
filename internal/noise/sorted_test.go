package noise

import (
	"math"
	"testing"
)

// The shares were found by a program of their own (Python, from the paper's Algorithms 2
// and 6), at 3,000 images of ten classes.
func TestSorted(t *testing.T) {
	for p, want := range map[float64]float64{0.1: 0.0305, 0.2: 0.0533} {
		got, sd, err := Sorted(p, 10, 300)
		if err != nil || math.Abs(got-want) > 0.002 || sd < 0.001 || sd > 0.006 {
			t.Errorf("P = %v: %.4f, deviation %.4f, want %v (%v)", p, got, sd, want, err)
		}
	}
	// Without noise nothing is wrong.
	if got, sd, err := Sorted(0, 10, 20); got != 0 || sd != 0 || err != nil {
		t.Error(got, sd, err)
	}
	for _, bad := range []struct {
		p                 float64
		classes, perClass int
	}{{0.6, 10, 10}, {-0.1, 10, 10}, {0.1, 1, 10}, {0.1, 3, 1}} {
		if _, _, err := Sorted(bad.p, bad.classes, bad.perClass); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}
