package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// Implementation is what is tested; the fields have the contracts of the
// functions and methods of package kernel.
type Implementation struct {
	Gemm                func(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int)
	GemmBias            func(transA, transB bool, m, n, k int, a []float32, lda int, b []float32, ldb int, bias []float32, relu bool, c []float32, ldc int)
	Gram                func(n, k int, x []float32, ldx int, c []float32, ldc int)
	Syrk                func(low, trans bool, n, k int, alpha float32, x []float32, ldx int, beta float32, c []float32, ldc int)
	ConvForward         func(g kernel.Conv, n int, x, w, bias, y []float32)
	ConvBackwardInput   func(g kernel.Conv, n int, dy, w, dx []float32)
	ConvBackwardWeights func(g kernel.Conv, n int, x, dy, dw, db []float32)
	PairwiseSquared     func(n, m, d int, x, y, out []float32)
}

// Run runs the suite: every level must pass the same tests against plain float64 loops, with
// guard bands around and between all operands.
func Run(t *testing.T, impl Implementation) {
	t.Run("gemm sizes", impl.gemmSizes)
	t.Run("gemm scalars", impl.gemmScalars)
	t.Run("gemm empty", impl.gemmEmpty)
	t.Run("gemm non-finite", impl.gemmNonFinite)
	t.Run("gemm bits", impl.gemmBits)
	t.Run("gemm property", impl.gemmProperty)
	t.Run("gemm bias", impl.gemmBias)
	t.Run("gram", impl.gram)
	t.Run("syrk", impl.syrk)
	t.Run("conv shapes", impl.convShapes)
	t.Run("conv random", impl.convRandom)
	t.Run("conv bits", impl.convBits)
	t.Run("conv nil bias", impl.convNilBias)
	t.Run("conv non-finite", impl.convNonFinite)
	t.Run("distances", impl.distances)
	t.Run("distances of one set", impl.distancesOfOneSet)
}

const (
	guard    = 40
	sentinel = float32(-7.25e33)
)

// guarded returns n numbers with sentinels before and after them, and a check
// that those are still there.
func guarded(n int) (x []float32, check func(t *testing.T, what string)) {
	all := make([]float32, n+2*guard)
	for i := range all {
		all[i] = sentinel
	}
	return all[guard : guard+n : guard+n], func(t *testing.T, what string) {
		t.Helper()
		for i, v := range all {
			if (i < guard || i >= guard+n) && v != sentinel {
				t.Fatalf("%s: wrote %g at index %d of %d", what, v, i-guard, n)
			}
		}
	}
}

// guardedRandom is guarded with random numbers in x.
func guardedRandom(r *rand.Rand, n int) (x []float32, check func(t *testing.T, what string)) {
	x, check = guarded(n)
	for i := range x {
		x[i] = number(r)
	}
	return x, check
}

// number is uniform with mean 0 and variance 1: half the time of a normal one.
func number(r *rand.Rand) float32 { return float32(int32(r.Uint32())) * (1.7320508 / (1 << 31)) }

// guardedNormal is guardedRandom with normal numbers.
func guardedNormal(r *rand.Rand, n int) (x []float32, check func(t *testing.T, what string)) {
	x, check = guarded(n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x, check
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// eps is the relative rounding error of float32.
const eps = 1.0 / (1 << 24)

// near fails where got is further from want than a float32 sum of terms terms
// and total magnitude size can be.
func near(t *testing.T, got float32, want, size float64, terms int, format string, args ...any) {
	if !(math.Abs(float64(got)-want) <= float64(terms+4)*eps*size+1e-37) {
		t.Helper() // walks the stack: called for each element, it took a fifth of these tests
		t.Fatalf(format+": got %g, want %g", append(args, got, want)...)
	}
}

func sameBits(t *testing.T, a, b []float32, what string) {
	t.Helper()
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			t.Fatalf("%s: bits differ at %d: %g and %g", what, i, a[i], b[i])
		}
	}
}

// onThreads calls f with 1, 2, 3 and 33 threads: with more than four, products
// are cut into more tasks.
func onThreads(f func(threads int)) {
	defer par.SetThreads(par.Threads())
	for _, n := range []int{1, 2, 3, 33} {
		par.SetThreads(n)
		f(n)
	}
}
