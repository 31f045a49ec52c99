// Package testutil holds what tests of several packages need: comparisons of numbers
// with their meaning in the name, goldens, and files.
package testutil

import (
	"math"
	"testing"
)

// Within reports |got - want| <= tol. A NaN is within nothing.
func Within(got, want, tol float64) bool { return math.Abs(got-want) <= tol }

// WithinRelative reports |got - want| <= tol |want|.
func WithinRelative(got, want, tol float64) bool { return math.Abs(got-want) <= tol*math.Abs(want) }

// WithinMixed reports |got - want| <= tol (1 + |want|): absolute for small numbers,
// relative for large ones.
func WithinMixed(got, want, tol float64) bool { return math.Abs(got-want) <= tol*(1+math.Abs(want)) }

// Near fails the test unless got is Within tol of want.
func Near(t testing.TB, what string, got, want, tol float64) {
	t.Helper()
	if !Within(got, want, tol) {
		t.Errorf("%s is %.17g, want %.17g within %g", what, got, want, tol)
	}
}

// NearRelative fails the test unless got is WithinRelative tol of want.
func NearRelative(t testing.TB, what string, got, want, tol float64) {
	t.Helper()
	if !WithinRelative(got, want, tol) {
		t.Errorf("%s is %.17g, want %.17g within a share of %g", what, got, want, tol)
	}
}

// NearAll fails the test unless all numbers differ by at most tol times the largest
// |want|.
func NearAll(t testing.TB, what string, got []float32, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	worst, scale := 0.0, 0.0
	for i, w := range want {
		scale = max(scale, math.Abs(w))
		if d := math.Abs(float64(got[i]) - w); !(d <= worst) {
			worst = d
		}
	}
	t.Logf("%-36s largest difference %.2g, largest element %.3g", what, worst, scale)
	if !(worst <= tol*scale) {
		t.Errorf("%s: differs by %g where the largest element is %g", what, worst, scale)
	}
}
