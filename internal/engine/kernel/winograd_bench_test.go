package kernel

import (
	"math"
	"testing"
	"time"

	"tercet/internal/par"
)

var winogradShapes = []struct {
	name string
	n    int
	g    Conv
}{
	{"64@56", 24, Conv{H: 56, W: 56, C: 64, OutC: 64, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
	{"128@28", 24, Conv{H: 28, W: 28, C: 128, OutC: 128, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
	{"256@14", 24, Conv{H: 14, W: 14, C: 256, OutC: 256, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
	{"512@7", 24, Conv{H: 7, W: 7, C: 512, OutC: 512, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
	{"64@16", 96, Conv{H: 16, W: 16, C: 64, OutC: 64, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
	{"128@8", 96, Conv{H: 8, W: 8, C: 128, OutC: 128, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
	{"256@4", 96, Conv{H: 4, W: 4, C: 256, OutC: 256, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
	{"512@2", 96, Conv{H: 2, W: 2, C: 512, OutC: 512, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
	{"47to94@28", 32, Conv{H: 28, W: 28, C: 47, OutC: 94, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
	{"94@14", 128, Conv{H: 14, W: 14, C: 94, OutC: 94, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
	{"5x5-32to64@14", 64, Conv{H: 14, W: 14, C: 32, OutC: 64, KH: 5, KW: 5, StrideH: 1, StrideW: 1, PadH: 2, PadW: 2}},
}

// BenchmarkWinograd times the algorithms interleaved on one thread and reports the
// best of each, in GFLOP/s of the direct count and of its own multiplications,
// and the ratio to the direct kernel. Times are of the calls alone.
func BenchmarkWinograd(b *testing.B) {
	defer par.SetThreads(par.Threads())
	par.SetThreads(1)
	for _, s := range winogradShapes {
		oh, ow := s.g.Out()
		x, w := random(1, s.n*s.g.H*s.g.W*s.g.C), random(2, s.g.patch()*s.g.OutC)
		y, bias := random(3, s.n*oh*ow*s.g.OutC), random(4, s.g.OutC)
		dy := random(5, len(y))
		dx, dw := make([]float32, len(x)), make([]float32, len(w))
		for _, pass := range []struct {
			name string
			f    func(a Algorithm)
		}{
			{"forward", func(a Algorithm) {
				if a == Direct {
					s.g.Forward(s.n, x, w, bias, y)
				} else {
					s.g.winogradForward(a, s.n, x, w, nil, bias, true, y)
				}
			}},
			{"input", func(a Algorithm) {
				if a == Direct {
					s.g.BackwardInput(s.n, dy, w, dx)
				} else {
					s.g.winogradInput(a, s.n, dy, w, nil, dx)
				}
			}},
			{"weights", func(a Algorithm) {
				if a == Direct {
					s.g.BackwardWeights(s.n, x, dy, dw, nil)
				} else {
					s.g.winogradWeights(a, s.n, x, dy, dw)
				}
			}},
		} {
			b.Run(s.name+"/"+pass.name, func(b *testing.B) {
				eachLevel(b, func(b *testing.B) {
					best := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}
					for b.Loop() {
						for a := Direct; a <= Winograd4; a++ {
							if a != Direct && !s.g.winogradFits(a) {
								continue
							}
							start := time.Now()
							pass.f(a)
							best[a] = min(best[a], time.Since(start).Seconds())
						}
					}
					flop := 2 * float64(s.n*oh*ow) * float64(len(w))
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(flop/best[Direct]/1e9, "direct-GFLOP/s")
					for a := Winograd2; a <= Winograd4; a++ {
						if !s.g.winogradFits(a) {
							continue
						}
						k := s.g.winogradKindOf(a)
						own := 2 * float64(k.tiles(&s.g, s.n, oh, ow).count*k.positions()) * float64(s.g.C*s.g.OutC)
						b.ReportMetric(flop/best[a]/1e9, a.String()+"-GFLOP/s")
						b.ReportMetric(own/best[a]/1e9, a.String()+"-own")
						b.ReportMetric(best[Direct]/best[a], a.String()+"-ratio")
					}
				})
			})
		}
	}
}
