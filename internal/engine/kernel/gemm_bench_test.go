package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
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

func eachLevel(b *testing.B, f func(b *testing.B)) {
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

func BenchmarkGemm(b *testing.B) {
	for _, s := range []struct {
		m, n, k int
		ta, tb  bool
	}{
		{64, 64, 64, false, false}, {128, 128, 128, false, false}, {256, 256, 256, false, false},
		{512, 512, 512, false, false}, {1024, 1024, 1024, false, false},
		{1024, 1024, 1024, true, false}, {1024, 1024, 1024, false, true}, {1024, 1024, 1024, true, true},
		{112, 512, 3136, false, true}, {8, 8, 8, false, false}, {1, 512, 512, false, false}, {1000, 10, 512, false, false},
	} {
		b.Run(fmt.Sprintf("%dx%dx%d-%v-%v", s.m, s.n, s.k, s.ta, s.tb), func(b *testing.B) {
			eachLevel(b, func(b *testing.B) {
				x, y, z := random(1, s.m*s.k), random(2, s.k*s.n), make([]float32, s.m*s.n)
				lda, ldb := s.k, s.n
				if s.ta {
					lda = s.m
				}
				if s.tb {
					ldb = s.k
				}
				for b.Loop() {
					Gemm(s.ta, s.tb, s.m, s.n, s.k, 1, x, lda, y, ldb, 0, z, s.n)
				}
				reportSpeed(b, 2*float64(s.m)*float64(s.n)*float64(s.k))
			})
		})
	}
}
