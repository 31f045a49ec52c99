package adversary

import (
	"fmt"
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// One pass gives the bits of a step followed by a projection, whatever the size of
// the images and the number of threads.
func TestSignStepsEqualStepAndProjection(t *testing.T) {
	defer par.SetThreads(0)
	for _, threads := range []int{1, 3} {
		par.SetThreads(threads)
		for _, pixels := range []int{1, 8, 784, signBlock, signBlock + 1, 2*signBlock + 777} {
			r := rng.New(uint64(pixels), "sign")
			const n = 5
			p := base()
			x0, x, dx := array.New(n, pixels), array.New(n, pixels), array.New(n, pixels)
			for i := range x0.Data {
				x0.Data[i] = float32(min(max(r.Uniform(-0.2, 1.2), 0), 1))
				x.Data[i] = min(max(x0.Data[i]+float32(r.Uniform(-0.1, 0.1)), x0.Data[i]-0.1, 0), x0.Data[i]+0.1, 1)
				switch r.IntN(4) {
				case 0:
					dx.Data[i] = 0
				case 1:
					dx.Data[i] = float32(math.Copysign(0, -1))
				default:
					dx.Data[i] = float32(r.NormFloat64() * math.Pow(10, r.Uniform(-44, 30)))
				}
			}
			clear(dx.Row(2))
			want := x.Clone()
			for i := range n {
				p.descend(want.Row(i), dx.Row(i), p.Step)
				p.project(want.Row(i), x0.Row(i))
			}
			c := &crafting{p: &p, x0: x0, x: x, dx: dx, bad: make([]int, n), zero: make([]int, n)}
			if !c.sign.run(c) {
				t.Fatal("not a sign step")
			}
			if fmt.Sprintf("%x", x.Data) != fmt.Sprintf("%x", want.Data) {
				t.Errorf("%d pixels: other bits", pixels)
			}
			if pixels > 8 && fmt.Sprint(c.zero) != "[0 0 1 0 0]" || fmt.Sprint(c.bad) != "[-1 -1 -1 -1 -1]" {
				t.Errorf("%d pixels: zero gradients %v, bad %v", pixels, c.zero, c.bad)
			}
			dx.Row(1)[pixels-1] = float32(math.Inf(-1))
			dx.Row(3)[pixels/2] = float32(math.NaN())
			dx.Row(3)[pixels-1] = float32(math.NaN())
			c.sign.run(c)
			if want := fmt.Sprint([]int{-1, pixels - 1, -1, pixels / 2, -1}); fmt.Sprint(c.bad) != want {
				t.Errorf("%d pixels: bad %v, want %v", pixels, c.bad, want)
			}
		}
	}
}

func BenchmarkSignStep(b *testing.B) {
	r := rng.New(1, "sign")
	p := base()
	const n, pixels = 384, 784
	x0, dx := array.New(n, pixels), array.New(n, pixels)
	for i := range x0.Data {
		x0.Data[i] = float32(r.Float64())
		dx.Data[i] = float32(r.NormFloat64())
	}
	c := &crafting{p: &p, x0: x0, x: x0.Clone(), dx: dx, bad: make([]int, n), zero: make([]int, n)}
	b.ReportAllocs()
	for b.Loop() {
		c.sign.run(c)
	}
}
