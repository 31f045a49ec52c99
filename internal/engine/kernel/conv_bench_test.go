package kernel

import "testing"

var benchConvs = []struct {
	name string
	n    int
	g    Conv
}{
	{"c2f2-1", 112, Conv{H: 28, W: 28, C: 1, OutC: 32, KH: 5, KW: 5, StrideH: 1, StrideW: 1, PadH: 2, PadW: 2}},
	{"c2f2-2", 112, Conv{H: 14, W: 14, C: 32, OutC: 64, KH: 5, KW: 5, StrideH: 1, StrideW: 1, PadH: 2, PadW: 2}},
	{"resnet18-64", 32, Conv{H: 32, W: 32, C: 64, OutC: 64, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
	{"resnet18-down", 32, Conv{H: 32, W: 32, C: 64, OutC: 128, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1}},
	{"resnet18-512", 32, Conv{H: 4, W: 4, C: 512, OutC: 512, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
}

func BenchmarkConv(b *testing.B) {
	for _, c := range benchConvs {
		oh, ow := c.g.Out()
		x, w := random(1, c.n*c.g.H*c.g.W*c.g.C), random(2, c.g.patch()*c.g.OutC)
		y, bias := random(3, c.n*oh*ow*c.g.OutC), random(4, c.g.OutC)
		dx, dw, db := make([]float32, len(x)), make([]float32, len(w)), make([]float32, c.g.OutC)
		flop := 2 * float64(c.n*oh*ow) * float64(len(w))
		for _, d := range []struct {
			name string
			f    func()
		}{
			{"forward", func() { c.g.Forward(c.n, x, w, bias, y) }},
			{"input", func() { c.g.BackwardInput(c.n, y, w, dx) }},
			{"weights", func() { c.g.BackwardWeights(c.n, x, y, dw, db) }},
		} {
			b.Run(c.name+"/"+d.name, func(b *testing.B) {
				eachLevel(b, func(b *testing.B) {
					d.f()
					for b.Loop() {
						d.f()
					}
					reportSpeed(b, flop)
				})
			})
		}
	}
}
