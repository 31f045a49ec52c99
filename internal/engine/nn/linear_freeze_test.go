package nn

import (
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// A frozen network has the bits of the same one that is not.
func TestFreezeKeepsBits(t *testing.T) {
	t.Parallel()
	for _, spec := range []Spec{
		{Name: "c2f2", Height: 28, Width: 28, Channels: 1, Embedding: 16, Normalize: true},
		{Name: "mlp", Height: 8, Width: 8, Channels: 1, Embedding: 24},
	} {
		plain, err := Build(spec, rng.New(0, "weights"))
		if err != nil {
			t.Fatal(err)
		}
		frozen, err := Build(spec, rng.New(0, "weights"))
		if err != nil {
			t.Fatal(err)
		}
		frozen.Freeze()
		for _, b := range []int{1, 5} {
			x, dz, r := array.New(b, spec.Height, spec.Width, spec.Channels), array.New(b, plain.Dim()), rng.New(1, "pixels")
			for _, a := range []*array.Array{x, dz} {
				for i := range a.Data {
					a.Data[i] = float32(r.Float64())
				}
			}
			if !slices.Equal(plain.Embed(x, Eval).Data, frozen.Embed(x, Eval).Data) {
				t.Errorf("%s, %d images: other embeddings", spec.Name, b)
			}
			want, got := plain.Backward(dz.Clone(), Input), frozen.Backward(dz.Clone(), Input)
			if !slices.Equal(want.Data, got.Data) || slices.Max(got.Data) == 0 {
				t.Errorf("%s, %d images: other gradients", spec.Name, b)
			}
		}
	}
}
