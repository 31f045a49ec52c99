package kernel_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"tercet/internal/engine/kernel"
)

// reference is a convolution and its gradients by seven loops in float64, each
// with the sum of the magnitudes of its terms, which bounds the rounding error.
type reference struct {
	y, dx, dw, db            []float64
	ySize, dxSize, dwSize    []float64
	yTerms, dxTerms, dwTerms int
	dbSize                   []float64
}

// references are those of shapes whose operands are drawn from a seed: every level of a
// processor is compared with the same.
var references sync.Map

type drawnConv struct {
	g    kernel.Conv
	n    int
	seed uint64
}

func referenceOf(c drawnConv, x, w, bias, dy []float32) *reference {
	if r, ok := references.Load(c); ok {
		return r.(*reference)
	}
	r := newReference(c.g, c.n, x, w, bias, dy)
	references.Store(c, r)
	return r
}

func newReference(g kernel.Conv, n int, x, w, bias, dy []float32) *reference {
	oh, ow := g.Out()
	f := func(n int) []float64 { return make([]float64, n) }
	r := &reference{
		y: f(len(dy)), ySize: f(len(dy)), dx: f(len(x)), dxSize: f(len(x)),
		dw: f(len(w)), dwSize: f(len(w)), db: f(g.OutC), dbSize: f(g.OutC),
		yTerms: g.KH*g.KW*g.C + 1, dxTerms: g.KH * g.KW * g.OutC, dwTerms: n * oh * ow,
	}
	for i := range n {
		for oy := range oh {
			for ox := range ow {
				out := ((i*oh+oy)*ow + ox) * g.OutC
				for o := range g.OutC {
					if bias != nil {
						r.y[out+o] = float64(bias[o])
						r.ySize[out+o] = math.Abs(r.y[out+o])
					}
					r.db[o] += float64(dy[out+o])
					r.dbSize[o] += math.Abs(float64(dy[out+o]))
				}
				for ky := range g.KH {
					for kx := range g.KW {
						yy, xx := oy*g.StrideH-g.PadH+ky, ox*g.StrideW-g.PadW+kx
						if yy < 0 || yy >= g.H || xx < 0 || xx >= g.W {
							continue
						}
						for c := range g.C {
							in := ((i*g.H+yy)*g.W+xx)*g.C + c
							wt := ((ky*g.KW+kx)*g.C + c) * g.OutC
							for o := range g.OutC {
								xv, wv, dv := float64(x[in]), float64(w[wt+o]), float64(dy[out+o])
								r.y[out+o] += xv * wv
								r.ySize[out+o] += math.Abs(xv * wv)
								r.dx[in] += dv * wv
								r.dxSize[in] += math.Abs(dv * wv)
								r.dw[wt+o] += xv * dv
								r.dwSize[wt+o] += math.Abs(xv * dv)
							}
						}
					}
				}
			}
		}
	}
	return r
}

// verifyConv compares all three directions with the reference.
func (impl Implementation) verifyConv(t *testing.T, g kernel.Conv, n int, seed uint64) {
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
	db, checkDB := guardedRandom(r, g.OutC)
	dw0, db0 := slices.Clone(dw), slices.Clone(db)
	for i := range dx {
		dx[i] = nan
	}
	for i := range y {
		y[i] = nan
	}
	inputs := slices.Concat(x, w, bias, dy)
	impl.ConvForward(g, n, x, w, bias, y)
	impl.ConvBackwardInput(g, n, dy, w, dx)
	impl.ConvBackwardWeights(g, n, x, dy, dw, db)
	sameBits(t, slices.Concat(x, w, bias, dy), inputs, "inputs")
	for _, check := range []func(*testing.T, string){checkX, checkW, checkBias, checkDY, checkY, checkDX, checkDW, checkDB} {
		check(t, fmt.Sprintf("%+v", g))
	}
	ref := referenceOf(drawnConv{g, n, seed}, x, w, bias, dy)
	for i, v := range y {
		near(t, v, ref.y[i], ref.ySize[i], ref.yTerms, "%+v: y[%d]", g, i)
	}
	for i, v := range dx {
		near(t, v, ref.dx[i], ref.dxSize[i], ref.dxTerms, "%+v: dx[%d]", g, i)
	}
	for i, v := range dw {
		old := float64(dw0[i])
		near(t, v, ref.dw[i]+old, ref.dwSize[i]+math.Abs(old), ref.dwTerms, "%+v: dw[%d]", g, i)
	}
	for i, v := range db {
		old := float64(db0[i])
		near(t, v, ref.db[i]+old, ref.dbSize[i]+math.Abs(old), ref.dwTerms, "%+v: db[%d]", g, i)
	}
}

func (impl Implementation) convShapes(t *testing.T) {
	seed := uint64(100)
	outs := []int{1, 4, 17, 33}
	for _, kernelSize := range []int{1, 3, 5, 7} {
		for stride := 1; stride <= 3; stride++ {
			for pad := range 4 {
				for _, channels := range []int{1, 3, 5, 47} {
					seed++
					g := kernel.Conv{
						H: 7 + int(seed%3), W: 8 - int(seed%2), C: channels, OutC: outs[seed%4], KH: kernelSize, KW: kernelSize,
						StrideH: stride, StrideW: stride, PadH: pad, PadW: pad,
					}
					impl.verifyConv(t, g, 2, seed)
				}
			}
		}
	}
	for _, c := range []struct {
		n int
		g kernel.Conv
	}{
		{1, kernel.Conv{H: 5, W: 9, C: 3, OutC: 8, KH: 3, KW: 1, StrideH: 2, StrideW: 1, PadH: 0, PadW: 2}},
		{3, kernel.Conv{H: 9, W: 4, C: 8, OutC: 16, KH: 1, KW: 4, StrideH: 1, StrideW: 3, PadH: 2, PadW: 1}},
		{1, kernel.Conv{H: 1, W: 1, C: 1, OutC: 1, KH: 1, KW: 1, StrideH: 1, StrideW: 1}},
		{2, kernel.Conv{H: 3, W: 3, C: 2, OutC: 2, KH: 7, KW: 7, StrideH: 1, StrideW: 1, PadH: 3, PadW: 3}},
		// One large image: bands of the input gradient, groups of the weights'.
		{1, kernel.Conv{H: 61, W: 23, C: 3, OutC: 20, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1}},
		{1, kernel.Conv{H: 70, W: 20, C: 2, OutC: 6, KH: 5, KW: 3, StrideH: 1, StrideW: 1, PadH: 2, PadW: 1}},
		{3, kernel.Conv{H: 28, W: 28, C: 1, OutC: 32, KH: 5, KW: 5, StrideH: 1, StrideW: 1, PadH: 2, PadW: 2}},
		// Pointwise over more channels than one run of the sum.
		{2, kernel.Conv{H: 5, W: 6, C: 400, OutC: 33, KH: 1, KW: 1, StrideH: 1, StrideW: 1}},
		{2, kernel.Conv{H: 4, W: 4, C: 48, OutC: 390, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1}},
		// The sum in several passes over the kernel's rows, by images and by pixels.
		{8, kernel.Conv{H: 2, W: 2, C: 700, OutC: 33, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
		{1, kernel.Conv{H: 3, W: 2, C: 35, OutC: 700, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
		// Rows as long as two tiles and a bit, and as wide as networks have them.
		{1, kernel.Conv{H: 5, W: 29, C: 16, OutC: 47, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
		{9, kernel.Conv{H: 7, W: 7, C: 17, OutC: 94, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
		{1, kernel.Conv{H: 14, W: 14, C: 94, OutC: 16, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
		{15, kernel.Conv{H: 4, W: 4, C: 47, OutC: 33, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1}},
		{70, kernel.Conv{H: 2, W: 2, C: 256, OutC: 16, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}},
	} {
		seed++
		impl.verifyConv(t, c.g, c.n, seed)
	}
}

// convRandom draws geometries of every kind: rectangular kernels, larger than the
// image, more padding than the kernel, strides past the kernel, few and many
// images, and channel counts on both sides of each vector's width.
func (impl Implementation) convRandom(t *testing.T) {
	r := newRand(200)
	pick := func(from ...int) int { return from[r.IntN(len(from))] }
	for done := 0; done < 150; {
		g := kernel.Conv{
			H: 1 + r.IntN(16), W: 1 + r.IntN(16), C: pick(1, 2, 3, 7, 8, 9, 16, 17, 47, 94),
			OutC: pick(1, 3, 4, 16, 17, 31, 33, 47, 94), KH: 1 + r.IntN(7), KW: 1 + r.IntN(7),
			StrideH: 1 + r.IntN(3), StrideW: 1 + r.IntN(3),
		}
		g.PadH, g.PadW = r.IntN(g.KH+2), r.IntN(g.KW+2)
		n := pick(1, 2, 7, 8, 13, 15, 30)
		oh, ow := g.Out()
		if oh < 1 || ow < 1 || n*oh*ow*g.KH*g.KW*g.C*g.OutC > 400_000 {
			continue
		}
		done++
		impl.verifyConv(t, g, n, uint64(1000+done))
	}
}

// convBits: threads change no bit, and an image's output and input gradient do
// not depend on the other images of the batch.
func (impl Implementation) convBits(t *testing.T) {
	for _, g := range []kernel.Conv{
		{H: 28, W: 28, C: 1, OutC: 32, KH: 5, KW: 5, StrideH: 1, StrideW: 1, PadH: 2, PadW: 2},
		{H: 12, W: 12, C: 24, OutC: 40, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1},
		{H: 33, W: 13, C: 10, OutC: 17, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1},
		{H: 7, W: 7, C: 47, OutC: 94, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1},
		{H: 4, W: 5, C: 40, OutC: 300, KH: 3, KW: 5, StrideH: 2, StrideW: 1, PadH: 1, PadW: 2},
	} {
		const n = 17
		r := newRand(6)
		oh, ow := g.Out()
		x, _ := guardedRandom(r, n*g.H*g.W*g.C)
		w, _ := guardedRandom(r, g.KH*g.KW*g.C*g.OutC)
		bias, _ := guardedRandom(r, g.OutC)
		dy, _ := guardedRandom(r, n*oh*ow*g.OutC)
		all := func(n int) (y, dx, dw, db []float32) {
			y, dx = make([]float32, n*oh*ow*g.OutC), make([]float32, n*g.H*g.W*g.C)
			dw, db = make([]float32, len(w)), make([]float32, g.OutC)
			impl.ConvForward(g, n, x[:len(dx)], w, bias, y)
			impl.ConvBackwardInput(g, n, dy[:len(y)], w, dx)
			impl.ConvBackwardWeights(g, n, x[:len(dx)], dy[:len(y)], dw, db)
			return y, dx, dw, db
		}
		var first []float32
		onThreads(func(threads int) {
			y, dx, dw, db := all(n)
			now := slices.Concat(y, dx, dw, db)
			if first == nil {
				first = now
			}
			sameBits(t, now, first, fmt.Sprintf("%+v, %d threads", g, threads))
		})
		y, dx, _, _ := all(n)
		y1, dx1, _, _ := all(1)
		sameBits(t, y1, y[:len(y1)], fmt.Sprintf("%+v: first image alone, y", g))
		sameBits(t, dx1, dx[:len(dx1)], fmt.Sprintf("%+v: first image alone, dx", g))
	}
}

func (impl Implementation) convNilBias(t *testing.T) {
	g := kernel.Conv{H: 5, W: 5, C: 2, OutC: 3, KH: 3, KW: 3, StrideH: 1, StrideW: 1}
	r := newRand(7)
	x, _ := guardedRandom(r, g.H*g.W*g.C)
	w, _ := guardedRandom(r, g.KH*g.KW*g.C*g.OutC)
	dy, _ := guardedRandom(r, 3*3*g.OutC)
	y, dw := make([]float32, len(dy)), make([]float32, len(w))
	impl.ConvForward(g, 1, x, w, nil, y)
	impl.ConvBackwardWeights(g, 1, x, dy, dw, nil)
	ref := newReference(g, 1, x, w, nil, dy)
	for i, v := range y {
		near(t, v, ref.y[i], ref.ySize[i], ref.yTerms, "y[%d]", i)
	}
	for i, v := range dw {
		near(t, v, ref.dw[i], ref.dwSize[i], ref.dwTerms, "dw[%d]", i)
	}
	impl.ConvForward(g, 0, nil, w, nil, nil)
	impl.ConvBackwardInput(g, 0, nil, w, nil)
	before := slices.Clone(dw)
	impl.ConvBackwardWeights(g, 0, nil, nil, dw, nil)
	sameBits(t, dw, before, "no images")
}

// convNonFinite tests the policy: a NaN in x or dy spoils exactly what sees it,
// zero weights or not, but for weights at taps that see padding there; one in w
// spoils its channel of all outputs that see the image there, and no other
// channel.
func (impl Implementation) convNonFinite(t *testing.T) {
	for _, g := range []kernel.Conv{
		{H: 6, W: 7, C: 2, OutC: 3, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1},
		{H: 6, W: 7, C: 9, OutC: 33, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1},
		{H: 17, W: 20, C: 17, OutC: 16, KH: 3, KW: 5, StrideH: 2, StrideW: 1, PadH: 1, PadW: 2},
	} {
		for _, n := range []int{1, 8} {
			impl.spoil(t, g, n)
		}
	}
}

func (impl Implementation) spoil(t *testing.T, g kernel.Conv, n int) {
	t.Helper()
	oh, ow := g.Out()
	x, w := make([]float32, n*g.H*g.W*g.C), make([]float32, g.KH*g.KW*g.C*g.OutC)
	y, dx, dw := make([]float32, n*oh*ow*g.OutC), make([]float32, len(x)), make([]float32, len(w))
	// tap returns the kernel position by which output (oy, ox) sees input (iy, ix).
	tap := func(oy, ox, iy, ix int) (ky, kx int, sees bool) {
		ky, kx = iy-oy*g.StrideH+g.PadH, ix-ox*g.StrideW+g.PadW
		return ky, kx, ky >= 0 && ky < g.KH && kx >= 0 && kx < g.KW
	}
	split := func(i, height, width, channels int) (image, iy, ix, c int) {
		p := i / channels
		return p / (height * width), p / width % height, p % width, i % channels
	}
	const iy, ix, oy, ox = 2, 3, 2, 1
	c, o, image := g.C-1, g.OutC/2, n-1

	x[((image*g.H+iy)*g.W+ix)*g.C+c] = nan
	impl.ConvForward(g, n, x, w, nil, y)
	for i, v := range y {
		im, py, px, _ := split(i, oh, ow, g.OutC)
		if _, _, sees := tap(py, px, iy, ix); (sees && im == image) != (v != v) {
			t.Fatalf("%+v of %d: NaN in x: y[%d] is %g", g, n, i, v)
		}
	}
	clear(y)
	impl.ConvBackwardWeights(g, n, x, y, dw, nil)
	for i, v := range dw {
		seen := false
		for py := range oh {
			for px := range ow {
				ky, kx, sees := tap(py, px, iy, ix)
				seen = seen || sees && i/g.OutC == (ky*g.KW+kx)*g.C+c
			}
		}
		if seen != (v != v) {
			t.Fatalf("%+v of %d: NaN in x: dw[%d] is %g", g, n, i, v)
		}
	}
	clear(x)
	clear(dw)

	y[((image*oh+oy)*ow+ox)*g.OutC+o] = nan
	impl.ConvBackwardInput(g, n, y, w, dx)
	for i, v := range dx {
		im, py, px, _ := split(i, g.H, g.W, g.C)
		if _, _, sees := tap(oy, ox, py, px); (sees && im == image) != (v != v) {
			t.Fatalf("%+v of %d: NaN in dy: dx[%d] is %g", g, n, i, v)
		}
	}
	impl.ConvBackwardWeights(g, n, x, y, dw, nil)
	for i, v := range dw {
		py, px := oy*g.StrideH-g.PadH+i/g.OutC/g.C/g.KW, ox*g.StrideW-g.PadW+i/g.OutC/g.C%g.KW
		inside := py >= 0 && py < g.H && px >= 0 && px < g.W
		if v != v && i%g.OutC != o || v == v && i%g.OutC == o && inside {
			t.Fatalf("%+v of %d: NaN in dy: dw[%d] is %g", g, n, i, v)
		}
	}

	w[o] = nan // upper left position, first input channel
	impl.ConvForward(g, n, x, w, nil, y)
	for i, v := range y {
		_, py, px, ch := split(i, oh, ow, g.OutC)
		inside := py*g.StrideH >= g.PadH && px*g.StrideW >= g.PadW
		if v != v && ch != o || v == v && ch == o && inside {
			t.Fatalf("%+v of %d: NaN in w: y[%d] is %g", g, n, i, v)
		}
	}
}
