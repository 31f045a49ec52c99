//go:build amd64 && !noasm

package kernel

// The methods of Level choose the code. Slices are as long as the first one.

func (l Level) sum(x []float32) float64 {
	switch {
	case len(x) == 0:
		return 0
	case l == AVX512:
		return sumAVX512(len(x), &x[0])
	case l == AVX2:
		return sumAVX2(len(x), &x[0])
	}
	return sumGeneric(x)
}

func (l Level) dot(a, b []float32) float64 {
	switch {
	case len(a) == 0:
		return 0
	case l == AVX512:
		return dotAVX512(len(a), &a[0], &b[0])
	case l == AVX2:
		return dotAVX2(len(a), &a[0], &b[0])
	}
	return dotGeneric(a, b)
}

func (l Level) squaredDistance(a, b []float32) float64 {
	switch {
	case len(a) == 0:
		return 0
	case l == AVX512:
		return squaredDistanceAVX512(len(a), &a[0], &b[0])
	case l == AVX2:
		return squaredDistanceAVX2(len(a), &a[0], &b[0])
	}
	return squaredDistanceGeneric(a, b)
}

func (l Level) maxAbs(x []float32) float32 {
	switch {
	case len(x) == 0:
		return 0
	case l == AVX512:
		return maxAbsAVX512(len(x), &x[0])
	case l == AVX2:
		return maxAbsAVX2(len(x), &x[0])
	}
	return maxAbsGeneric(x)
}

func (l Level) stretch(factor float64, x, y []float32) {
	switch {
	case len(x) == 0:
	case l == AVX512:
		stretchAVX512(factor, len(x), &x[0], &y[0])
	case l == AVX2:
		stretchAVX2(factor, len(x), &x[0], &y[0])
	default:
		stretchGeneric(factor, x, y)
	}
}

func (l Level) radial(dot, factor float64, y, dy, dx []float32) {
	switch {
	case len(y) == 0:
	case l == AVX512:
		radialAVX512(dot, factor, len(y), &y[0], &dy[0], &dx[0])
	case l == AVX2:
		radialAVX2(dot, factor, len(y), &y[0], &dy[0], &dx[0])
	default:
		radialGeneric(dot, factor, y, dy, dx)
	}
}

func (l Level) finishDistances(x2 float64, y2 []float64, out []float32) {
	switch {
	case len(out) == 0:
	case l == AVX512:
		finishDistancesAVX512(x2, len(out), &y2[0], &out[0])
	case l == AVX2:
		finishDistancesAVX2(x2, len(out), &y2[0], &out[0])
	default:
		finishDistancesGeneric(x2, y2, out)
	}
}
