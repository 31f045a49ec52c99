package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// atLevels runs a test at each level.
func atLevels(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	for _, l := range kernel.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			restore, err := kernel.Force(l)
			if err != nil {
				t.Fatal(err)
			}
			defer restore()
			f(t)
		})
	}
}

// banded returns n numbers at an odd offset within a slice of guards, and a
// check that those are untouched.
func banded[T comparable](n int, guard T) (x []T, check func(t *testing.T, what string)) {
	const before, after = 17, 40
	all := make([]T, before+n+after)
	for i := range all {
		all[i] = guard
	}
	return all[before : before+n : before+n], func(t *testing.T, what string) {
		t.Helper()
		for i, v := range all {
			if (i < before || i >= before+n) && v != guard {
				t.Fatalf("%s: wrote %v at index %d of %d", what, v, i-before, n)
			}
		}
	}
}

func normal(r *rand.Rand, x []float32) []float32 {
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func TestPackedDots(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		var p kernel.PackedRows
		for _, s := range [][3]int{{1, 1, 1}, {3, 5, 2}, {14, 32, 47}, {15, 33, 48}, {29, 100, 513}, {5, 64, 1100}, {2, 0, 3}} {
			m, n, d := s[0], s[1], s[2]
			lda := d + 3
			a, x := normal(r, make([]float32, m*lda)), normal(r, make([]float32, n*d))
			p.Pack(n, d, x)
			if p.Len() != n || p.Cols()%64 != 0 || p.Cols() < n || p.Cols() >= n+64 {
				t.Fatalf("%v: %d rows, %d columns", s, p.Len(), p.Cols())
			}
			for lo := 0; lo < p.Cols(); lo += 32 {
				hi := min(lo+64, p.Cols())
				ld := hi - lo + 5
				out, check := banded(m*ld, float32(-7e30))
				p.Dots(m, a, lda, lo, hi, -2, out, ld)
				check(t, "dots")
				for i := range m {
					for j := range ld {
						got, want, size := out[i*ld+j], 0.0, 0.0
						switch {
						case j >= hi-lo:
							want = float64(float32(-7e30))
						case lo+j < n:
							for q := range d {
								v := -2 * float64(a[i*lda+q]) * float64(x[(lo+j)*d+q])
								want, size = want+v, size+math.Abs(v)
							}
						}
						if math.Abs(float64(got)-want) > kernel.DotError(d)*size {
							t.Fatalf("%v (%d, %d): %v, want %v", s, i, lo+j, got, want)
						}
					}
				}
			}
		}
	})
}

// x_i.x_j is x_j.x_i to the bit, for any number of threads and rows.
func TestPackedDotsSymmetric(t *testing.T) {
	defer par.SetThreads(par.Threads())
	atLevels(t, func(t *testing.T) {
		const n, d = 150, 530
		x := normal(rand.New(rand.NewPCG(1, 3)), make([]float32, n*d))
		var first []float32
		for _, threads := range []int{1, 2, 9} {
			par.SetThreads(threads)
			var p kernel.PackedRows
			p.Pack(n, d, x)
			ld := p.Cols()
			out := make([]float32, n*ld)
			for i := 0; i < n; i += 5 * threads {
				m := min(5*threads, n-i)
				p.Dots(m, x[i*d:], d, 0, ld, 1, out[i*ld:], ld)
			}
			for i := range n {
				for j := range n {
					if v, w := out[i*ld+j], out[j*ld+i]; v != w {
						t.Fatalf("(%d, %d): %v and %v", i, j, v, w)
					}
				}
			}
			if first == nil {
				first = out
			}
			for i, v := range out {
				if v != first[i] {
					t.Fatalf("%d threads: %v and %v at %d", threads, v, first[i], i)
				}
			}
		}
	})
}

func TestAbove(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	odd := []float32{nan, inf, -inf, 0, float32(math.Copysign(0, -1)), 1, 2}
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 4))
		for _, s := range [][2]int{{1, 64}, {3, 128}, {14, 256}, {141, 192}} {
			rows, cols := s[0], s[1]
			ld := cols + 7
			pick := func(n int) []float32 { // small numbers, so that many are equal
				x, _ := banded(n, nan)
				for i := range x {
					if x[i] = float32(r.IntN(5) - 2); r.IntN(9) == 0 {
						x[i] = odd[r.IntN(len(odd))]
					}
				}
				return x
			}
			x, a, b := pick(rows*ld), pick(rows), pick(cols)
			mask, check := banded(rows*cols/64, uint64(0x5a5a5a5a5a5a5a5a))
			kernel.Above(rows, cols, x, ld, a, b, mask)
			check(t, "masks")
			below, checkBelow := banded(rows*cols/64, uint64(0x5a5a5a5a5a5a5a5a))
			kernel.Below(rows, cols, x, ld, a, b, below)
			checkBelow(t, "masks")
			for i := range rows {
				for j := range cols {
					got := mask[i*cols/64+j/64]>>(j%64)&1 == 1
					if want := x[i*ld+j] >= b[j]-a[i]; got != want {
						t.Fatalf("%v (%d, %d): %v >= %v - %v is %v", s, i, j, x[i*ld+j], b[j], a[i], got)
					}
					got = below[i*cols/64+j/64]>>(j%64)&1 == 1
					if want := x[i*ld+j] <= b[j]-a[i]; got != want {
						t.Fatalf("%v (%d, %d): %v <= %v - %v is %v", s, i, j, x[i*ld+j], b[j], a[i], got)
					}
				}
			}
		}
	})
}

func TestSquaredDistanceLanes(t *testing.T) {
	first := map[int][2]uint64{}
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 5))
		for _, n := range []int{0, 1, 3, 15, 16, 17, 33, 128, 512, 700} {
			a, _ := banded(n, float32(math.NaN()))
			b, _ := banded(n, float32(math.NaN()))
			c, _ := banded(n, math.NaN())
			normal(r, a)
			normal(r, b)
			var want, wantTo float64
			for i := range n {
				c[i] = r.NormFloat64()
				u, v := float64(a[i])-float64(b[i]), float64(a[i])-c[i]
				want, wantTo = want+u*u, wantTo+v*v
			}
			got, gotTo := kernel.SquaredDistanceLanes(a, b), kernel.SquaredDistanceTo(a, c)
			if math.Abs(got-want) > 1e-13*want || math.Abs(gotTo-wantTo) > 1e-13*wantTo {
				t.Fatalf("%d numbers: %v and %v, want %v and %v", n, got, gotTo, want, wantTo)
			}
			bits := [2]uint64{math.Float64bits(got), math.Float64bits(gotTo)}
			if v, ok := first[n]; ok && v != bits {
				t.Fatalf("%d numbers: levels differ", n)
			}
			first[n] = bits
		}
	})
}

func TestTopKAllocatesNothing(t *testing.T) {
	const n, d = 100, 40
	x := normal(rand.New(rand.NewPCG(1, 6)), make([]float32, n*d))
	out, mask := make([]float32, n*128), make([]uint64, 2*n)
	var p kernel.PackedRows
	p.Pack(n, d, x)
	if a := testing.AllocsPerRun(5, func() {
		p.Pack(n, d, x)
		p.Dots(n, x, d, 0, 128, 1, out, 128)
		kernel.Above(n, 128, out, 128, out[:n], out[:128], mask)
		out[0] = float32(kernel.SquaredDistanceLanes(x[:d], x[d:2*d]))
	}); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

// Products of single pairs have the bits of those of whole panels.
func TestPairDots(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 13))
		for _, d := range []int{1, 2, 17, 128, 512, 513, 1100} {
			const m, n = 9, 70
			x, _ := banded(m*d, float32(math.NaN()))
			y, _ := banded(n*d, float32(math.NaN()))
			normal(r, x)
			normal(r, y)
			var packed kernel.PackedRows
			packed.Pack(n, d, y)
			want := make([]float32, m*packed.Cols())
			packed.Dots(m, x, d, 0, packed.Cols(), 1, want, packed.Cols())
			for _, pairs := range []int{0, 1, 5, 6, 7, 13} {
				a, b := make([]int32, pairs), make([]int32, pairs)
				for i := range a {
					a[i], b[i] = int32(r.IntN(m)), int32(r.IntN(n))
				}
				got, check := banded(pairs, float32(-3))
				kernel.PairDots(d, x, y, a, b, got)
				check(t, "products")
				for i, v := range got {
					if w := want[int(a[i])*packed.Cols()+int(b[i])]; v != w {
						t.Fatalf("d = %d, pair %d of %d: %v, want %v", d, i, pairs, v, w)
					}
				}
			}
		}
	})
}
