//go:build amd64 && !noasm

package kernel

// The methods of Level choose the code. Slices are as long as the first one.

func (l Level) exp(x, y []float32) {
	switch {
	case len(x) == 0:
	case l == AVX512:
		expAVX512(len(x), &x[0], &y[0])
	case l == AVX2:
		expAVX2(len(x), &x[0], &y[0])
	default:
		expGeneric(x, y)
	}
}

func (l Level) log(x, y []float32) {
	switch {
	case len(x) == 0:
	case l == AVX512:
		logAVX512(len(x), &x[0], &y[0])
	case l == AVX2:
		logAVX2(len(x), &x[0], &y[0])
	default:
		logGeneric(x, y)
	}
}
