package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tercet/internal/engine/kernel"
)

// RunVectors runs the conformance suite of the kernels that go once through
// memory, at the level in use.
func RunVectors(t *testing.T) {
	t.Run("element-wise", elementwise)
	t.Run("column sums", columnSums)
	t.Run("moments", moments)
	t.Run("moments of non-finite", momentsOfNonFinite)
	t.Run("normalize", normalize)
	t.Run("normalize backward", normalizeBackward)
	t.Run("normalize relu backward", normalizeReLU)
	t.Run("columns bits", columnsBits)
	t.Run("pool", pools)
	t.Run("pool bits", poolBits)
	t.Run("normalize and pool", normalizePools)
	t.Run("reductions", reductions)
	t.Run("l2 normalize", l2Normalize)
	t.Run("adam", adam)
	t.Run("sgd", sgd)
	t.Run("sign step", signStep)
	t.Run("exp and log", expAndLog)
	t.Run("gelu", gelus)
	t.Run("layer normalization", layerNorms)
	t.Run("attention", attentions)
	t.Run("pixels", pixels)
}

// lengths are those of a few vectors with and without a rest, and of several
// chunks.
func lengths() []int {
	var n []int
	for i := range 68 {
		n = append(n, i)
	}
	return append(n, 127, 128, 129, 1000, 1<<14-1, 1<<14+3, 70001)
}

var inf = float32(math.Inf(1))

// special are numbers that rounding and comparisons treat in their own ways.
var special = []float32{nan, float32(math.Copysign(math.NaN(), -1)), inf, -inf, 0, float32(math.Copysign(0, -1)),
	1e-45, -1e-45, 0x1p-126, -0x1p-127, math.MaxFloat32, -math.MaxFloat32, 1, -1}

// buffer is n numbers between guard bands, at some distance from a cache line.
func buffer(r *rand.Rand, n int) (x []float32, check func(t *testing.T, what string)) {
	shift := r.IntN(16)
	all, within := guardedNormal(r, n+shift)
	for i := range shift {
		all[i] = sentinel
	}
	return all[shift:], func(t *testing.T, what string) {
		t.Helper()
		within(t, what)
		for i := range shift {
			if all[i] != sentinel {
				t.Fatalf("%s: wrote before its slice", what)
			}
		}
	}
}

// spice replaces some numbers by special ones.
func spice(r *rand.Rand, x []float32) {
	for i := range x {
		if r.IntN(6) == 0 {
			x[i] = special[r.IntN(len(special))]
		}
	}
}

// exactly fails unless got has the bits of want; every NaN is the same.
func exactly(t *testing.T, got, want []float32, format string, args ...any) {
	t.Helper()
	for i, w := range want {
		if g := got[i]; math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
			t.Fatalf(format+": element %d of %d is %g, want %g", append(args, i, len(want), g, w)...)
		}
	}
}

// unchanged returns a check that x still has the bits it has now.
func unchanged(x []float32) func(t *testing.T, what string) {
	was := append([]float32(nil), x...)
	return func(t *testing.T, what string) {
		t.Helper()
		for i := range was {
			if math.Float32bits(x[i]) != math.Float32bits(was[i]) {
				t.Fatalf("%s: changed its input at %d", what, i)
			}
		}
	}
}

// plain runs f at level Generic.
func plain(t *testing.T, f func()) {
	t.Helper()
	restore, err := kernel.Force(kernel.Generic)
	if err != nil {
		t.Fatal(err)
	}
	defer restore()
	f()
}
