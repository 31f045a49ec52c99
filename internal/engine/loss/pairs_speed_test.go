package loss

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/rng"
)

func TestPairLossesSameBitsForAnyThreads(t *testing.T) {
	defer par.SetThreads(0)
	r := rng.New(4, "pairs")
	z := random(r, 60, 300, 0.1)
	ts := &Tuples{Pairs: randomPairs(r, 60, 500)}
	for _, c := range []pairCase{contrastiveCase(ContrastiveDefaults()), cosineCase(CosineDefaults())} {
		var want string
		for _, threads := range []int{1, 2, 3} {
			par.SetThreads(threads)
			grad := array.New(60, 300)
			res, err := build(t, c).Eval(z, ts, grad)
			if err != nil {
				t.Fatal(err)
			}
			s := fmt.Sprintf("%x %x", math.Float64bits(res.Loss), grad.Data)
			if want == "" {
				want = s
			}
			if s != want {
				t.Fatalf("%s: %d threads give other bits", c.name, threads)
			}
		}
	}
}

func TestPairLossesAllocateNothing(t *testing.T) {
	r := rng.New(5, "pairs")
	z := random(r, 64, 128, 0.1)
	grad := array.New(64, 128)
	ts := &Tuples{Pairs: randomPairs(r, 64, 100)}
	for _, c := range []pairCase{contrastiveCase(ContrastiveDefaults()), cosineCase(CosineDefaults())} {
		l := build(t, c)
		step := func() {
			if _, err := l.Eval(z, ts, grad); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			step()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 200 {
			step()
		}
		runtime.ReadMemStats(&after)
		if a := after.Mallocs - before.Mallocs; a > 100 { // a worker that lags keeps a job: some
			t.Errorf("%s: %d allocations in 200 evaluations", c.name, a)
		}
	}
}

func BenchmarkPairs(b *testing.B) {
	r := rng.New(5, "pairs")
	ts := &Tuples{}
	for i := range int32(128) {
		ts.Pairs = append(ts.Pairs, Pair{2 * i, 2*i + 1, i%2 == 0})
	}
	for _, c := range []pairCase{contrastiveCase(ContrastiveDefaults()), cosineCase(CosineDefaults())} {
		b.Run(c.name[:6], func(b *testing.B) {
			z := random(r, 256, 200, 0.02)
			grad := array.New(256, 200)
			l, err := c.make()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Eval(z, ts, grad); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
