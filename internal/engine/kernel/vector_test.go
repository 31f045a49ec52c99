package kernel_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tercet/internal/engine/kernel"
)

func TestVectors(t *testing.T) {
	for _, l := range suiteLevels() {
		t.Run(l.String(), func(t *testing.T) {
			restore, err := kernel.Force(l)
			if err != nil {
				t.Fatal(err)
			}
			defer restore()
			RunVectors(t)
		})
	}
}

// Greatest, ExpLess and ScaleRow are max, Exp of the difference, and a product, also for an
// infinite number.
func TestRowFunctions(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2, 17))
		for _, n := range []int{1, 2, 7, 16, 17, 47, 512, 515} {
			x, check := banded(n, float32(-7e30))
			normal(r, x)
			x[n/2] = float32(math.Inf(-1))
			was := slices.Clone(x)
			top := slices.Max(was)
			if got := kernel.Greatest(x); got != top {
				t.Fatalf("of %d: greatest %v, want %v", n, got, top)
			}
			kernel.ScaleRow(1.5, x)
			for i, v := range was {
				if x[i] != 1.5*v {
					t.Fatalf("of %d: %v times 1.5 is %v", n, v, x[i])
				}
			}
			kernel.ExpLess(0.25, x)
			check(t, "ExpLess")
			want := make([]float32, n)
			for i, v := range was {
				want[i] = 1.5*v - 0.25
			}
			kernel.Exp(want, want)
			if !slices.Equal(x, want) {
				t.Fatalf("of %d: %v, want %v", n, x, want)
			}
		}
	})
}

// Fold adds a matrix and its transpose, but for the diagonal.
func TestFold(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 17))
		for _, n := range []int{0, 1, 2, 31, 32, 33, 70, 96, 101} {
			a, check := banded(n*n, float32(-7e30))
			normal(r, a)
			was := slices.Clone(a)
			kernel.Fold(n, a)
			check(t, "Fold")
			for i := range n {
				for j := range n {
					want := was[i*n+j]
					if i != j {
						want += was[j*n+i]
					}
					if a[i*n+j] != want {
						t.Fatalf("of %d: (%d, %d) is %v, want %v", n, i, j, a[i*n+j], want)
					}
				}
			}
		}
	})
}
