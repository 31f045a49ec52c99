package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Bounds from Intel's tiles have the bits of those from vectors.
func TestByteBoundsInTiles(t *testing.T) {
	if !HasByteDots() || !hasTilesBytes {
		t.Skip("no tiles of bytes on this machine")
	}
	defer func() { hasTilesBytes = true }()
	r := rand.New(rand.NewPCG(1, 16))
	for _, s := range [][3]int{{1, 1, 1}, {3, 33, 2}, {14, 64, 63}, {33, 100, 64}, {140, 200, 100}, {37, 40, 513}} {
		m, n, d := s[0], s[1], s[2]
		x := make([]float32, (m+n)*d)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		width := roundUp(n, packGroup)
		var out [2][]float32
		for i := range out {
			hasTilesBytes = i == 1
			var rows ByteRows
			var cols ByteColumns
			rows.Quantize(m+n, d, x)
			for _, k := range []int{m + n, m} { // the second time its memory holds other bytes
				cols.Pack(&rows, k-min(k, 40), k)
			}
			cols.Pack(&rows, m, m+n)
			out[i] = make([]float32, m*(width+7))
			cols.Bounds(-2, &rows, 0, m, 0, width, out[i], width+7, nil)
			if n > 64 {
				cols.Bounds(1, &rows, m, m, 32, 96, out[i], width+7, nil)
			}
		}
		if !slices.Equal(out[0], out[1]) {
			t.Errorf("%v: bounds differ", s)
		}
	}
}
