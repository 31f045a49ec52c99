package kernel

// The methods of Level choose the code. Slices are as long as the last one.

func (l Level) roots(x2, near float32, y2, row []float32) float32 {
	if assembly && l != Generic && len(row) > 0 {
		return rootsAsm(l, x2, near, len(row), &y2[0], &row[0])
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
	if assembly && l != Generic {
		hingesAsm(l, h.Base, len(h.Cut), cut, add, count, len(d), &d[0], &w[0], &h.Sums[0][0])
	} else {
		hingesGeneric(h, d, w)
	}
}
