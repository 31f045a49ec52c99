package nn

import (
	"errors"
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// bf16Models are networks that bfloat16 supports, on small images.
func bf16Models() map[string]Spec {
	return map[string]Spec{
		"c2f2":   {Name: "c2f2", Height: 12, Width: 12, Channels: 1, Embedding: 40, Normalize: true},
		"lenet":  {Name: "lenet", Height: 28, Width: 28, Channels: 1, Embedding: 20},
		"mlp":    {Name: "mlp", Height: 7, Width: 9, Channels: 3, Units: 50, FinalReLU: true},
		"linear": {Name: "linear", Height: 5, Width: 5, Channels: 2, Embedding: 7, Normalize: true},
	}
}

// bf16Images draws n images for m.
func bf16Images(m *Model, n int) *array.Array {
	x := array.New(n, m.in[0], m.in[1], m.in[2])
	r := rng.New(1, "images")
	for i := range x.Data {
		x.Data[i] = float32(r.Float64())
	}
	return x
}

// distanceOf is the length of a - b over that of b.
func distanceOf(a, b []float32) float64 {
	off, all := 0.0, 0.0
	for i, v := range b {
		d := float64(a[i]) - float64(v)
		off, all = off+d*d, all+float64(v)*float64(v)
	}
	return math.Sqrt(off / all)
}

// TestBF16 compares with float32: rounding to 8 bits changes a sum of independent products
// by about 2^-9 of its size, and input gradients by more where another pixel of a window or
// the other side of a ReLU wins. It also changes the weights, which Refresh has to see.
func TestBF16(t *testing.T) {
	if err := kernel.CheckBF16(); err != nil {
		restore, err := kernel.Force(kernel.Generic)
		if err != nil {
			t.Fatal(err)
		}
		defer restore()
	}
	for name, spec := range bf16Models() {
		t.Run(name, func(t *testing.T) {
			m, err := Build(spec, rng.New(2, "init"))
			if err != nil {
				t.Fatal(err)
			}
			b, err := m.BF16()
			if err != nil {
				t.Fatal(err)
			}
			for round := range 2 {
				for _, n := range []int{3, 1} {
					x := bf16Images(m, n)
					z := m.Embed(x, Eval)
					dz := array.New(n, m.Dim())
					r := rng.New(3, "dz")
					for i := range dz.Data {
						dz.Data[i] = float32(r.NormFloat64())
					}
					dx := m.Backward(dz, Input)
					if e := distanceOf(b.Embed(x, Eval).Data, z.Data); !(e > 0 && e < 0.01) {
						t.Errorf("round %d, %d images: embeddings differ by %v of their length", round, n, e)
					}
					if e := distanceOf(b.Backward(dz, Input).Data, dx.Data); !(e > 0 && e < 0.2) {
						t.Errorf("round %d, %d images: input gradients differ by %v of their length", round, n, e)
					}
				}
				for _, p := range m.Params() {
					for i := range p.Value.Data {
						p.Value.Data[i] *= -1.5
					}
				}
				b.Refresh()
			}
		})
	}
}

// TestBF16IsExact: the bits are those of plain Go, but for the normalization, which belongs
// to the level; they do not depend on threads, nor on the other images of a batch.
func TestBF16IsExact(t *testing.T) {
	if kernel.Current() != kernel.AVX512 || kernel.CheckBF16() != nil {
		t.Skip("needs tiles at level avx512")
	}
	for name, spec := range bf16Models() {
		t.Run(name, func(t *testing.T) {
			spec.Normalize = false
			pass := func(l kernel.Level, threads, n int) []float32 {
				restore, err := kernel.Force(l)
				if err != nil {
					t.Fatal(err)
				}
				defer restore()
				defer par.SetThreads(par.Threads())
				par.SetThreads(threads)
				m, err := Build(spec, rng.New(2, "init"))
				if err != nil {
					t.Fatal(err)
				}
				b, err := m.BF16()
				if err != nil {
					t.Fatal(err)
				}
				z := b.Embed(bf16Images(m, n), Eval)
				dz := array.New(n, m.Dim())
				for i := range dz.Data {
					dz.Data[i] = float32(i%7) - 2.5
				}
				dx := b.Backward(dz, Input)
				return append(append([]float32{}, z.Data[:m.Dim()]...), dx.Data[:size(m.in)]...)
			}
			want := pass(kernel.Generic, 1, 1)
			for _, threads := range []int{1, 2, 5} {
				for _, n := range []int{3, 11} {
					for i, v := range pass(kernel.AVX512, threads, n) {
						if math.Float32bits(v) != math.Float32bits(want[i]) {
							t.Fatalf("%d threads, %d images: number %d is %v, in plain Go %v", threads, n, i, v, want[i])
						}
					}
				}
			}
		})
	}
}

func TestBF16Unsupported(t *testing.T) {
	restore, err := kernel.Force(kernel.Generic)
	if err != nil {
		t.Fatal(err)
	}
	defer restore()
	for layer, spec := range map[string]Spec{
		"bn1":   {Name: "resnet18", Height: 32, Width: 32, Channels: 3, Units: 4},
		"conv2": {Name: "small", Height: 12, Width: 12, Channels: 1},
	} {
		m, err := Build(spec, rng.New(0, "init"))
		if err != nil {
			t.Fatal(err)
		}
		var u *UnsupportedBF16
		if _, err := m.BF16(); !errors.As(err, &u) || u.Layer != layer {
			t.Errorf("%s: %v, want layer %s named", spec.Name, err, layer)
		}
	}
}
