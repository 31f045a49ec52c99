package kernel

// The methods of Level choose the code. Slices are as long as the first one.

func (l Level) sum(x []float32) float64 {
	if assembly && l != Generic && len(x) > 0 {
		return sumAsm(l, len(x), &x[0])
	}
	return sumGeneric(x)
}

func (l Level) dot(a, b []float32) float64 {
	if assembly && l != Generic && len(a) > 0 {
		return dotAsm(l, len(a), &a[0], &b[0])
	}
	return dotGeneric(a, b)
}

func (l Level) squaredDistance(a, b []float32) float64 {
	if assembly && l != Generic && len(a) > 0 {
		return squaredDistanceAsm(l, len(a), &a[0], &b[0])
	}
	return squaredDistanceGeneric(a, b)
}

func (l Level) maxAbs(x []float32) float32 {
	if assembly && l != Generic && len(x) > 0 {
		return maxAbsAsm(l, len(x), &x[0])
	}
	return maxAbsGeneric(x)
}

func (l Level) stretch(factor float64, x, y []float32) {
	if assembly && l != Generic && len(x) > 0 {
		stretchAsm(l, factor, len(x), &x[0], &y[0])
	} else {
		stretchGeneric(factor, x, y)
	}
}

func (l Level) radial(dot, factor float64, y, dy, dx []float32) {
	if assembly && l != Generic && len(y) > 0 {
		radialAsm(l, dot, factor, len(y), &y[0], &dy[0], &dx[0])
	} else {
		radialGeneric(dot, factor, y, dy, dx)
	}
}

func (l Level) finishDistances(x2 float64, y2 []float64, out []float32) {
	if assembly && l != Generic && len(out) > 0 {
		finishDistancesAsm(l, x2, len(out), &y2[0], &out[0])
	} else {
		finishDistancesGeneric(x2, y2, out)
	}
}
