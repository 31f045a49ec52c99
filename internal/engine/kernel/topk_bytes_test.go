package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tercet/internal/engine/kernel"
)

// Bounds are above the exact products, not far above, and the same bits, but for
// one rounding, at all levels.
func TestByteBounds(t *testing.T) {
	type key struct{ m, n, d int }
	first := map[key][]float32{}
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 11))
		for _, s := range []key{{1, 1, 1}, {3, 33, 2}, {14, 64, 7}, {15, 100, 48}, {37, 40, 513}, {5, 70, 2000}} {
			x := normal(r, make([]float32, (s.m+s.n)*s.d))
			for i := range x {
				switch i / s.d % 11 {
				case 3:
					x[i] *= 1e-3
				case 5:
					x[i] = 0
				case 7:
					x[i] *= 1e-38
				case 8:
					x[i] *= 1e9
				}
			}
			var rows kernel.ByteRows
			var cols kernel.ByteColumns
			rows.Quantize(s.m+s.n, s.d, x)
			cols.Pack(&rows, s.m, s.m+s.n)
			all := []float32{}
			for lo := 0; lo < s.n; lo += 32 {
				const ld = 41
				out, check := banded(s.m*ld, float32(-7e30))
				most, checkMost := banded(s.m, float32(-7e30))
				cols.Bounds(1, &rows, 0, s.m, lo, lo+32, out, ld, most)
				checkMost(t, "widths")
				check(t, "bounds")
				below := make([]float32, s.m*ld)
				cols.Bounds(-2, &rows, 0, s.m, lo, lo+32, below, ld, nil)
				for i := range s.m {
					for j := range ld {
						got := float64(out[i*ld+j])
						if j >= 32 {
							if got != float64(float32(-7e30)) {
								t.Fatalf("%v: wrote beyond column 32", s)
							}
							continue
						}
						all = append(all, out[i*ld+j])
						if lo+j >= s.n {
							if !(got >= 0) {
								t.Fatalf("%v: %v beyond the last row", s, got)
							}
							continue
						}
						var want, a, b, width float64
						for p := range s.d {
							u, v := float64(x[i*s.d+p]), float64(x[(s.m+lo+j)*s.d+p])
							want, a, b = want+u*v, a+u*u, b+v*v
						}
						for c := lo; c < min(lo+32, s.n); c++ { // the longest column of the call
							var q float64
							for p := range s.d {
								v := float64(x[(s.m+c)*s.d+p])
								q += v * v
							}
							width = max(width, q)
						}
						if v := float64(below[i*ld+j]); v > -2*want || math.Abs(v+2*got) > 1e-6*math.Abs(got) {
							t.Fatalf("%v (%d, %d): bound %v of -2 times %v, which is at most %v", s, i, lo+j, v, want, got)
						}
						if got < want || got-want > float64(most[i]) || got-want > .1*math.Sqrt(a*width)+1e-25 {
							t.Fatalf("%v (%d, %d): bound %v of %v, lengths %v and %v", s, i, lo+j, got, want, math.Sqrt(a), math.Sqrt(b))
						}
					}
				}
			}
			largest := 0.0 // terms of both signs cancel: levels round the larger ones
			for _, v := range all {
				largest = max(largest, math.Abs(float64(v)))
			}
			for i, v := range first[s] {
				if math.Abs(float64(v-all[i])) > 1e-6*largest {
					t.Fatalf("%v: levels differ: %v and %v", s, v, all[i])
				}
			}
			first[s] = all
		}
	})
}

func TestDot32(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 12))
		for _, n := range []int{0, 1, 31, 32, 33, 64, 100, 512, 700} {
			a, _ := banded(n, float32(math.NaN()))
			b, _ := banded(n, float32(math.NaN()))
			normal(r, a)
			normal(r, b)
			var want, size float64
			for i := range n {
				want += float64(a[i]) * float64(b[i])
				size += math.Abs(float64(a[i]) * float64(b[i]))
			}
			if got := kernel.Dot32(a, b); math.Abs(float64(got)-want) > kernel.DotError(n)*size {
				t.Fatalf("%d: %v, want %v", n, got, want)
			}
		}
	})
}
