package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"tercet/internal/par"
)

func random(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 0))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// reportSpeed adds GFLOP/s to a benchmark of flop operations per loop.
func reportSpeed(b *testing.B, flop float64) {
	b.ReportMetric(flop*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// peakSeconds returns the seconds that flop operations take at least at the
// current level on all threads: the best of short runs of PeakFMA on one.
func peakSeconds(flop float64) float64 {
	best := 0.0
	for range 20 {
		start := time.Now()
		done := PeakFMA(Current(), 20000)
		best = max(best, done/time.Since(start).Seconds())
	}
	return flop / best / float64(par.Threads())
}

func eachLevel(b *testing.B, f func(b *testing.B)) {
	defer par.SetThreads(par.Threads())
	par.SetThreads(0) // what -cpu says
	for _, l := range Levels() {
		b.Run(l.String(), func(b *testing.B) {
			restore, err := Force(l)
			if err != nil {
				b.Fatal(err)
			}
			defer restore()
			b.ReportAllocs()
			f(b)
		})
	}
}

// BenchmarkGemm reports the mean speed and the share of the FMA peak that the
// fastest of the calls reached, which depends less on a busy machine.
func BenchmarkGemm(b *testing.B) {
	type size struct {
		m, n, k int
		trans   string // of A and B
	}
	var sizes []size
	for _, n := range []int{8, 16, 31, 64, 100, 128, 256, 512, 1024, 2048} {
		sizes = append(sizes, size{n, n, n, "nn"})
	}
	for _, n := range []int{64, 256, 1024} {
		for _, trans := range []string{"nt", "tn", "tt"} {
			sizes = append(sizes, size{n, n, n, trans})
		}
	}
	sizes = append(sizes,
		size{384, 3136, 1024, "nn"},
		// A hidden layer of the MLP: forward, weights, input.
		size{256, 784, 200, "nn"}, size{256, 200, 784, "nn"}, size{784, 200, 256, "tn"},
		size{256, 200, 200, "nn"}, size{200, 200, 256, "tn"}, size{256, 200, 200, "nt"},
		size{112, 512, 3136, "nt"}, size{1, 512, 512, "nn"}, size{512, 1, 512, "nn"}, size{512, 512, 1, "nn"},
		size{1000, 10, 512, "nn"}, size{512, 10, 1000, "tn"},
	)
	for _, s := range sizes {
		b.Run(fmt.Sprintf("%dx%dx%d-%s", s.m, s.n, s.k, s.trans), func(b *testing.B) {
			eachLevel(b, func(b *testing.B) {
				x, y, z := random(1, s.m*s.k), random(2, s.k*s.n), make([]float32, s.m*s.n)
				ta, tb := s.trans[0] == 't', s.trans[1] == 't'
				lda, ldb := s.k, s.n
				if ta {
					lda = s.m
				}
				if tb {
					ldb = s.k
				}
				benchmarkProduct(b, 2*float64(s.m)*float64(s.n)*float64(s.k), func() {
					Gemm(ta, tb, s.m, s.n, s.k, 1, x, lda, y, ldb, 0, z, s.n)
				})
			})
		})
	}
}

// BenchmarkGram counts the operations of half the product.
func BenchmarkGram(b *testing.B) {
	for _, s := range [][2]int{{128, 512}, {256, 128}, {384, 512}, {1024, 512}} {
		b.Run(fmt.Sprintf("%dx%d", s[0], s[1]), func(b *testing.B) {
			eachLevel(b, func(b *testing.B) {
				n, k := s[0], s[1]
				x, c := random(1, n*k), make([]float32, n*n)
				benchmarkProduct(b, float64(n)*float64(n+1)*float64(k), func() { Gram(n, k, x, k, c, n) })
			})
		})
	}
}

// benchmarkProduct times f, which does flop operations.
func benchmarkProduct(b *testing.B, flop float64, f func()) {
	limit := peakSeconds(flop)
	// As many calls at a time as the clock needs to see them well.
	calls := int(1e-4/limit) + 1
	f()
	fastest := time.Duration(1 << 62)
	for b.Loop() {
		start := time.Now()
		for range calls {
			f()
		}
		fastest = min(fastest, time.Since(start))
	}
	reportSpeed(b, flop*float64(calls))
	b.ReportMetric(100*limit*float64(calls)/fastest.Seconds(), "%peak")
}
