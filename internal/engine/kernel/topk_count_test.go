package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tercet/internal/engine/kernel"
)

// Small integer products, so that many keys equal a cut, and both kinds of keys.
func TestCounts(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 10))
		for _, s := range [][2]int{{1, 16}, {2, 32}, {3, 64}, {7, 48}, {8, 256}, {15, 16}, {29, 128}} {
			for _, cosine := range []bool{false, true} {
				cuts, n := s[0], s[1]
				c := kernel.Cuts{N: cuts}
				c.Cut, _ = banded(16*cuts, float32(math.NaN()))
				c.Upper, _ = banded(16*cuts, float32(math.NaN()))
				c.Index, _ = banded(16*cuts, int32(0))
				var check func(*testing.T, string)
				c.Count, check = banded(16*cuts, int32(-99))
				for i := range c.Cut {
					c.Cut[i] = float32(r.IntN(9) - 4)
					c.Upper[i] = math.Nextafter32(c.Cut[i], 100)
					c.Index[i], c.Count[i] = int32(r.IntN(3*n)), int32(i)
				}
				const first = 20 // index of the first item
				end := int32(first + n)
				scale, add := make([]float32, n), make([]float32, n)
				for j := range scale {
					if cosine {
						scale[j] = -1 / float32(1+r.IntN(5))
					} else {
						scale[j], add[j] = -2, float32(r.IntN(12)-3)
					}
				}
				const ld = 21
				x, _ := banded((n-1)*ld+16, float32(math.NaN()))
				for i := range x {
					x[i] = float32(r.IntN(7) - 3)
				}
				want := make([]int32, 16*cuts)
				for i := range want {
					want[i] = int32(i)
					for j := range n {
						key := float32(x[j*ld+i%16]*scale[j]) + add[j]
						if key < c.Cut[i] || key == c.Cut[i] && c.Index[i] >= end {
							want[i]++
						}
					}
				}
				kernel.CountColumns(n, x, ld, scale, add, end, &c)
				check(t, "columns")
				for i, v := range want {
					if c.Count[i] != v {
						t.Fatalf("%v cosine %v columns: cut %d of query %d: %d, want %d", s, cosine, i/16, i%16, c.Count[i], v)
					}
					c.Count[i] = int32(i)
				}
				for lane := range 16 {
					row := make([]float32, n)
					for j := range row {
						row[j] = x[j*ld+lane]
					}
					kernel.CountRow(row, scale, add, end, lane, &c)
				}
				check(t, "row")
				for i, v := range want {
					if c.Count[i] != v {
						t.Fatalf("%v cosine %v row: cut %d of query %d: %d, want %d", s, cosine, i/16, i%16, c.Count[i], v)
					}
				}
			}
		}
	})
}
