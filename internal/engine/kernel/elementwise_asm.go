//go:build amd64 && !noasm

package kernel

// The methods of Level choose the code. Slices are as long as the first one.

func (l Level) relu(x, y []float32) {
	y = y[:len(x)]
	switch {
	case len(x) == 0:
	case l == AVX512:
		reluAVX512(len(x), &x[0], &y[0])
	case l == AVX2:
		reluAVX2(len(x), &x[0], &y[0])
	default:
		reluGeneric(x, y)
	}
}

func (l Level) reluBackward(y, dy, dx []float32) {
	dy, dx = dy[:len(y)], dx[:len(y)]
	switch {
	case len(y) == 0:
	case l == AVX512:
		reluBackwardAVX512(len(y), &y[0], &dy[0], &dx[0])
	case l == AVX2:
		reluBackwardAVX2(len(y), &y[0], &dy[0], &dx[0])
	default:
		reluBackwardGeneric(y, dy, dx)
	}
}

func (l Level) add(a, b, out []float32) {
	b, out = b[:len(a)], out[:len(a)]
	switch {
	case len(a) == 0:
	case l == AVX512:
		addAVX512(len(a), &a[0], &b[0], &out[0])
	case l == AVX2:
		addAVX2(len(a), &a[0], &b[0], &out[0])
	default:
		addGeneric(a, b, out)
	}
}

func (l Level) addReLU(a, b, out []float32) {
	b, out = b[:len(a)], out[:len(a)]
	switch {
	case len(a) == 0:
	case l == AVX512:
		addReLUAVX512(len(a), &a[0], &b[0], &out[0])
	case l == AVX2:
		addReLUAVX2(len(a), &a[0], &b[0], &out[0])
	default:
		addReLUGeneric(a, b, out)
	}
}

func (l Level) axpy(alpha float32, x, y []float32) {
	y = y[:len(x)]
	switch {
	case len(x) == 0:
	case l == AVX512:
		axpyAVX512(alpha, len(x), &x[0], &y[0])
	case l == AVX2:
		axpyAVX2(alpha, len(x), &x[0], &y[0])
	default:
		axpyGeneric(alpha, x, y)
	}
}

func (l Level) scale(alpha float32, x []float32) {
	switch {
	case len(x) == 0:
	case l == AVX512:
		scaleAVX512(alpha, len(x), &x[0])
	case l == AVX2:
		scaleAVX2(alpha, len(x), &x[0])
	default:
		scaleGeneric(alpha, x)
	}
}
