package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tercet/internal/engine/kernel"
)

func poolShapes() []kernel.Pool {
	var all []kernel.Pool
	for _, p := range []kernel.Pool{
		{H: 4, W: 6, KH: 2, KW: 2, StrideH: 2, StrideW: 2},
		{H: 5, W: 7, KH: 2, KW: 2, StrideH: 2, StrideW: 2},                     // a row and a column in no window
		{H: 5, W: 7, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1},   // overlapping, padded
		{H: 7, W: 7, KH: 2, KW: 2, StrideH: 3, StrideW: 3},                     // gaps
		{H: 5, W: 5, KH: 2, KW: 3, StrideH: 1, StrideW: 2},                     // not square
		{H: 6, W: 9, KH: 3, KW: 3, StrideH: 3, StrideW: 3},                     // not overlapping
		{H: 6, W: 8, KH: 2, KW: 2, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1},   // padded on all sides
		{H: 4, W: 4, KH: 4, KW: 4, StrideH: 1, StrideW: 1},                     // one window
		{H: 8, W: 8, KH: 8, KW: 8, StrideH: 8, StrideW: 8},                     // one window
		{H: 3, W: 4, KH: 1, KW: 1, StrideH: 1, StrideW: 1},                     // each pixel
		{H: 1, W: 9, KH: 1, KW: 2, StrideH: 1, StrideW: 2},                     // one row
		{H: 4, W: 5, KH: 4, KW: 2, StrideH: 2, StrideW: 1, PadH: 2, PadW: 1},   // reduced at every border
		{H: 2, W: 2, KH: 2, KW: 2, StrideH: 2, StrideW: 2, PadH: 0, PadW: 0},   // the smallest
		{H: 10, W: 3, KH: 2, KW: 3, StrideH: 2, StrideW: 3, PadH: 0, PadW: 0},  // a window per row
		{H: 9, W: 12, KH: 3, KW: 2, StrideH: 3, StrideW: 2, PadH: 0, PadW: 0},  // not square, not overlapping
		{H: 12, W: 12, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}, // the same size
	} {
		for _, c := range []int{1, 3, 8, 15, 16, 17, 33, 47, 64} {
			p.C = c
			all = append(all, p)
		}
	}
	return all
}

// pooled is what pooling of n images must give, by plain loops.
type pooled struct {
	y, avg             []float32
	arg                []int32
	dx, maskedDX, avg2 []float64
}

func pooling(p kernel.Pool, n int, x, dy, mask []float32) pooled {
	oh, ow := p.Out()
	in, out := p.H*p.W*p.C, oh*ow*p.C
	w := pooled{make([]float32, n*out), make([]float32, n*out), make([]int32, n*out), make([]float64, n*in), make([]float64, n*in), make([]float64, n*in)}
	for o := range n * out {
		b, oy, ox, c := o/out, o/(ow*p.C)%oh, o/p.C%ow, o%p.C
		best, won, sum := float32(0), -1, float32(0)
		for ky := range p.KH {
			for kx := range p.KW {
				iy, ix := oy*p.StrideH-p.PadH+ky, ox*p.StrideW-p.PadW+kx
				if iy < 0 || iy >= p.H || ix < 0 || ix >= p.W {
					continue
				}
				i := (iy*p.W+ix)*p.C + c
				v := x[b*in+i]
				if won < 0 || v > best || v != v && best == best {
					best, won = v, i
				}
				sum += v
				w.avg2[b*in+i] += float64(dy[o]) / float64(p.KH*p.KW)
			}
		}
		w.y[o], w.arg[o], w.avg[o] = best, int32(won), sum*(1/float32(p.KH*p.KW))
		w.dx[b*in+won] += float64(dy[o])
		if mask[o] > 0 {
			w.maskedDX[b*in+won] += float64(dy[o])
		}
	}
	return w
}

func poolData(r *rand.Rand, p kernel.Pool, n int) (x, dy, mask []float32) {
	oh, ow := p.Out()
	x, _ = buffer(r, n*p.H*p.W*p.C)
	dy, _ = buffer(r, n*oh*ow*p.C)
	mask, _ = buffer(r, n*oh*ow*p.C)
	for i := range x { // few values: many ties
		x[i] = float32(math.Round(float64(x[i])))
	}
	return x, dy, mask
}

func pools(t *testing.T) {
	r := newRand(18)
	for _, p := range poolShapes() {
		for _, n := range []int{0, 1, 3} {
			x, dy, mask := poolData(r, p, n)
			spice(r, mask)
			if n == 3 {
				spice(r, x)
			}
			y, check := buffer(r, len(dy))
			dx, checkDX := buffer(r, len(x))
			arg := make([]int32, len(dy)+2)
			arg[len(dy)], arg[len(dy)+1] = 77, 77
			w := pooling(p, n, x, dy, mask)
			gradient := func(what string, want []float64) {
				t.Helper()
				checkDX(t, what)
				for i, v := range dx {
					near(t, v, want[i], 1+math.Abs(want[i]), p.KH*p.KW, "%s %+v at %d", what, p, i)
				}
			}
			p.MaxForward(n, x, y, arg[:len(dy):len(dy)])
			exactly(t, y, w.y, "MaxForward %+v", p)
			for i, a := range w.arg {
				if arg[i] != a {
					t.Fatalf("%+v: winner of %d is %d, want %d", p, i, arg[i], a)
				}
			}
			if arg[len(dy)] != 77 || arg[len(dy)+1] != 77 {
				t.Fatalf("%+v: wrote behind the winners", p)
			}
			p.MaxBackward(n, dy, nil, arg, dx)
			gradient("MaxBackward", w.dx)
			p.MaxBackward(n, dy, mask, arg, dx)
			gradient("MaxBackward with a mask", w.maskedDX)
			p.AvgForward(n, x, y)
			exactly(t, y, w.avg, "AvgForward %+v", p)
			p.AvgBackward(n, dy, dx)
			gradient("AvgBackward", w.avg2)
			check(t, "pool")
		}
	}
}

// All levels and any number of threads give the same bits.
func poolBits(t *testing.T) {
	r := newRand(19)
	for _, p := range []kernel.Pool{
		{H: 28, W: 28, C: 47, KH: 2, KW: 2, StrideH: 2, StrideW: 2},
		{H: 30, W: 31, C: 16, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1},
	} {
		const n = 5
		x, dy, mask := poolData(r, p, n)
		arg := make([]int32, len(dy))
		var first [4][]float32
		all := func(int) {
			now := [4][]float32{make([]float32, len(dy)), make([]float32, len(x)), make([]float32, len(dy)), make([]float32, len(x))}
			p.MaxForward(n, x, now[0], arg)
			p.MaxBackward(n, dy, mask, arg, now[1])
			p.AvgForward(n, x, now[2])
			p.AvgBackward(n, dy, now[3])
			if first[0] == nil {
				first = now
			}
			for k := range now {
				sameBits(t, now[k], first[k], "pool")
			}
		}
		onThreads(all)
		plain(t, func() { all(0) })
	}
}

// normalizePools: batch norm and pooling at once are one after the other.
func normalizePools(t *testing.T) {
	r := newRand(27)
	for _, p := range poolShapes() {
		const n = 3
		x, dy, _ := poolData(r, p, n)
		k := newTable(r, 2, p.C)
		for i := range x {
			x[i] += float32(k.mean[i%p.C])
		}
		spice(r, x[:len(x)/3])
		for _, relu := range []bool{false, true} {
			between, wantY, wantArg := make([]float32, len(x)), make([]float32, len(dy)), make([]int32, len(dy))
			kernel.Normalize(n*p.H*p.W, p.C, x, k.mean, k.scale, k.shift, nil, relu, between)
			p.MaxForward(n, between, wantY, wantArg)
			y, checkY := buffer(r, len(dy))
			won, checkWon := buffer(r, len(dy))
			arg := make([]int32, len(dy))
			p.NormalizeMaxForward(n, x, k.mean, k.scale, k.shift, relu, y, arg, won)
			checkY(t, "NormalizeMaxForward")
			checkWon(t, "NormalizeMaxForward")
			exactly(t, y, wantY, "NormalizeMaxForward %+v", p)
			in, out := p.H*p.W*p.C, len(dy)/n
			for i, a := range wantArg {
				if arg[i] != a || math.Float32bits(won[i]) != math.Float32bits(x[i/out*in+int(a)]) {
					t.Fatalf("%+v: winner of %d is %d (%g), want %d", p, i, arg[i], won[i], a)
				}
			}
			var mask []float32
			if relu {
				mask = y
			}
			dx, check := buffer(r, len(x))
			p.NormalizeMaxBackward(n, x, dy, mask, arg, k.mean, k.scale, k.a, k.b, dx)
			check(t, "NormalizeMaxBackward")
			p.MaxBackward(n, dy, mask, arg, between)
			kernel.NormalizeBackward(n*p.H*p.W, p.C, x, between, nil, k.mean, k.scale, k.a, k.b, between)
			for i, v := range between {
				if v != dx[i] && (v == v || dx[i] == dx[i]) {
					t.Fatalf("%+v relu %v: gradient %d is %g, want %g", p, relu, i, dx[i], v)
				}
			}
		}
	}
}
