package labeled

import (
	"runtime"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

// Smooth-AP takes memory in proportion to the rows of a batch, and less than their cosines.
func TestSmoothAPMemory(t *testing.T) {
	const dim = 16
	taken := func(rows int) int {
		l, err := SmoothAPDefaults().New()
		if err != nil {
			t.Fatal(err)
		}
		z, labels, r := array.New(rows, dim), make([]int32, rows), rng.New(1, "z")
		for i := range z.Data {
			z.Data[i] = float32(r.NormFloat64())
		}
		for i := range labels {
			labels[i] = int32(i / 4)
		}
		grad := z.Clone()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := l.Eval(z, &loss.Tuples{Labels: labels}, grad); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return int(after.TotalAlloc - before.TotalAlloc)
	}
	taken(16) // threads and their scratch
	small, large := taken(448), taken(4*448)
	if square := 4 * 448 * 448; small > square {
		t.Errorf("448 rows take %d bytes, their cosines alone %d", small, square)
	}
	if large > 5*small {
		t.Errorf("4 times as many rows take %d bytes, %d before", large, small)
	}
}
