package loss

import (
	"math"
	"testing"
)

// Softplus against its formula where that does not overflow, and against its limits where it
// does; Logistic against the quotient of differences and its symmetry.
func TestSoftplus(t *testing.T) {
	t.Parallel()
	for x := -30.0; x <= 30; x += 0.25 {
		if got, want := Softplus(x), math.Log(1+math.Exp(x)); math.Abs(got-want) > 1e-15*(1+math.Abs(x)) {
			t.Errorf("Softplus(%v) = %v, want %v", x, got, want)
		}
		const h = 1e-5
		if got, want := Logistic(x), (Softplus(x+h)-Softplus(x-h))/(2*h); math.Abs(got-want) > 1e-9 {
			t.Errorf("Logistic(%v) = %v, but Softplus rises by %v", x, got, want)
		}
		if sum := Logistic(x) + Logistic(-x); math.Abs(sum-1) > 1e-15 {
			t.Errorf("Logistic(%v) + Logistic(-%v) = %v, want 1", x, x, sum)
		}
	}
	for x, want := range map[float64]float64{-1000: 0, 1000: 1000, math.Inf(1): math.Inf(1), math.Inf(-1): 0} {
		if got := Softplus(x); got != want {
			t.Errorf("Softplus(%v) = %v, want %v", x, got, want)
		}
	}
	if low, high := Logistic(-1000), Logistic(1000); low != 0 || high != 1 {
		t.Errorf("Logistic(-1000) = %v, Logistic(1000) = %v", low, high)
	}
	// Far below 0 both are exp(x) to full relative accuracy.
	if got, want := Softplus(-40), math.Exp(-40); math.Abs(got-want) > 1e-15*want {
		t.Errorf("Softplus(-40) = %v, want %v", got, want)
	}
}
