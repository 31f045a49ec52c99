package embed

import (
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// Embeddings of one image at a time have the bits of those of a batch, and images are so
// few at a time that the buffers of the network, counted, stay within the bound.
func TestRows(t *testing.T) {
	t.Parallel()
	for _, s := range []nn.Spec{
		{Name: "resnet18", Height: 33, Width: 40, Channels: 3, Units: 8},
		{Name: "resnet50", Height: 32, Width: 32, Channels: 3, Units: 8},
		{Name: "vit-s16", Height: 32, Width: 32, Channels: 3},
		{Name: "c2f2", Height: 28, Width: 28, Channels: 1},
	} {
		m, err := nn.Build(s, rng.New(1, "embed"))
		if err != nil {
			t.Fatal(err)
		}
		x, r := array.New(9, s.Height, s.Width, s.Channels), rng.New(2, "embed")
		for i := range x.Data {
			x.Data[i] = float32(r.Float64())
		}
		want := slices.Clone(m.Embed(x, nn.Eval).Data)
		for _, rows := range []int{1, 4} {
			var got []float32
			for lo := 0; lo < 9; lo += rows {
				got = append(got, m.Embed(x.Slice(lo, min(lo+rows, 9)), nn.Eval).Data...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d images at a time have other embeddings", s.Name, rows)
			}
		}
		b := m.ImageBytes()
		if n := Rows(m, 1<<30); n*b > atOnce || (n+1)*b <= atOnce || Rows(m, 7) != 7 {
			t.Errorf("%s: %d images of %d bytes at a time, %d where 7 are asked for", s.Name, n, b, Rows(m, 7))
		}
	}
}
