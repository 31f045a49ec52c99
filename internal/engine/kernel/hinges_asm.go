//go:build amd64 && !noasm

package kernel

// The methods of Level choose the code. Slices are as long as the last one.

func (l Level) roots(x2, near float32, y2, row []float32) float32 {
	switch {
	case len(row) == 0:
		return 0
	case l == AVX512:
		return rootsAVX512(x2, near, len(row), &y2[0], &row[0])
	case l == AVX2:
		return rootsAVX2(x2, near, len(row), &y2[0], &row[0])
	}
	return rootsGeneric(x2, near, y2, row)
}

// hinges wants a multiple of hingeBlock distances, at least one block.
func (l Level) hinges(h *Hinges, d, w []float32) {
	var cut, add *float32
	var count *int32
	if len(h.Cut) > 0 {
		cut, add, count = &h.Cut[0], &h.Add[0], &h.Count[0]
	}
	switch l {
	case AVX512:
		hingesAVX512(h.Base, len(h.Cut), cut, add, count, len(d), &d[0], &w[0], &h.Sums[0][0])
	case AVX2:
		hingesAVX2(h.Base, len(h.Cut), cut, add, count, len(d), &d[0], &w[0], &h.Sums[0][0])
	default:
		hingesGeneric(h, d, w)
	}
}
