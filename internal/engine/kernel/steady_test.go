package kernel

import (
	"math"
	"runtime"
	"sync"
	"testing"

	"tercet/internal/par"
)

// allocations returns the fewest allocations that a row of calls made in
// several attempts: on a busy machine the pool's helpers can lag behind and keep
// its jobs from reuse for a while, whereas a call that allocates does so every
// time. testing.AllocsPerRun would force one processor.
func allocations(calls int, f func()) uint64 {
	fewest := uint64(math.MaxUint64)
	for range 8 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range calls {
			f()
		}
		runtime.ReadMemStats(&after)
		fewest = min(fewest, after.Mallocs-before.Mallocs)
		if fewest < uint64(calls) {
			break
		}
	}
	return fewest
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	defer par.SetThreads(par.Threads())
	par.SetThreads(2)
	a, b, c := random(1, 200*300), random(2, 300*150), make([]float32, 200*150)
	g := Conv{H: 14, W: 14, C: 8, OutC: 20, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}
	down := Conv{H: 14, W: 14, C: 8, OutC: 20, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1}
	const n = 4
	x, w, bias := random(3, n*14*14*8), random(4, 9*8*20), random(5, 20)
	y, half := random(6, n*14*14*20), random(7, n*7*7*20)
	dx, dw, db := make([]float32, len(x)), make([]float32, len(w)), make([]float32, 20)
	long := random(8, 5*sumChunk)
	for _, k := range []struct {
		name string
		f    func()
	}{
		{"Gemm", func() { Gemm(false, false, 200, 150, 300, 1, a, 300, b, 150, 0, c, 150) }},
		{"Gemm transposed", func() { Gemm(true, true, 200, 150, 300, 1, a, 200, b, 300, 1, c, 150) }},
		{"Gemm of few columns", func() { Gemm(true, false, 200, 5, 300, 1, a, 200, b, 5, 1, c, 5) }},
		{"GemmBias", func() { GemmBias(false, true, 200, 20, 300, a, 300, b, 300, bias, true, c, 150) }},
		{"Gram", func() { Gram(150, 300, b, 300, c[:150*150], 150) }},
		{"Forward", func() { g.Forward(n, x, w, bias, y) }},
		{"BackwardInput", func() { g.BackwardInput(n, y, w, dx) }},
		{"BackwardInput stride 2", func() { down.BackwardInput(n, half, w, dx) }},
		{"BackwardWeights", func() { g.BackwardWeights(n, x, y, dw, db) }},
		{"PairwiseSquared", func() { PairwiseSquared(100, 100, 300, a[:30000], a[:30000], c[:10000]) }},
		{"Sum", func() { Sum(long) }},
		{"Axpy", func() { Axpy(1e-9, long, long) }},
	} {
		const calls = 40
		if got := allocations(calls, k.f); got >= calls {
			t.Errorf("%s: %d allocations in %d calls", k.name, got, calls)
		}
	}
}

// Scratch is shared through free lists: calls at the same time must not meet.
func TestConcurrentCalls(t *testing.T) {
	a, b := random(1, 90*400), random(2, 400*70)
	want := make([]float32, 90*70)
	Gemm(false, false, 90, 70, 400, 1, a, 400, b, 70, 0, want, 70)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			c := make([]float32, 90*70)
			for range 10 {
				Gemm(false, false, 90, 70, 400, 1, a, 400, b, 70, 0, c, 70)
				for i := range c {
					if math.Float32bits(c[i]) != math.Float32bits(want[i]) {
						t.Errorf("bits differ at %d", i)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestConvGeometry(t *testing.T) {
	for _, c := range []struct {
		g      Conv
		oh, ow int
	}{
		{Conv{H: 28, W: 28, KH: 5, KW: 5, StrideH: 1, StrideW: 1, PadH: 2, PadW: 2}, 28, 28},
		{Conv{H: 7, W: 8, KH: 3, KW: 3, StrideH: 2, StrideW: 2}, 3, 3},
		{Conv{H: 224, W: 224, KH: 7, KW: 7, StrideH: 2, StrideW: 2, PadH: 3, PadW: 3}, 112, 112},
		{Conv{H: 2, W: 3, KH: 5, KW: 3, StrideH: 3, StrideW: 3}, 0, 1},
		{Conv{H: 2, W: 3, KH: 3, KW: 4, StrideH: 2, StrideW: 1}, 0, 0},
	} {
		if oh, ow := c.g.Out(); oh != c.oh || ow != c.ow {
			t.Errorf("%+v: %d x %d, want %d x %d", c.g, oh, ow, c.oh, c.ow)
		}
	}
}

func TestConvPanicsOnWhatDoesNotFit(t *testing.T) {
	good := Conv{H: 3, W: 3, C: 1, OutC: 1, KH: 3, KW: 3, StrideH: 1, StrideW: 1}
	nine, one := make([]float32, 9), make([]float32, 1)
	tooLarge, noStride := good, good
	tooLarge.KH, noStride.StrideW = 4, 0
	for name, f := range map[string]func(){
		"input":             func() { good.Forward(1, nine[:8], nine, nil, one) },
		"weights":           func() { good.Forward(1, nine, nine[:8], nil, one) },
		"output":            func() { good.Forward(2, make([]float32, 18), nine, nil, one) },
		"bias":              func() { good.Forward(1, nine, nine, nine, one) },
		"gradient of bias":  func() { good.BackwardWeights(1, nine, one, nine, nine) },
		"gradient of input": func() { good.BackwardInput(1, one, nine, nine[:8]) },
		"large kernel":      func() { tooLarge.Forward(1, nine, make([]float32, 12), nil, one) },
		"stride 0":          func() { noStride.Forward(1, nine, nine, nil, one) },
		"negative batch":    func() { good.Forward(-1, nil, nine, nil, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
