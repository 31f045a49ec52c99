package kernel

import "testing"

var benchConvs = []struct {
	name string
	n    int
	g    Conv
}{
	{"c2f2-1", 112, square(28, 1, 32, 5, 1, 2)},
	{"c2f2-2", 112, square(14, 32, 64, 5, 1, 2)},
	{"cnn47-2", 28, square(28, 47, 94, 3, 1, 1)},
	{"cnn47-3", 56, square(14, 94, 94, 3, 1, 1)},
	{"resnet18-stem", 4, square(224, 3, 64, 7, 2, 3)},
	{"resnet18-64@56", 12, square(56, 64, 64, 3, 1, 1)},
	{"resnet18-128@28", 12, square(28, 128, 128, 3, 1, 1)},
	{"resnet18-256@14", 12, square(14, 256, 256, 3, 1, 1)},
	{"resnet18-512@7", 12, square(7, 512, 512, 3, 1, 1)},
	{"resnet18-down@28", 12, square(56, 64, 128, 3, 2, 1)},
	{"resnet18-down@7", 12, square(14, 256, 512, 3, 2, 1)},
	{"resnet18-shortcut@28", 12, square(56, 64, 128, 1, 2, 0)},
	{"resnet18-64-512@2", 96, square(2, 512, 512, 3, 1, 1)},
	{"pointwise", 12, square(28, 128, 128, 1, 1, 0)},
}

// BenchmarkConv times the direct kernels; Gflop/s counts padding, as everybody
// does, although some of it is not multiplied.
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
