//go:build native && linux && (amd64 || arm64)

package device

import (
	"fmt"
	"math"

	"tercet/internal/engine/kernel"
)

// pooling compares with the CPU's kernels, bit for bit where nothing is added.
func pooling(w *workbench) {
	for _, p := range []kernel.Pool{
		{H: 7, W: 5, C: 3, KH: 2, KW: 2, StrideH: 2, StrideW: 2}, {H: 9, W: 8, C: 5, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1},
		{H: 5, W: 7, C: 2, KH: 3, KW: 4, StrideH: 2, StrideW: 3}, {H: 4, W: 3, C: 70, KH: 4, KW: 3, StrideH: 1, StrideW: 1},
	} {
		for _, odd := range []bool{false, true} {
			const n = 3
			oh, ow := p.Out()
			nx, ny := n*p.H*p.W*p.C, n*oh*ow*p.C
			window := []any{p.H, p.W, p.C, oh, ow, p.KH, p.KW, p.StrideH, p.StrideW, p.PadH, p.PadW}
			x, dy := draw(nx, odd, "x"), draw(ny, false, "dy")
			for i := range x { // ties
				if x[i] == x[i] && !math.IsInf(float64(x[i]), 0) && math.Abs(float64(x[i])) < 100 {
					x[i] = float32(math.Round(float64(2*x[i]))) / 2
				}
			}
			y, arg := make([]float32, ny), make([]int32, ny)
			p.MaxForward(n, x, y, arg)
			by, ba := room(w, ny), put(w, make([]int32, ny))
			w.each("max_pool", ny, append(append([]any(nil), window...), put(w, x), by, ba)...)
			size := fmt.Sprintf("%dx%dx%d, %dx%d/%d", p.H, p.W, p.C, p.KH, p.KW, p.StrideH)
			w.exact("max_pool", size, get[float32](w, by, ny), y)
			want := make([]number, nx)
			for i, at := range get[int32](w, ba, ny) {
				if at != arg[i] {
					w.t.Fatalf("winner %d is %d, want %d", i, at, arg[i])
				}
				want[i/(oh*ow*p.C)*p.H*p.W*p.C+int(at)].add(float64(dy[i]))
			}
			bx := room(w, nx)
			w.each("max_pool_back", nx, append(append([]any(nil), window...), put(w, dy), ba, bx)...)
			w.same("max_pool_back", size, get[float32](w, bx, nx), want)
			meanPool(w, n, p.H*p.W, p.C, x)
		}
	}
}

func meanPool(w *workbench, n, pixels, c int, x []float32) {
	want, back := make([]number, n*c), make([]number, len(x))
	dy := draw(n*c, false, "dy")
	for i := range x {
		at := i/(pixels*c)*c + i%c
		want[at].add(float64(x[i]) / float64(pixels))
		back[i].add(float64(dy[at]) / float64(pixels))
	}
	y, dx := room(w, n*c), room(w, len(x))
	size := fmt.Sprintf("%dx%dx%d", n, pixels, c)
	w.each("mean_pool", n*c, pixels, c, put(w, x), y)
	w.same("mean_pool", size, get[float32](w, y, n*c), want)
	w.each("mean_pool_back", len(x), pixels, c, put(w, dy), dx)
	w.same("mean_pool_back", size, get[float32](w, dx, len(x)), back)
}

// frames are padding and the normalization of pixels.
func frames(w *workbench) {
	const n, h, wide, c, oh, ow, top, left = 2, 5, 3, 3, 8, 6, 1, 2
	x, dy := draw(n*h*wide*c, true, "x"), draw(n*oh*ow*c, true, "dy")
	y, dx := make([]float32, len(dy)), make([]float32, len(x))
	for b := range n {
		for i := range h {
			for j := range wide * c {
				in, out := (b*h+i)*wide*c+j, ((b*oh+i+top)*ow+left)*c+j
				y[out], dx[in] = x[in], dy[out]
			}
		}
	}
	by, bx := room(w, len(y)), room(w, len(x))
	frame := []any{h, wide, c, oh, ow, top, left}
	w.each("pad", len(y), append(append([]any(nil), frame...), put(w, x), by)...)
	w.exact("pad", "5x3 to 8x6", get[float32](w, by, len(y)), y)
	w.each("cut", len(x), append(append([]any(nil), frame...), put(w, dy), bx)...)
	w.exact("cut", "8x6 to 5x3", get[float32](w, bx, len(x)), dx)

	mean, std := []float32{0.485, 0.456, 0.406}, []float32{0.229, 0.224, 0.225}
	for reverse := range 2 {
		want, back := make([]number, len(x)), make([]number, len(x))
		for i, v := range x {
			ch := i % c
			to := i
			if reverse == 1 {
				to = i - ch + c - 1 - ch
			}
			k := to % c
			want[to].add(float64(v) / float64(std[k]))
			want[to].add(-float64(mean[k]) / float64(std[k]))
			back[i].add(float64(dy[to]) / float64(std[k]))
		}
		by, bx := room(w, len(x)), room(w, len(x))
		w.each("mean_std", len(x), c, reverse, put(w, mean), put(w, std), put(w, x), by)
		w.same("mean_std", "2x5x3x3", get[float32](w, by, len(x)), want)
		w.each("mean_std_back", len(x), c, reverse, put(w, std), put(w, dy[:len(x)]), bx)
		w.same("mean_std_back", "2x5x3x3", get[float32](w, bx, len(x)), back)
	}
}

// batchNorm compares all modes, of values and of gradients, with the formulas in float64.
func batchNorm(w *workbench) {
	const eps, momentum = 1e-5, 0.1
	for _, s := range [][2]int{{2, 1}, {70, 3}, {333, 65}, {129, 130}} {
		for _, odd := range []bool{false, true} {
			for _, running := range []int{0, 1} {
				rows, c := s[0], s[1]
				n := rows * c
				x, dy, weight, bias := shifted(draw(n, odd, "x"), 5), draw(n, false, "dy"), draw(c, false, "w"), draw(c, false, "b")
				runMean, runVar := draw(c, false, "m"), draw(c, false, "v")
				for i := range runVar {
					runVar[i] = runVar[i]*runVar[i] + 0.1
				}
				oldW, oldB := draw(c, false, "dw"), draw(c, false, "db")
				size := fmt.Sprintf("%dx%d", rows, c)
				bx, bdy, bw, bb, bm, bv := put(w, x), put(w, dy), put(w, weight), put(w, bias), put(w, runMean), put(w, runVar)
				factors := put(w, make([]float64, 4*c))
				kernelName := "running_factors"
				if running == 1 {
					w.each(kernelName, c, eps, bw, bb, bm, bv, factors)
				} else {
					kernelName = "batch_factors"
					part, blocks := w.columns("moments", rows, c, bx)
					w.each(kernelName, c, blocks, rows, bx, part, momentum, eps, bw, bb, bm, bv, factors)
				}
				mean, inv := make([]float64, c), make([]float64, c)
				wantM, wantV := make([]number, c), make([]number, c)
				for k := range c {
					mean[k], inv[k] = float64(runMean[k]), 1/math.Sqrt(float64(runVar[k])+eps)
					wantM[k].add(float64(runMean[k]))
					wantV[k].add(float64(runVar[k]))
					if running == 1 {
						continue
					}
					var m, v float64
					for r := range rows {
						m += float64(x[r*c+k]) / float64(rows)
					}
					for r := range rows {
						v += (float64(x[r*c+k]) - m) * (float64(x[r*c+k]) - m) / float64(rows)
					}
					mean[k], inv[k] = m, 1/math.Sqrt(v+eps)
					wantM[k] = number{0.9*float64(runMean[k]) + 0.1*m, math.Abs(float64(runMean[k])) + math.Abs(m)}
					unbiased := v * float64(rows) / float64(rows-1)
					wantV[k] = number{0.9*float64(runVar[k]) + 0.1*unbiased, float64(runVar[k]) + unbiased}
				}
				w.same(kernelName, size, get[float32](w, bm, c), wantM)
				w.same(kernelName, size, get[float32](w, bv, c), wantV)

				y := make([]number, n)
				sumA, sumB := make([]number, c), make([]number, c)
				for i := range y {
					k := i % c
					scale := inv[k] * float64(weight[k])
					y[i].add(float64(x[i]) * scale)
					y[i].add(-mean[k] * scale)
					y[i].add(float64(bias[k]))
					y[i].sum = positive(y[i].sum)
					sumA[k].add(float64(dy[i]))
					sumB[k].add(float64(dy[i]) * (float64(x[i]) - mean[k]) * inv[k])
				}
				by := room(w, n)
				w.each("batch_norm", n, c, bx, factors, 1, by)
				w.same("batch_norm", size, get[float32](w, by, n), y)

				part, blocks := w.columns("batch_norm_sums", rows, c, bdy, bx, factors)
				dw, db, slopes := put(w, oldW), put(w, oldB), put(w, make([]float64, 2*c))
				w.each("batch_norm_slopes", c, blocks, rows, running, part, factors, dw, db, slopes)
				wantW, wantB := make([]number, c), make([]number, c)
				for k := range c {
					wantW[k] = number{sumB[k].sum + float64(oldW[k]), sumB[k].magnitude + math.Abs(float64(oldW[k]))}
					wantB[k] = number{sumA[k].sum + float64(oldB[k]), sumA[k].magnitude + math.Abs(float64(oldB[k]))}
				}
				w.same("batch_norm_slopes", size, get[float32](w, dw, c), wantW)
				w.same("batch_norm_slopes", size, get[float32](w, db, c), wantB)

				dx := make([]number, n)
				for i := range dx {
					k := i % c
					scale := inv[k] * float64(weight[k])
					dx[i].add(float64(dy[i]) * scale)
					if running == 0 {
						dx[i].add(-sumA[k].sum / float64(rows) * scale)
						dx[i].add(-sumB[k].sum / float64(rows) * scale * (float64(x[i]) - mean[k]) * inv[k])
					}
				}
				bdx := room(w, n)
				w.each("batch_norm_back", n, c, running, bx, bdy, factors, slopes, bdx)
				w.same("batch_norm_back", size, get[float32](w, bdx, n), dx)

				sums, old := make([]number, c), put(w, oldB)
				for i, v := range x {
					sums[i%c].add(float64(v))
				}
				for k := range c {
					sums[k].add(float64(oldB[k]))
				}
				part, blocks = w.columns("column_sums", rows, c, bx)
				w.each("add_columns", c, blocks, part, old)
				w.same("add_columns", size, get[float32](w, old, c), sums)
			}
		}
	}
	for through, by := range map[string]string{"moments": "batch_factors", "batch_norm_sums": "batch_norm_slopes", "column_sums": "add_columns"} {
		w.errors[through], w.sizes[through] = w.errors[by], "with "+by
	}
}

// rowNorms are the normalizations of rows.
func rowNorms(w *workbench) {
	for _, s := range [][2]int{{1, 1}, {5, 64}, {7, 200}, {3, 513}} {
		for _, odd := range []bool{false, true} {
			n, d := s[0], s[1]
			x, dy := draw(n*d, odd, "x"), draw(n*d, false, "dy")
			if !odd && n > 2 {
				clear(x[d : 2*d]) // a row of zeros
			}
			size := fmt.Sprintf("%dx%d", n, d)
			y, dx := make([]number, n*d), make([]number, n*d)
			raw := []int32{int32(n - 1), int32(n)} // the last row stays
			for r := range n {
				length := 0.0
				for i := r * d; i < (r+1)*d; i++ {
					length += float64(x[i]) * float64(x[i])
				}
				length = math.Sqrt(length)
				if length < 1e-12 {
					length = 1e-12
				}
				dot := number{}
				for i := r * d; i < (r+1)*d; i++ {
					y[i].add(float64(x[i]) / length)
					dot.add(float64(x[i]) / length * float64(dy[i]))
				}
				for i := r * d; i < (r+1)*d; i++ {
					dx[i] = number{(float64(dy[i]) - y[i].sum*dot.sum) / length, (math.Abs(float64(dy[i])) + y[i].magnitude*dot.magnitude) / length}
					if length <= 1e-12 {
						dx[i] = number{float64(dy[i]) / 1e-12, math.Abs(float64(dy[i])) / 1e-12}
					}
					if r == n-1 {
						y[i], dx[i] = number{float64(x[i]), 0}, number{float64(dy[i]), 0}
					}
				}
			}
			bx, bdy, by, norm, bdx := put(w, x), put(w, dy), room(w, n*d), room(w, n), room(w, n*d)
			group := [3]int{64, 1, 1}
			w.launch("l2", [3]int{n, 1, 1}, group, d, 1e-12, 1, put(w, raw), bx, by, norm)
			w.same("l2", size, get[float32](w, by, n*d), y)
			if !odd {
				w.launch("l2_back", [3]int{n, 1, 1}, group, d, 1e-12, 1, put(w, raw), by, norm, bdy, bdx)
				w.same("l2_back", size, get[float32](w, bdx, n*d), dx)
			}
			layerNorm(w, n, d, x, dy, bx, bdy, size)
		}
	}
}

func layerNorm(w *workbench, n, d int, x, dy []float32, bx, bdy Buffer, size string) {
	const eps = 1e-5
	y, dx := make([]number, n*d), make([]number, n*d)
	for r := range n {
		var mean, vari float64
		for i := r * d; i < (r+1)*d; i++ {
			mean += float64(x[i]) / float64(d)
		}
		for i := r * d; i < (r+1)*d; i++ {
			vari += (float64(x[i]) - mean) * (float64(x[i]) - mean) / float64(d)
		}
		inv := 1 / math.Sqrt(vari+eps)
		var a, b number
		for i := r * d; i < (r+1)*d; i++ {
			y[i] = number{(float64(x[i]) - mean) * inv, (math.Abs(float64(x[i])) + math.Abs(mean)) * inv}
			a.add(float64(dy[i]) / float64(d))
			b.add(float64(dy[i]) * y[i].sum / float64(d))
		}
		for i := r * d; i < (r+1)*d; i++ {
			dx[i] = number{(float64(dy[i]) - a.sum - y[i].sum*b.sum) * inv, (math.Abs(float64(dy[i])) + a.magnitude + y[i].magnitude*b.magnitude) * inv}
		}
	}
	by, inv, bdx := room(w, n*d), room(w, n), room(w, n*d)
	group := [3]int{64, 1, 1}
	w.launch("layer_norm", [3]int{n, 1, 1}, group, d, eps, bx, by, inv)
	w.same("layer_norm", size, get[float32](w, by, n*d), y)
	w.launch("layer_norm_back", [3]int{n, 1, 1}, group, d, by, inv, bdy, bdx)
	w.same("layer_norm_back", size, get[float32](w, bdx, n*d), dx)
}

// elements compares bits with one line of Go for each kernel.
func elements(w *workbench) {
	for _, n := range []int{7, 255, 257, 5000} {
		x, z := draw(n, true, "x"), draw(n, true, "z")
		size := fmt.Sprint(n)
		check := func(name string, f func(i int) float32, launch func(to Buffer)) {
			want := make([]float32, n)
			for i := range want {
				want[i] = f(i)
			}
			to := put(w, x)
			launch(to)
			w.exact(name, size, get[float32](w, to, n), want)
		}
		bx, bz := put(w, x), put(w, z)
		relu := func(v float32) float32 {
			if v < 0 || v == 0 {
				return 0
			}
			return v
		}
		check("zero", func(int) float32 { return 0 }, func(to Buffer) { w.each("zero", n, to) })
		check("scale", func(i int) float32 { return x[i] * 0.3 }, func(to Buffer) { w.each("scale", n, float32(0.3), to) })
		check("clip", func(i int) float32 { return min(max(x[i], -0.5), 0.5) }, func(to Buffer) { w.each("clip", n, float32(0.5), to) })
		check("relu", func(i int) float32 { return relu(x[i]) }, func(to Buffer) { w.each("relu", n, bx, to) })
		check("add", func(i int) float32 { return x[i] + z[i] }, func(to Buffer) { w.each("add", n, bx, bz, 0, to) })
		check("add", func(i int) float32 { return relu(x[i] + z[i]) }, func(to Buffer) { w.each("add", n, bx, bz, 1, to) })
		check("relu_back", func(i int) float32 {
			if z[i] > 0 {
				return x[i]
			}
			return 0
		}, func(to Buffer) { w.each("relu_back", n, bz, bx, to) })
		for _, odd := range []bool{false, true} {
			v := draw(n, odd, "squares")
			groups := groupsOf(n, 2048)
			part := put(w, make([]float64, groups))
			w.launch("sum_squares", [3]int{groups, 1, 1}, [3]int{64, 1, 1}, n, put(w, v), part)
			got, want := 0.0, number{}
			for _, s := range get[float64](w, part, groups) {
				got += s
			}
			for _, a := range v {
				want.add(float64(a) * float64(a))
			}
			if !odd {
				w.same("sum_squares", size, []float32{float32(got)}, []number{want})
			} else if got == got {
				w.t.Fatalf("the sum of squares of %d numbers with NaN is %v", n, got)
			}
		}
	}
}

// optimizers compares bits with those of the CPU's kernels.
func optimizers(w *workbench) {
	for _, n := range []int{5, 1000} {
		size := fmt.Sprint(n)
		for _, l2 := range []float32{0, 0.01} {
			p, g, m, v := draw(n, false, "p"), draw(n, false, "g"), draw(n, false, "m"), draw(n, false, "v")
			for i := range v {
				v[i] *= v[i]
			}
			f := kernel.AdamFactors{Keep: 0.99, L2: l2, Beta1: 0.9, Rest1: 0.1, Beta2: 0.999, Rest2: 0.001, Size: 0.0123, Eps: 1e-8}
			bp, bm, bv := put(w, p), put(w, m), put(w, v)
			w.each("adam", n, f.Keep, f.L2, f.Beta1, f.Rest1, f.Beta2, f.Rest2, f.Size, f.Eps, bp, put(w, g), bm, bv)
			kernel.AdamStep(&f, p, g, m, v)
			w.exact("adam", size, get[float32](w, bp, n), p)
			w.exact("adam", size, get[float32](w, bm, n), m)
			w.exact("adam", size, get[float32](w, bv, n), v)
			for _, nesterov := range []int{0, 1} {
				s := kernel.SGDFactors{Keep: 0.99, L2: l2, Rate: 0.03, Momentum: 0.9}
				bp, bm := put(w, p), put(w, m)
				w.each("sgd", n, s.Keep, s.L2, s.Rate, s.Momentum, nesterov, bp, put(w, g), bm)
				kernel.SGDStep(&s, p, g, m, nesterov == 1)
				w.exact("sgd", size, get[float32](w, bp, n), p)
				w.exact("sgd", size, get[float32](w, bm, n), m)
			}
			s := kernel.SGDFactors{Keep: 1, L2: l2, Rate: 0.03}
			bp = put(w, p)
			w.each("sgd", n, s.Keep, s.L2, s.Rate, s.Momentum, 0, bp, put(w, g), nil)
			kernel.SGDStep(&s, p, g, nil, false)
			w.exact("sgd", size, get[float32](w, bp, n), p)
		}
	}
}

// crafting compares steps of images with the CPU's.
func crafting(w *workbench) {
	for _, d := range []int{3, 64, 300} {
		const n = 5
		x, g, clean := draw(n*d, false, "x"), draw(n*d, true, "g"), draw(n*d, false, "clean")
		for i := range clean {
			clean[i] = float32(math.Abs(math.Mod(float64(clean[i]), 1)))
			x[i] = clean[i] + 0.01*x[i]
		}
		x[1], clean[2] = float32(math.NaN()), float32(math.NaN())
		bx, bg := put(w, x), put(w, g)
		w.each("sign_step", n*d, float32(0.02), float32(0.03), float32(0), float32(1), bx, bg, put(w, clean))
		most := room(w, n)
		w.launch("row_extremes", [3]int{n, 1, 1}, [3]int{64, 1, 1}, d, bg, most)
		kernel.SignStep(x, g, clean, 0.02, 0.03, 0, 1)
		size := fmt.Sprintf("%dx%d", n, d)
		w.exact("sign_step", size, get[float32](w, bx, n*d), x)
		want := make([]float32, n)
		for r := range want {
			want[r] = kernel.MaxAbs(g[r*d : (r+1)*d])
		}
		w.exact("row_extremes", size, get[float32](w, most, n), want)
	}
}
