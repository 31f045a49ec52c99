package render

import "testing"

// A line of any length keeps few points, evenly spread: each is a multiple of a step.
func TestSeriesAddThins(t *testing.T) {
	var s Series
	const n = 5*mostPoints + 3
	for i := range n {
		s.Add(float64(i), float64(-i))
		if i < mostPoints && len(s.X) != i+1 {
			t.Fatalf("%d points of %d: none is to be left out yet", len(s.X), i+1)
		}
	}
	if len(s.X) > mostPoints || len(s.X) < mostPoints/2 || len(s.Y) != len(s.X) {
		t.Fatalf("%d and %d of %d points", len(s.X), len(s.Y), n)
	}
	step := s.X[1] - s.X[0]
	for i, x := range s.X {
		if x != float64(i)*step || s.Y[i] != -x {
			t.Fatalf("point %d is (%v, %v), step %v", i, x, s.Y[i], step)
		}
	}
	if last := s.X[len(s.X)-1]; last < n-1-2*step {
		t.Errorf("the line ends at %v of %d", last, n)
	}
}
