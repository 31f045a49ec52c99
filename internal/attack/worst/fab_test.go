package worst

import (
	"math"
	"testing"

	"tercet/internal/rng"
)

// Tangents end where halving the interval does, to the last bit.
func TestLeastReachingAgainstHalving(t *testing.T) {
	t.Parallel()
	r := rng.New(4, "reaching")
	for trial := range 300 {
		n := 1 + r.IntN(60)
		a, room := make([]float64, n), make([]float64, n)
		most := 0.0
		for k := range a {
			a[k], room[k] = math.Exp(4*r.NormFloat64()), float64(r.IntN(2))*r.Float64()
			if trial%3 == 0 {
				a[k] = float64(r.IntN(3)) // kinks where nothing rises
			}
			most += a[k] * room[k]
		}
		calls := 0
		reached := func(lambda float64) (value, slope float64) {
			calls++
			for k := range a {
				if lambda < room[k] {
					slope += a[k]
				}
				value += float64(a[k] * min(lambda, room[k]))
			}
			return value, slope
		}
		gap := most * r.Float64()
		if trial%10 == 0 {
			gap = 0
		}
		low, high := 0.0, 1.0
		for range bisections {
			mid := (low + high) / 2
			if v, _ := reached(mid); v < gap {
				low = mid
			} else {
				high = mid
			}
		}
		calls = 0
		if got := leastReaching(gap, reached); got != high {
			t.Fatalf("trial %d: %v, by halving %v", trial, got, high)
		}
		if calls > tangents+bisections+2 {
			t.Errorf("trial %d: %d calls", trial, calls)
		}
	}
}
