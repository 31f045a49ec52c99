package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tercet/internal/engine/kernel"
)

// Small integer keys: many are equal, and all sums are exact.
func TestLeastKeys(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 7))
		for _, s := range [][2]int{{1, 64}, {2, 128}, {10, 256}, {101, 192}} {
			rows, cols := s[0], s[1]
			ld := cols + 5
			ints := func(n, size int) []float32 {
				x, _ := banded(n, float32(math.NaN()))
				for i := range x {
					x[i] = float32(r.IntN(size))
				}
				return x
			}
			l := kernel.LeastKeys{Rows: rows, Cols: cols, X: ints(rows*ld, 9), LD: ld, B: ints(rows, 30)}
			l.Old, _ = banded(cols, int32(-1))
			for j := range l.Old {
				l.Old[j] = int32(r.IntN(rows))
			}
			index, checkIndex := banded(cols, int32(-77))
			moved, checkMoved := banded(cols/64, uint64(0x5a5a5a5a5a5a5a5a))
			value, checkValue := banded(cols, float32(-7e30))
			l.Index, l.Value, l.Moved = index, value, moved
			l.Find()
			checkValue(t, "value")
			checkIndex(t, "index")
			checkMoved(t, "moved")
			for j := range cols {
				at := 0
				key := func(c int) float64 { return float64(l.X[c*ld+j] + l.B[c]) }
				for c := range rows {
					if key(c) < key(at) {
						at = c
					}
				}
				if int(index[j]) != at || float64(value[j]) != key(at) || moved[j/64]>>(j%64)&1 == 1 != (l.Old[j] != int32(at)) {
					t.Fatalf("%v column %d: row %d with %v (%x), want %d, before %d", s, j, index[j], value[j], moved, at, l.Old[j])
				}
			}
		}
	})
}

func TestNearer(t *testing.T) {
	first := map[int]uint64{}
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 8))
		for _, n := range []int{0, 16, 48, 256} {
			slice := func() []float32 { x, _ := banded(n, float32(math.NaN())); return normal(r, x) }
			x, norm, nearest := slice(), slice(), slice()
			out, check := banded(n, float32(-7e30))
			var sums [kernel.SumLanes]float64
			sums[3] = 5
			kernel.Nearer(x, norm, .75, nearest, out, &sums)
			check(t, "distances")
			total, want := -5.0, 0.0
			for _, v := range sums {
				total += v
			}
			for j := range n {
				v := min(nearest[j], max(0, x[j]+(norm[j]+.75)))
				if out[j] != v {
					t.Fatalf("%d of %d: %v, want %v", j, n, out[j], v)
				}
				want += float64(v)
			}
			if math.Abs(total-want) > 1e-12*float64(n) {
				t.Fatalf("%d: sum %v, want %v", n, total, want)
			}
			if v, ok := first[n]; ok && v != math.Float64bits(total) {
				t.Fatalf("%d: levels differ", n)
			}
			first[n] = math.Float64bits(total)
		}
	})
}

func TestAddRow(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 9))
		for _, n := range []int{0, 1, 15, 16, 17, 47, 128} {
			x, _ := banded(n, float32(math.NaN()))
			normal(r, x)
			sum, check := banded(n, -7e30)
			want := make([]float64, n)
			for i := range sum {
				sum[i] = r.NormFloat64()
				want[i] = sum[i] + float64(x[i])
			}
			kernel.AddRow(sum, x)
			check(t, "sum")
			for i, v := range want {
				if sum[i] != v {
					t.Fatalf("%d of %d: %v, want %v", i, n, sum[i], v)
				}
				want[i] -= float64(x[i])
			}
			kernel.SubtractRow(sum, x)
			check(t, "difference")
			for i, v := range want {
				if sum[i] != v {
					t.Fatalf("%d of %d: %v, want %v", i, n, sum[i], v)
				}
			}
		}
	})
}

func TestShiftRow(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 13))
		for _, n := range []int{0, 1, 15, 16, 17, 47, 128} {
			x, _ := banded(n, float32(math.NaN()))
			mean, _ := banded(n, math.NaN())
			out, check := banded(n, float32(-7e30))
			normal(r, x)
			for i := range mean {
				mean[i] = r.NormFloat64()
			}
			kernel.ShiftRow(x, mean, .25, out)
			check(t, "row")
			for i, v := range out {
				if v != float32((float64(x[i])-mean[i])*.25) {
					t.Fatalf("%d of %d: %v", i, n, v)
				}
			}
		}
	})
}
