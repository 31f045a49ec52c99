package kernel

import (
	"math"
	"testing"

	"tercet/internal/par"
	"tercet/internal/rng"
)

const guardBand = 7

// guarded returns n random numbers inside a larger slice of known content, and a
// check that nothing around them was touched.
func guarded(t *testing.T, r *rng.Stream, n int) ([]float32, func(what string)) {
	whole := make([]float32, n+2*guardBand)
	for i := range whole {
		whole[i] = 12345
	}
	x := whole[guardBand : guardBand+n : guardBand+n]
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x, func(what string) {
		t.Helper()
		for i := range guardBand {
			if whole[i] != 12345 || whole[n+guardBand+i] != 12345 {
				t.Fatalf("%s: wrote outside its slice", what)
			}
		}
	}
}

// closeTo compares with a float64 result.
func closeTo(t *testing.T, what string, got []float32, want []float64, tol float64) {
	t.Helper()
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= tol*(1+math.Abs(w))) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], w)
		}
	}
}

// onThreads runs f on 1 and 3 threads.
func onThreads(f func()) {
	defer par.SetThreads(0)
	for _, n := range []int{1, 3} {
		par.SetThreads(n)
		f()
	}
}

func TestReLUAndAdd(t *testing.T) {
	onThreads(func() {
		for _, n := range []int{0, 1, 5, 64, elems + 3} {
			r := rng.New(uint64(n), "relu")
			x, _ := guarded(t, r, n)
			y, check := guarded(t, r, n)
			dy, _ := guarded(t, r, n)
			dx, checkDX := guarded(t, r, n)
			out, checkOut := guarded(t, r, n)
			if n > 2 {
				x[0], x[1] = 0, float32(math.Copysign(0, -1))
			}
			ReLU(x, y)
			ReLUBackward(y, dy, dx)
			Add(x, dy, out)
			check("ReLU")
			checkDX("ReLUBackward")
			checkOut("Add")
			for i, v := range x {
				wantY, wantDX := float32(0), float32(0)
				if v > 0 {
					wantY, wantDX = v, dy[i]
				}
				if y[i] != wantY || dx[i] != wantDX || math.Signbit(float64(y[i])) || out[i] != v+dy[i] {
					t.Fatalf("x %v: y %v, dx %v, sum %v", v, y[i], dx[i], out[i])
				}
			}
		}
		inf, nan := float32(math.Inf(1)), float32(math.NaN())
		y := []float32{nan, -nan, inf, -inf}
		ReLU(y, y)
		if y[0] == y[0] || y[1] == y[1] || y[2] != inf || y[3] != 0 {
			t.Fatalf("ReLU gives %v", y)
		}
	})
}

func TestAddColumnSums(t *testing.T) {
	onThreads(func() {
		for _, rows := range []int{0, 1, 3, 50} {
			for _, cols := range []int{1, 15, 16, 17, 33, 100} {
				r := rng.New(uint64(rows*1000+cols), "bias")
				y, _ := guarded(t, r, rows*cols)
				sum, checkSum := guarded(t, r, cols)
				wantSum := make([]float64, cols)
				for c := range cols {
					wantSum[c] = float64(sum[c])
					for i := range rows {
						wantSum[c] += float64(y[i*cols+c])
					}
				}
				AddColumnSums(rows, cols, y, sum)
				checkSum("AddColumnSums")
				closeTo(t, "AddColumnSums", sum, wantSum, 1e-6)
			}
		}
	})
}

func TestL2Normalize(t *testing.T) {
	onThreads(func() {
		for _, n := range []int{0, 1, 5, 40} {
			for _, d := range []int{1, 3, 128, 513} {
				r := rng.New(uint64(n*1000+d), "l2")
				x, _ := guarded(t, r, n*d)
				y, check := guarded(t, r, n*d)
				norm, checkNorm := guarded(t, r, n)
				dy, _ := guarded(t, r, n*d)
				dx, checkDX := guarded(t, r, n*d)
				if n > 3 { // tiny and huge rows, whose squares leave float32
					for i := range d {
						x[i] *= 1e-25
						x[d+i] *= 1e25
						x[2*d+i] = 0
						x[3*d+i] = 1e-14 / float32(d)
					}
				}
				const eps = 1e-12
				L2Normalize(n, d, x, y, norm, eps)
				L2NormalizeBackward(n, d, y, norm, dy, dx, eps)
				check("L2Normalize")
				checkNorm("L2Normalize norms")
				checkDX("L2NormalizeBackward")
				for b := range n {
					var s, dot float64
					for i := b * d; i < (b+1)*d; i++ {
						s += float64(x[i]) * float64(x[i])
						dot += float64(x[i]) * float64(dy[i])
					}
					s = math.Sqrt(s)
					wantY, wantDX := make([]float64, d), make([]float64, d)
					for i := range d {
						v, g := float64(x[b*d+i]), float64(dy[b*d+i])
						if s > eps { // d/dx of x/||x||, written out
							wantY[i], wantDX[i] = v/s, (g-v*dot/(s*s))/s
						} else {
							wantY[i], wantDX[i] = v/eps, g/eps
						}
						// Cancellation for d = 1 leaves rounding of the size of g/norm.
						if diff := math.Abs(float64(dx[b*d+i]) - wantDX[i]); diff > 1e-5*(math.Abs(g)+math.Abs(dot/max(s, eps)))/max(s, eps) {
							t.Fatalf("n %d d %d: dx %v, want %v", n, d, dx[b*d+i], wantDX[i])
						}
					}
					closeTo(t, "L2Normalize", y[b*d:(b+1)*d], wantY, 1e-6)
				}
			}
		}
	})
}

func TestBatchNormKernels(t *testing.T) {
	onThreads(func() {
		for _, rows := range []int{1, 2, 37} {
			for _, cols := range []int{1, 16, 17, 50} {
				r := rng.New(uint64(rows*1000+cols), "bn")
				x, _ := guarded(t, r, rows*cols)
				for i := range x {
					x[i] += 100 // a mean far from zero: one-pass variances would suffer
				}
				dy, _ := guarded(t, r, rows*cols)
				shift, _ := guarded(t, r, cols)
				y, check := guarded(t, r, rows*cols)
				dx, checkDX := guarded(t, r, rows*cols)
				wide := func() []float64 { return make([]float64, cols) }
				mean, vari, a, b, scale := wide(), wide(), wide(), wide(), wide()
				ColumnMoments(rows, cols, x, mean, vari)
				NormalizeSums(rows, cols, x, dy, nil, mean, a, b)
				for c := range cols {
					var m, v, sa, sb float64
					for i := c; i < len(x); i += cols {
						m += float64(x[i]) / float64(rows)
					}
					for i := c; i < len(x); i += cols {
						d := float64(x[i]) - m
						v += d * d / float64(rows)
						sa += float64(dy[i])
						sb += float64(dy[i]) * d
					}
					for what, p := range map[string][2]float64{"mean": {mean[c], m}, "variance": {vari[c], v}, "sum": {a[c], sa}, "product sum": {b[c], sb}} {
						if math.Abs(p[0]-p[1]) > 1e-9*(1+math.Abs(p[1])) {
							t.Fatalf("%d x %d: %s of column %d is %v, want %v", rows, cols, what, c, p[0], p[1])
						}
					}
					scale[c] = r.NormFloat64()
				}
				want, wantDX, plain, scaled := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
				for i := range x {
					c := i % cols
					d := float64(x[i]) - mean[c]
					plain[i] = d * scale[c]
					want[i] = plain[i] + float64(shift[c])
					scaled[i] = float64(dy[i]) * scale[c]
					wantDX[i] = scaled[i] - a[c] - b[c]*d
				}
				Normalize(rows, cols, x, mean, scale, shift, nil, false, y)
				closeTo(t, "Normalize", y, want, 1e-6)
				Normalize(rows, cols, x, mean, scale, nil, nil, false, y)
				closeTo(t, "Normalize without shift", y, plain, 1e-6)
				NormalizeBackward(rows, cols, x, dy, nil, mean, scale, a, b, dx)
				closeTo(t, "NormalizeBackward", dx, wantDX, 1e-6)
				NormalizeBackward(rows, cols, nil, dy, nil, nil, scale, nil, nil, dx)
				closeTo(t, "NormalizeBackward of constants", dx, scaled, 1e-6)
				check("Normalize")
				checkDX("NormalizeBackward")
			}
		}
	})
}

func TestPool(t *testing.T) {
	onThreads(func() {
		for k, p := range []Pool{
			{H: 4, W: 6, C: 3, KH: 2, KW: 2, StrideH: 2, StrideW: 2},
			{H: 5, W: 7, C: 17, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1},
			{H: 5, W: 5, C: 1, KH: 2, KW: 3, StrideH: 1, StrideW: 2},
			{H: 4, W: 4, C: 2, KH: 4, KW: 4, StrideH: 1, StrideW: 1},
			{H: 7, W: 7, C: 5, KH: 2, KW: 2, StrideH: 3, StrideW: 3}, // some pixels in no window
			{H: 1, W: 1, C: 4, KH: 1, KW: 1, StrideH: 1, StrideW: 1},
			{H: 16, W: 16, C: 8, KH: 2, KW: 2, StrideH: 2, StrideW: 2},
		} {
			for _, n := range []int{0, 1, 5} {
				testPool(t, p, n, rng.New(uint64(k), "pool"))
			}
		}
	})
}

func testPool(t *testing.T, p Pool, n int, r *rng.Stream) {
	oh, ow := p.Out()
	in, out := p.H*p.W*p.C, oh*ow*p.C
	x, _ := guarded(t, r, n*in)
	dy, _ := guarded(t, r, n*out)
	y, check := guarded(t, r, n*out)
	dx, checkDX := guarded(t, r, n*in)
	for i := range x { // few values: many ties
		x[i] = float32(math.Round(float64(x[i])))
	}
	arg := make([]int32, n*out)
	wantY, wantAvg := make([]float64, n*out), make([]float64, n*out)
	wantDX, wantAvgDX := make([]float64, n*in), make([]float64, n*in)
	for o := range n * out {
		b, oy, ox, c := o/out, o/(ow*p.C)%oh, o/p.C%ow, o%p.C
		best, won := math.Inf(-1), -1
		for ky := range p.KH {
			for kx := range p.KW {
				iy, ix := oy*p.StrideH-p.PadH+ky, ox*p.StrideW-p.PadW+kx
				if iy < 0 || iy >= p.H || ix < 0 || ix >= p.W {
					continue
				}
				i := b*in + (iy*p.W+ix)*p.C + c
				if v := float64(x[i]); v > best {
					best, won = v, i
				}
				wantAvg[o] += float64(x[i]) / float64(p.KH*p.KW)
				wantAvgDX[i] += float64(dy[o]) / float64(p.KH*p.KW)
			}
		}
		wantY[o] = best
		wantDX[won] += float64(dy[o])
	}
	p.MaxForward(n, x, y, arg)
	closeTo(t, "MaxForward", y, wantY, 0)
	p.MaxBackward(n, dy, nil, arg, dx)
	closeTo(t, "MaxBackward", dx, wantDX, 1e-6)
	p.AvgForward(n, x, y)
	closeTo(t, "AvgForward", y, wantAvg, 1e-6)
	p.AvgBackward(n, dy, dx)
	closeTo(t, "AvgBackward", dx, wantAvgDX, 1e-6)
	check("pool")
	checkDX("pool backward")
}

func TestElementwiseAllocateNothing(t *testing.T) {
	defer par.SetThreads(0)
	par.SetThreads(1)
	const rows, cols = 64, 48
	p := Pool{H: 8, W: 8, C: cols, KH: 2, KW: 2, StrideH: 2, StrideW: 2}
	x, y, dy, norm := make([]float32, rows*cols), make([]float32, rows*cols), make([]float32, rows*cols), make([]float32, rows)
	arg := make([]int32, rows*cols)
	m, v := make([]float64, cols), make([]float64, cols)
	run := func() {
		ReLU(x, y)
		ReLUBackward(y, dy, x)
		Add(x, y, dy)
		AddColumnSums(rows, cols, y, x)
		L2Normalize(rows, cols, x, y, norm, 1e-12)
		L2NormalizeBackward(rows, cols, y, norm, dy, x, 1e-12)
		ColumnMoments(rows, cols, x, m, v)
		Normalize(rows, cols, x, m, v, y, nil, false, y)
		NormalizeSums(rows, cols, x, y, nil, m, m, v)
		NormalizeBackward(rows, cols, x, dy, nil, m, v, m, v, y)
		p.MaxForward(1, x, y, arg)
		p.MaxBackward(1, dy, nil, arg, x)
		p.AvgForward(1, x, y)
		p.AvgBackward(1, dy, x)
		AddReLU(x, y, dy)
		Axpy(0.5, x, y)
		Scale(0.5, y)
		Exp(x, y)
		Log(x, y)
		SignStep(x, y, dy, 0.01, 0.1, 0, 1)
		Normalize(rows, cols, x, m, v, nil, dy, true, y)
		NormalizeSums(rows, cols, x, y, dy, m, m, v)
		NormalizeBackward(rows, cols, nil, dy, x, nil, m, nil, nil, y)
		NormalizeReLUSums(rows, cols, x, y, m, m, dy, m, v)
		NormalizeReLUBackward(rows, cols, x, dy, m, v, y, m, v, y)
		p.MaxBackward(1, dy, y, arg, x)
		p.NormalizeMaxForward(1, x, m, v, dy, true, y, arg, dy)
		p.NormalizeMaxBackward(1, x, dy, y, arg, m, v, m, v, y)
		AdamStep(&AdamFactors{Eps: 1}, x, y, dy, dy)
		SGDStep(&SGDFactors{}, x, y, dy, true)
		AllFinite(x)
		Dot(x, y)
	}
	run()
	if n := testing.AllocsPerRun(5, run); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkElementwise(b *testing.B) {
	const n, c = 128, 32 // c2f2's first block, batch of 128
	p := Pool{H: 28, W: 28, C: c, KH: 2, KW: 2, StrideH: 2, StrideW: 2}
	size := n * 28 * 28 * c
	x, y, dy := make([]float32, size), make([]float32, size), make([]float32, size)
	arg := make([]int32, size/4)
	r := rng.New(1, "bench")
	for i := range x {
		x[i], dy[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
	}
	m, v := make([]float64, c), make([]float64, c)
	p.MaxForward(n, x, y, arg)
	for _, k := range []struct {
		name string
		run  func()
	}{
		{"ReLU", func() { ReLU(x, y) }},
		{"ReLUBackward", func() { ReLUBackward(y, dy, y) }},
		{"Add", func() { Add(x, dy, y) }},
		{"ColumnSums", func() { AddColumnSums(n*28*28, c, dy, y[:c]) }},
		{"MaxForward", func() { p.MaxForward(n, x, y, arg) }},
		{"MaxBackward", func() { p.MaxBackward(n, dy, nil, arg, y) }},
		{"AvgForward", func() { p.AvgForward(n, x, y) }},
		{"Moments", func() { ColumnMoments(n*28*28, c, x, m, v) }},
		{"Normalize", func() { Normalize(n*28*28, c, x, m, v, dy, nil, false, y) }},
		{"NormalizeSums", func() { NormalizeSums(n*28*28, c, x, dy, nil, m, m, v) }},
		{"NormalizeBackward", func() { NormalizeBackward(n*28*28, c, x, dy, nil, m, v, m, v, y) }},
	} {
		b.Run(k.name, func(b *testing.B) {
			b.SetBytes(int64(size) * 4)
			for b.Loop() {
				k.run()
			}
		})
	}
}
