package nn

import (
	"fmt"
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/testutil"
)

// bf16Golden is what testdata/scripts/bf16_golden.py writes.
type bf16Golden struct {
	Shape  []int
	Convs  [][3]int // kernel, padding, channels
	ReLU   bool
	FC     []int
	Images []struct {
		First  int
		Z, DX  []float64
		ZError []float64 `json:"z_error"`
		DError []float64 `json:"dx_error"`
	}
}

// goldenNumbers are n numbers of the script's integer formula.
func goldenNumbers(n, seed int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(float32(float64((i*7919+i*i%613*31+seed*104729)%2003) / 2003))
	}
	return out
}

// model is the script's network.
func (g *bf16Golden) model(t *testing.T) *Model {
	t.Helper()
	var layers []Layer
	for i, c := range g.Convs {
		layers = append(layers, NewConv2D(fmt.Sprintf("conv%d", i+1), c[2], c[0], 1, c[1], true))
		if g.ReLU {
			layers = append(layers, NewReLU(fmt.Sprintf("relu%d", i+1)))
		}
		layers = append(layers, NewMaxPool(fmt.Sprintf("pool%d", i+1), 2, 2, 0))
	}
	layers = append(layers, NewFlatten("flatten"))
	for i, n := range g.FC {
		if i > 0 {
			layers = append(layers, NewReLU(fmt.Sprintf("fc%d.relu", i)))
		}
		layers = append(layers, NewLinear(fmt.Sprintf("fc%d", i+1), n, true))
	}
	m := &Model{net: NewSequential("golden", layers...), in: g.Shape, dim: g.FC[len(g.FC)-1]}
	if _, err := m.net.OutShape(g.Shape); err != nil {
		t.Fatal(err)
	}
	for k, p := range m.net.Params() {
		scale := 0.2
		if shape := p.Value.Shape; len(shape) > 1 {
			scale = 3 / math.Sqrt(float64(len(p.Value.Data)/shape[len(shape)-1]))
		}
		for i, v := range goldenNumbers(len(p.Value.Data), 100+k) {
			p.Value.Data[i] = float32((v - 0.5) * scale)
		}
	}
	return m
}

// TestBF16AgainstPyTorch: embeddings and input gradients differ from PyTorch's by no more than
// float32 sums of the same rounded numbers can. The script derives the bounds, and takes only
// images where they decide no rounding, no ReLU and no window.
func TestBF16AgainstPyTorch(t *testing.T) {
	if err := kernel.CheckBF16(); err != nil {
		restore, err := kernel.Force(kernel.Generic)
		if err != nil {
			t.Fatal(err)
		}
		defer restore()
	}
	var doc struct{ Nets map[string]*bf16Golden }
	testutil.ReadJSON(t, "testdata/bf16.json", &doc)
	if len(doc.Nets) != 4 {
		t.Fatalf("%d networks", len(doc.Nets))
	}
	for name, g := range doc.Nets {
		t.Run(name, func(t *testing.T) {
			b, err := g.model(t).BF16()
			if err != nil {
				t.Fatal(err)
			}
			n := len(g.Images)
			x, dz := array.New(append([]int{n}, g.Shape...)...), array.New(n, b.Dim())
			for i, c := range g.Images {
				pixels := len(x.Row(i))
				for k, v := range goldenNumbers(c.First+pixels, 60)[c.First:] {
					x.Row(i)[k] = float32(v)
				}
				for k, v := range goldenNumbers(b.Dim(), 7) {
					dz.Row(i)[k] = float32(v - 0.5)
				}
			}
			z := b.Embed(x, Eval)
			dx := b.Backward(dz, Input)
			for i, c := range g.Images {
				withinEach(t, fmt.Sprintf("image %d: embedding", i), z.Row(i), c.Z, c.ZError)
				withinEach(t, fmt.Sprintf("image %d: input gradient", i), dx.Row(i), c.DX, c.DError)
			}
		})
	}
}

// withinEach fails the test unless each number differs by at most its error.
func withinEach(t *testing.T, what string, got []float32, want, most []float64) {
	t.Helper()
	if len(got) != len(want) || len(most) != len(want) || len(want) == 0 {
		t.Fatalf("%s: %d numbers, want %d with %d errors", what, len(got), len(want), len(most))
	}
	share := 0.0
	for i, v := range want {
		off := math.Abs(float64(got[i]) - v)
		if !(off <= most[i]) {
			t.Fatalf("%s: number %d is %v, want %v within %v", what, i, got[i], v, most[i])
		}
		if off > 0 {
			share = max(share, off/most[i])
		}
	}
	t.Logf("%s: at most %.3f of the bound", what, share)
}
