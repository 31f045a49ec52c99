package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tercet/internal/engine/kernel"
)

// Small integer products, so that many keys equal a cut, and both kinds of keys: rows of
// numbers and columns.
func TestCountKeys(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 10))
		for _, s := range [][3]int{{1, 32, 1}, {2, 32, 3}, {15, 64, -3}, {16, 140, 0}, {17, 128, 2}, {29, 256, 4}, {32, 256, -9}} {
			for _, cosine := range []bool{false, true} {
				n, m := s[0], s[1]
				cuts, _ := banded(kernel.MostCuts, float32(math.NaN()))
				limit := float32(math.Inf(-1))
				for i := range cuts {
					cuts[i] = float32(r.IntN(9)-4) / 2
					if i < n {
						cuts[i] += float32(s[2])
						limit = max(limit, cuts[i])
					}
				}
				width := (m + 31) / 32 * 32
				scale, add := make([]float32, width), make([]float32, width)
				for j := range scale {
					switch {
					case j >= m:
						add[j] = float32(math.Inf(1))
					case cosine:
						scale[j] = -1 / float32(1+r.IntN(5))
					default:
						scale[j], add[j] = -2, float32(r.IntN(12)-3)
					}
				}
				const ld = 37
				x, _ := banded((m-1)*ld+32, float32(math.NaN()))
				for i := range x {
					x[i] = float32(r.IntN(7) - 3)
				}
				panels := make([]float32, width*32)
				kernel.PanelsOfColumns(m, x, ld, panels)
				for c := range 32 {
					row := make([]float32, width)
					for j := range m {
						row[j] = x[j*ld+c]
					}
					var below, most [kernel.MostCuts]int32
					any := false
					for i, cut := range cuts[:n] {
						for j := range m {
							key := float32(row[j]*scale[j]) + add[j]
							any = any || key <= limit
							if key < cut {
								below[i]++
							}
							if key <= cut {
								most[i]++
							}
						}
					}
					for what, x := range map[string]struct {
						x      []float32
						stride int
					}{"row": {row, 32}, "column": {panels[32*c:], 32 * 32}} {
						var got kernel.KeyCounts
						found := kernel.CountKeys(x.x, x.stride, scale, add, limit, cuts, n, &got)
						if found != any {
							t.Fatalf("%v cosine %v, %s %d: found %v, want %v", s, cosine, what, c, found, any)
						}
						for i := range n {
							if found && (got.Below[i] != below[i] || got.AtMost[i] != most[i]) {
								t.Fatalf("%v cosine %v, %s %d, cut %d: %d and %d, want %d and %d", s, cosine, what, c, i, got.Below[i], got.AtMost[i], below[i], most[i])
							}
						}
					}
				}
			}
		}
	})
}

// Blocks of a search: products of which about a tenth is below the largest of 20 cuts.
func BenchmarkCountKeys(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 30))
	x, scale, add := normal(r, make([]float32, 256)), make([]float32, 256), make([]float32, 256)
	for j := range scale {
		scale[j] = -2
	}
	cuts := normal(r, make([]float32, kernel.MostCuts))
	for i := range cuts {
		cuts[i] = -2.6 - cuts[i]*cuts[i]
	}
	var c kernel.KeyCounts
	for b.Loop() {
		kernel.CountKeys(x, 32, scale, add, -2.6, cuts, 20, &c)
	}
}
