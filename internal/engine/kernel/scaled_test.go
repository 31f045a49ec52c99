package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tercet/internal/engine/kernel"
)

// Sums of scaled rows have the bits of float64 loops whose every operation is rounded.
func TestScaledSums(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 17))
		for _, n := range []int{0, 1, 15, 16, 17, 47, 128} {
			var x [4][]float32
			var w [4]float64
			for i := range x {
				x[i], _ = banded(n, float32(math.NaN()))
				normal(r, x[i])
				w[i] = r.NormFloat64()
			}
			sum, check := banded(n, -7e30)
			for i := range sum {
				sum[i] = r.NormFloat64()
			}
			same := func(name string, run func(), want func(i int, was float64) float64) {
				t.Helper()
				was := append([]float64(nil), sum...)
				run()
				check(t, name)
				for i, v := range was {
					if v = want(i, v); math.Float64bits(sum[i]) != math.Float64bits(v) {
						t.Fatalf("%s, %d of %d: %v, want %v", name, i, n, sum[i], v)
					}
				}
			}
			at := func(k, i int) float64 { return float64(x[k][i]) }
			same("AddScaled", func() { kernel.AddScaled(w[0], x[0], sum) }, func(i int, v float64) float64 {
				p := w[0] * at(0, i)
				return v + p
			})
			same("AddDifference", func() { kernel.AddDifference(w[1], 1e-3, x[0], x[1], sum) }, func(i int, v float64) float64 {
				d := at(0, i) - at(1, i)
				d += 1e-3
				d *= w[1]
				return v + d
			})
			same("SubtractFour", func() { kernel.SubtractFour(&w, x[0], x[1], x[2], x[3], sum) }, func(i int, v float64) float64 {
				a := float64(w[0]*at(0, i)) + float64(w[1]*at(1, i))
				b := float64(w[2]*at(2, i)) + float64(w[3]*at(3, i))
				return v - (a + b)
			})
		}
	})
}
