package kernel_test

import (
	"math"
	"testing"

	"tercet/internal/engine/kernel"
)

// reductions are exact on integers of few bits, whatever the order, and their
// rounding on others has the same bits on all levels and threads.
func reductions(t *testing.T) {
	r := newRand(20)
	for _, n := range append(lengths(), 3<<15+17) {
		x, checkX := buffer(r, n)
		y, _ := buffer(r, n)
		first := map[string]float64{}
		values := map[string]func() float64{
			"Sum":             func() float64 { return kernel.Sum(x) },
			"SumSquares":      func() float64 { return kernel.SumSquares(x) },
			"Dot":             func() float64 { return kernel.Dot(x, y) },
			"SquaredDistance": func() float64 { return kernel.SquaredDistance(x, y) },
			"MaxAbs":          func() float64 { return float64(kernel.MaxAbs(x)) },
		}
		bits := func(int) {
			for name, f := range values {
				v := f()
				if was, ok := first[name]; ok && was != v {
					t.Fatalf("%s of %d: %v and %v", name, n, was, v)
				}
				first[name] = v
			}
		}
		onThreads(bits)
		plain(t, func() { bits(0) })
		want := map[string]float64{}
		for i := range x {
			x[i], y[i] = float32(r.IntN(2001)-1000), float32(r.IntN(2001)-1000)
			a, b := float64(x[i]), float64(y[i])
			want["Sum"] += a
			want["SumSquares"] += a * a
			want["Dot"] += a * b
			want["SquaredDistance"] += (a - b) * (a - b)
			want["MaxAbs"] = max(want["MaxAbs"], math.Abs(a))
		}
		for name, f := range values {
			if got := f(); got != want[name] {
				t.Fatalf("%s of %d integers: %v, want %v", name, n, got, want[name])
			}
		}
		if i, ok := kernel.AllFinite(x); !ok || i != -1 {
			t.Fatalf("%d finite numbers: %d, %v", n, i, ok)
		}
		checkX(t, "reductions")
		if n == 0 {
			continue
		}
		for _, bad := range []float32{nan, inf, -inf, -nan} {
			at := r.IntN(n)
			was := x[at]
			x[at] = bad
			if i, ok := kernel.AllFinite(x); ok || i != at {
				t.Fatalf("%g at %d of %d: %d, %v", bad, at, n, i, ok)
			}
			if m := kernel.MaxAbs(x); bad == bad && m != inf || bad != bad && m == m {
				t.Fatalf("%g at %d of %d: MaxAbs %g", bad, at, n, m)
			}
			if s := kernel.Sum(x); bad == bad && s != float64(bad) || bad != bad && s == s {
				t.Fatalf("%g at %d of %d: Sum %g", bad, at, n, s)
			}
			x[at] = was
		}
	}
}

func l2Normalize(t *testing.T) {
	r := newRand(21)
	const least = 1e-12
	for _, n := range []int{0, 1, 5, 40} {
		for _, d := range []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 128, 200, 513} {
			x, _ := buffer(r, n*d)
			y, check := buffer(r, n*d)
			norm, checkNorm := buffer(r, n)
			dy, _ := buffer(r, n*d)
			dx, checkDX := buffer(r, n*d)
			for i := range x { // rows whose squares leave float32, a row of zeros, one below least
				x[i] *= []float32{1, 1e-25, 1e25, 0, 1e-16}[i/d%5]
			}
			kernel.L2Normalize(n, d, x, y, norm, least)
			kernel.L2NormalizeBackward(n, d, y, norm, dy, dx, least)
			check(t, "L2Normalize")
			checkNorm(t, "L2Normalize")
			checkDX(t, "L2NormalizeBackward")
			for b := range n {
				var s, dot, size float64
				for i := b * d; i < (b+1)*d; i++ {
					s += float64(x[i]) * float64(x[i])
					dot += float64(x[i]) * float64(dy[i])
					size += math.Abs(float64(x[i]) * float64(dy[i]))
				}
				s = math.Sqrt(s)
				near(t, norm[b], max(s, least), max(s, least), 0, "norm of %d", d)
				for i := b * d; i < (b+1)*d; i++ {
					v, g := float64(x[i]), float64(dy[i])
					wantY, wantDX := v/max(s, least), g/max(s, least)
					if s > least {
						wantDX = (g - v*dot/(s*s)) / s
					}
					near(t, y[i], wantY, math.Abs(wantY), 0, "L2Normalize of %d", d)
					near(t, dx[i], wantDX, (math.Abs(g)+math.Abs(wantY*size/max(s, least)))/max(s, least), 0, "L2NormalizeBackward of %d", d)
				}
			}
			y2, norm2, dx2 := make([]float32, n*d), make([]float32, n), make([]float32, n*d)
			plain(t, func() {
				kernel.L2Normalize(n, d, x, y2, norm2, least)
				kernel.L2NormalizeBackward(n, d, y2, norm2, dy, dx2, least)
			})
			sameBits(t, y, y2, "L2Normalize at two levels")
			sameBits(t, norm, norm2, "norms at two levels")
			sameBits(t, dx, dx2, "L2NormalizeBackward at two levels")
		}
	}
}
