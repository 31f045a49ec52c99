package nn

import (
	"slices"
	"testing"

	"tercet/internal/engine/tensors"
)

// A weight of each kind, number by number: ours[i] is the number that counts from 0.
func TestTorchTensors(t *testing.T) {
	t.Parallel()
	m := build(t, Spec{Name: "lenet", Height: 16, Width: 20, Channels: 3, Embedding: 7})
	by := map[string]TorchTensor{}
	for i, p := range m.TorchTensors() {
		if p.Name != m.Params()[i].Name || !slices.Equal(p.Here, m.Params()[i].Value.Shape) {
			t.Errorf("tensor %d is %+v, the parameter %s", i, p, m.Params()[i].Name)
		}
		by[p.Name] = p
		x := make([]float32, size(p.Here))
		for i := range x {
			x[i] = float32(i)
		}
		if !slices.Equal(tensors.Restore(tensors.Reorder(x, p.View, p.Axes), p.View, p.Axes), x) {
			t.Errorf("%s: there and back is another tensor", p.Name)
		}
	}
	for _, c := range []struct {
		name        string
		here, there []int
		at, place   []int // the same number here and there
	}{
		{"conv2.weight", []int{5, 5, 20, 50}, []int{50, 20, 5, 5}, []int{1, 2, 3, 4}, []int{4, 3, 1, 2}},
		{"conv2.bias", []int{50}, []int{50}, []int{3}, []int{3}},
		// The map before fc1 is 1 x 2 x 50 (H, W, C): channel 30 of the second pixel is
		// input 1*50+30 here and 30*2+1 there.
		{"fc1.weight", []int{100, 500}, []int{500, 100}, []int{80, 9}, []int{9, 61}},
		{"fc2.weight", []int{500, 7}, []int{7, 500}, []int{11, 3}, []int{3, 11}},
	} {
		p := by[c.name]
		if !slices.Equal(p.Here, c.here) || !slices.Equal(p.Shape, c.there) {
			t.Errorf("%s: %v here, %v there", c.name, p.Here, p.Shape)
			continue
		}
		x := make([]float32, size(c.here))
		x[offset(c.here, c.at)] = 1
		if y := tensors.Reorder(x, p.View, p.Axes); y[offset(c.there, c.place)] != 1 {
			t.Errorf("%s: %v here is not %v there but number %d", c.name, c.at, c.place, slices.Index(y, 1))
		}
	}
}

func offset(shape, at []int) int {
	i := 0
	for a, n := range shape {
		i = i*n + at[a]
	}
	return i
}
