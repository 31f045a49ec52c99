package kernel_test

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
	t.Run("fits", impl.fits)
	t.Run("shapes", impl.shapes)
	t.Run("errors", impl.errors)
	t.Run("error bound", impl.errorBound)
	t.Run("bits", impl.bits)
	t.Run("relu", impl.relu)
	t.Run("non-finite", impl.nonFinite)
	t.Run("no images", impl.empty)
}

var algorithms = []kernel.Algorithm{kernel.Winograd2, kernel.Winograd4}

func square(size, c, out, k, pad int) kernel.Conv {
	return kernel.Conv{H: size, W: size, C: c, OutC: out, KH: k, KW: k, StrideH: 1, StrideW: 1, PadH: pad, PadW: pad}
}

func (impl Winograd) fits(t *testing.T) {
	for _, k := range []int{3, 5} {
		for pad := range k {
			for _, alg := range algorithms {
				if !impl.Fits(square(9, 4, 4, k, pad), alg) {
					t.Errorf("%v does not fit a kernel of %d, padding %d", alg, k, pad)
				}
			}
		}
	}
	stride, oblong := square(9, 4, 4, 3, 1), square(9, 4, 4, 3, 1)
	stride.StrideW, oblong.KW = 2, 5
	for what, g := range map[string]kernel.Conv{
		"stride 2": stride, "3 x 5": oblong, "1 x 1": square(9, 4, 4, 1, 0), "7 x 7": square(9, 4, 4, 7, 3), "padding 3": square(9, 4, 4, 3, 3),
	} {
		for _, alg := range algorithms {
			if impl.Fits(g, alg) {
				t.Errorf("%v fits %s", alg, what)
			}
		}
	}
	if impl.Fits(square(9, 4, 4, 3, 1), kernel.Direct) {
		t.Error("Direct is none of Winograd's")
	}
}

func (impl Winograd) shapes(t *testing.T) {
	seed := uint64(500)
	for _, k := range []int{3, 5} {
		for pad := range k {
			for _, c := range [][2]int{{1, 1}, {3, 5}, {16, 32}, {17, 33}, {47, 20}} {
				seed++
				g := square(6, c[0], c[1], k, pad)
				g.H += int(seed % 5)
				g.W += int(seed % 3)
				impl.verify(t, g, 2, seed)
			}
		}
	}
	for _, c := range []struct {
		n int
		g kernel.Conv
	}{
		{1, square(3, 2, 3, 3, 0)},   // one output
		{1, square(1, 2, 3, 3, 1)},   // one pixel
		{3, square(2, 70, 40, 3, 1)}, // maps smaller than a tile
		{1, square(5, 400, 9, 3, 1)}, // many channels, of the outputs' gradients below
		{1, square(4, 900, 3, 3, 1)},
		{1, square(4, 5, 910, 3, 1)},
		{3, square(7, 3, 410, 5, 2)},
		{2, square(3, 260, 250, 3, 1)}, // and of both
		{3, square(20, 10, 12, 3, 1)},  // more tiles than one product of the weight gradient
		{5, square(21, 33, 18, 5, 2)},
	} {
		if testing.Short() && c.g.C*c.g.OutC > 4000 {
			continue
		}
		seed++
		impl.verify(t, c.g, c.n, seed)
	}
}

// passes are the results of one algorithm beside the reference.
type passes struct {
	y, dx, dw []float32
	*reference
}

// all runs the three directions, dw added to what it holds.
func (impl Winograd) all(g kernel.Conv, alg kernel.Algorithm, n int, x, w, bias, dy, dw []float32) passes {
	p := passes{y: make([]float32, len(dy)), dx: make([]float32, len(x)), dw: dw}
	impl.Forward(g, alg, n, x, w, bias, false, p.y)
	impl.Input(g, alg, n, dy, w, p.dx)
	impl.Weights(g, alg, n, x, dy, p.dw)
	return p
}

// verify compares all three directions with float64 loops.
func (impl Winograd) verify(t *testing.T, g kernel.Conv, n int, seed uint64) {
	t.Helper()
	r := newRand(seed)
	oh, ow := g.Out()
	x, checkX := guardedRandom(r, n*g.H*g.W*g.C)
	w, checkW := guardedRandom(r, g.KH*g.KW*g.C*g.OutC)
	bias, checkBias := guardedRandom(r, g.OutC)
	dy, checkDY := guardedRandom(r, n*oh*ow*g.OutC)
	inputs := slices.Concat(x, w, bias, dy)
	ref := referenceOf(drawnConv{g, n, seed}, x, w, bias, dy)
	for _, alg := range algorithms {
		what := fmt.Sprintf("%v of %+v", alg, g)
		y, checkY := guarded(len(dy))
		dx, checkDX := guarded(len(x))
		dw, checkDW := guardedRandom(r, len(w))
		old := slices.Clone(dw)
		fill(y, nan)
		fill(dx, nan)
		impl.Forward(g, alg, n, x, w, bias, false, y)
		impl.Input(g, alg, n, dy, w, dx)
		impl.Weights(g, alg, n, x, dy, dw)
		sameBits(t, slices.Concat(x, w, bias, dy), inputs, "inputs")
		for _, check := range []func(*testing.T, string){checkX, checkW, checkBias, checkDY, checkY, checkDX, checkDW} {
			check(t, what)
		}
		want := slices.Clone(ref.dw)
		for i, v := range old {
			want[i] += float64(v)
		}
		// Against the largest sum of magnitudes: few terms say little of a tile.
		for _, c := range []struct {
			name       string
			got        []float32
			want, size []float64
		}{{"y", y, ref.y, ref.ySize}, {"dx", dx, ref.dx, ref.dxSize}, {"dw", dw, want, ref.dwSize}} {
			limit := float64(8*g.KH*g.KH) * eps * (slices.Max(c.size) + 4)
			for i, v := range c.got {
				if !(math.Abs(float64(v)-c.want[i]) <= limit) {
					t.Fatalf("%s: %s[%d] is %g, want %g", what, c.name, i, v, c.want[i])
				}
			}
		}
	}
}

func fill(x []float32, v float32) {
	for i := range x {
		x[i] = v
	}
}

// spread is the root mean square of errors and the largest of them.
type spread struct{ rms, most float64 }

func spreadOf(got []float32, want, size []float64) (s spread) {
	for i, v := range got {
		e := math.Abs(float64(v)-want[i]) / size[i] / eps
		s.rms += e * e / float64(len(got))
		s.most = max(s.most, e)
	}
	s.rms = math.Sqrt(s.rms)
	return s
}

// errors checks what the documentation of Winograd's algorithms states: errors
// over the sum of the magnitudes of the terms, in units of 2⁻²⁴, for normal
// inputs and for normal inputs after ReLU; with half as much again for the root
// mean square and twice as much for the largest.
func (impl Winograd) errors(t *testing.T) {
	for _, c := range []struct {
		k               int
		alg             kernel.Algorithm
		images, weights spread
	}{
		{3, kernel.Winograd2, spread{0.4, 2.6}, spread{0.6, 4.2}},
		{3, kernel.Winograd4, spread{1.3, 17}, spread{1.3, 11}},
		{5, kernel.Winograd2, spread{0.9, 7.3}, spread{2.2, 27}},
		{5, kernel.Winograd4, spread{3, 43}, spread{5.3, 65}},
	} {
		for _, positive := range []bool{false, true} {
			r := newRand(uint64(c.k))
			const n = 1
			g := square(14, 48, 32, c.k, c.k/2)
			x, _ := guardedNormal(r, n*g.H*g.W*g.C)
			w, _ := guardedNormal(r, g.KH*g.KW*g.C*g.OutC)
			dy, _ := guardedNormal(r, n*g.H*g.W*g.OutC)
			if positive {
				for i := range x {
					x[i] = max(x[i], 0)
				}
			}
			p := impl.all(g, c.alg, n, x, w, nil, dy, make([]float32, len(w)))
			p.reference = newReference(g, n, x, w, nil, dy)
			for name, s := range map[string]struct{ got, limit spread }{
				"forward": {spreadOf(p.y, p.reference.y, p.ySize), c.images},
				"input":   {spreadOf(p.dx, p.reference.dx, p.dxSize), c.images},
				"weights": {spreadOf(p.dw, p.reference.dw, p.dwSize), c.weights},
			} {
				if !(s.got.rms <= 1.5*s.limit.rms && s.got.most <= 2*s.limit.most) {
					t.Errorf("%v %dx%d %s, positive %v: %+v, stated %+v", c.alg, c.k, c.k, name, positive, s.got, s.limit)
				}
			}
		}
	}
}
