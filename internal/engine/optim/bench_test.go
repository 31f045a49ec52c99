package optim

import (
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// BenchmarkStep is one training step without data and loss: forward, backward of
// the parameters, clipping, Adam. BenchmarkCraft is one step of PGD: forward in
// mode Eval, input gradient.
func BenchmarkStep(b *testing.B) {
	each(b, func(m *nn.Model, o Optimizer, x, dz *array.Array) {
		ZeroGrad(m.Params())
		m.Embed(x, nn.Train)
		m.Backward(dz, nn.Weights)
		ClipByNorm(m.Params(), 1)
		o.Step(1e-3)
	})
}

func BenchmarkCraft(b *testing.B) {
	each(b, func(m *nn.Model, _ Optimizer, x, dz *array.Array) {
		m.Embed(x, nn.Eval)
		m.Backward(dz, nn.Input)
	})
}

func each(b *testing.B, step func(*nn.Model, Optimizer, *array.Array, *array.Array)) {
	for _, c := range []struct {
		s     nn.Spec
		batch int
	}{
		{nn.Spec{Name: "mlp", Height: 28, Width: 28, Channels: 1}, 256},
		{nn.Spec{Name: "lenet", Height: 28, Width: 28, Channels: 1, Normalize: true}, 256},
		{nn.Spec{Name: "c2f2", Height: 28, Width: 28, Channels: 1, Normalize: true}, 256},
		{nn.Spec{Name: "cnn", Height: 28, Width: 28, Channels: 1, Normalize: true}, 64},
		{nn.Spec{Name: "resnet18", Height: 32, Width: 32, Channels: 3, Units: 16, Normalize: true}, 32},
	} {
		b.Run(c.s.Name, func(b *testing.B) {
			r := rng.New(1, "bench")
			m, err := nn.Build(c.s, r)
			if err != nil {
				b.Fatal(err)
			}
			o, err := New(Config{Name: "adam"}, m.Params())
			if err != nil {
				b.Fatal(err)
			}
			x, dz := array.New(c.batch, c.s.Height, c.s.Width, c.s.Channels), array.New(c.batch, m.Dim())
			for i := range x.Data {
				x.Data[i] = float32(r.Float64())
			}
			for i := range dz.Data {
				dz.Data[i] = float32(r.NormFloat64()) / float32(c.batch)
			}
			step(m, o, x, dz)
			b.ReportAllocs()
			for b.Loop() {
				step(m, o, x, dz)
			}
			b.ReportMetric(float64(c.batch)*float64(b.N)/b.Elapsed().Seconds(), "images/s")
		})
	}
}
