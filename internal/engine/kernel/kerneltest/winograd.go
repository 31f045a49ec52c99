package kerneltest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/kernel"
)

// Winograd is the implementation of Winograd's convolutions that is tested.
type Winograd struct {
	Fits    func(g kernel.Conv, alg kernel.Algorithm) bool
	Forward func(g kernel.Conv, alg kernel.Algorithm, n int, x, w, bias []float32, relu bool, y []float32)
	Input   func(g kernel.Conv, alg kernel.Algorithm, n int, dy, w, dx []float32)
	Weights func(g kernel.Conv, alg kernel.Algorithm, n int, x, dy, dw []float32)
}

// RunWinograd runs the suite.
func RunWinograd(t *testing.T, impl Winograd) {
	t.Run("shapes", impl.shapes)
}

func square(size, c, out, k, pad int) kernel.Conv {
	return kernel.Conv{H: size, W: size, C: c, OutC: out, KH: k, KW: k, StrideH: 1, StrideW: 1, PadH: pad, PadW: pad}
}

var algorithms = []kernel.Algorithm{kernel.Winograd2, kernel.Winograd4}

func (impl Winograd) shapes(t *testing.T) {
	seed := uint64(500)
	for _, k := range []int{3, 5} {
		for pad := range k {
			for _, c := range [][2]int{{1, 1}, {3, 5}, {16, 32}, {17, 33}, {47, 20}} {
				seed++
				g := square(6, c[0], c[1], k, pad)
				g.H += int(seed % 5)
				g.W += int(seed % 3)
				for _, alg := range algorithms {
					impl.verify(t, g, alg, 2, seed)
				}
			}
		}
	}
	for _, c := range []struct {
		n int
		g kernel.Conv
	}{
		{1, square(3, 2, 3, 3, 0)},
		{1, square(1, 2, 3, 3, 1)},
		{3, square(2, 70, 40, 3, 1)},
		{2, square(7, 290, 60, 3, 1)},
		{2, square(9, 60, 500, 3, 1)},
		{3, square(20, 10, 12, 3, 1)},
	} {
		seed++
		for _, alg := range algorithms {
			impl.verify(t, c.g, alg, c.n, seed)
		}
	}
}

// verify compares all three directions with float64 loops.
func (impl Winograd) verify(t *testing.T, g kernel.Conv, alg kernel.Algorithm, n int, seed uint64) {
	t.Helper()
	r := newRand(seed)
	oh, ow := g.Out()
	x, checkX := guardedRandom(r, n*g.H*g.W*g.C)
	w, checkW := guardedRandom(r, g.KH*g.KW*g.C*g.OutC)
	bias, checkBias := guardedRandom(r, g.OutC)
	dy, checkDY := guardedRandom(r, n*oh*ow*g.OutC)
	y, checkY := guarded(len(dy))
	dx, checkDX := guarded(len(x))
	dw, checkDW := guardedRandom(r, len(w))
	dw0 := slices.Clone(dw)
	for i := range dx {
		dx[i] = nan
	}
	for i := range y {
		y[i] = nan
	}
	inputs := slices.Concat(x, w, bias, dy)
	impl.Forward(g, alg, n, x, w, bias, false, y)
	impl.Input(g, alg, n, dy, w, dx)
	impl.Weights(g, alg, n, x, dy, dw)
	sameBits(t, slices.Concat(x, w, bias, dy), inputs, "inputs")
	what := fmt.Sprintf("%v of %+v", alg, g)
	for _, check := range []func(*testing.T, string){checkX, checkW, checkBias, checkDY, checkY, checkDX, checkDW} {
		check(t, what)
	}
	ref := newReference(g, n, x, w, bias, dy)
	for i, old := range dw0 {
		ref.dw[i] += float64(old)
		ref.dwSize[i] += math.Abs(float64(old))
	}
	a, b, c := worst(y, ref.y, ref.ySize), worst(dx, ref.dx, ref.dxSize), worst(dw, ref.dw, ref.dwSize)
	if !(max(a, b, c) < 60) {
		t.Errorf("%s: errors %.3g %.3g %.3g", what, a, b, c)
	}
}

// worst returns the largest error over the largest size, in units of eps.
func worst(got []float32, want, size []float64) float64 {
	most, largest := 0.0, slices.Max(size)
	for i, v := range got {
		if e := math.Abs(float64(v) - want[i]); !(e <= most) {
			most = e
		}
	}
	return most / largest / eps
}
