//go:build amd64 && !noasm

package kernel

// The methods of Level choose the code. Slices are as long as the first one.

func (l Level) gelu(x, y []float32) {
	y = y[:len(x)]
	switch {
	case len(x) == 0:
	case l == AVX512:
		geluAVX512(len(x), &x[0], &y[0])
	case l == AVX2:
		geluAVX2(len(x), &x[0], &y[0])
	default:
		geluGeneric(x, y)
	}
}

func (l Level) geluBack(x, dy, dx []float32) {
	dy, dx = dy[:len(x)], dx[:len(x)]
	switch {
	case len(x) == 0:
	case l == AVX512:
		geluBackAVX512(len(x), &x[0], &dy[0], &dx[0])
	case l == AVX2:
		geluBackAVX2(len(x), &x[0], &dy[0], &dx[0])
	default:
		geluBackGeneric(x, dy, dx)
	}
}

// greatest returns the largest number, of one at least. Where one is NaN it may be any.
func (l Level) greatest(x []float32) float32 {
	switch {
	case l == AVX512 && len(x) >= 16:
		return greatestAVX512(len(x), &x[0])
	case l != Generic && len(x) >= 8:
		return greatestAVX2(len(x), &x[0])
	}
	return greatestGeneric(x)
}

func (l Level) expLess(top float32, x []float32) {
	switch {
	case len(x) == 0:
	case l == AVX512:
		expLessAVX512(top, len(x), &x[0])
	case l == AVX2:
		expLessAVX2(top, len(x), &x[0])
	default:
		expLessGeneric(top, x)
	}
}

func (l Level) softmaxBack(along float32, p, dp []float32) {
	dp = dp[:len(p)]
	switch {
	case len(p) == 0:
	case l == AVX512:
		softmaxBackAVX512(along, len(p), &p[0], &dp[0])
	case l == AVX2:
		softmaxBackAVX2(along, len(p), &p[0], &dp[0])
	default:
		softmaxBackGeneric(along, p, dp)
	}
}

func (l Level) center(mean float64, x, y []float32) {
	y = y[:len(x)]
	switch {
	case len(x) == 0:
	case l == AVX512:
		centerAVX512(mean, len(x), &x[0], &y[0])
	case l == AVX2:
		centerAVX2(mean, len(x), &x[0], &y[0])
	default:
		centerGeneric(mean, x, y)
	}
}

// scaleShift adds nothing where shift is nil.
func (l Level) scaleShift(x, scale, shift, y []float32) {
	if l == Generic || len(x) == 0 {
		scaleShiftGeneric(x, scale, shift, y)
		return
	}
	scale, y = scale[:len(x)], y[:len(x)]
	if shift == nil {
		if l == AVX512 {
			scaleByAVX512(len(x), &x[0], &scale[0], &y[0])
		} else {
			scaleByAVX2(len(x), &x[0], &scale[0], &y[0])
		}
		return
	}
	shift = shift[:len(x)]
	if l == AVX512 {
		scaleAddAVX512(len(x), &x[0], &scale[0], &y[0], &shift[0])
	} else {
		scaleAddAVX2(len(x), &x[0], &scale[0], &y[0], &shift[0])
	}
}

func (l Level) standardizeBack(mean, along, inv float32, y, dy, dx []float32) {
	dy, dx = dy[:len(y)], dx[:len(y)]
	switch {
	case len(y) == 0:
	case l == AVX512:
		standardizeBackAVX512(mean, along, inv, len(y), &y[0], &dy[0], &dx[0])
	case l == AVX2:
		standardizeBackAVX2(mean, along, inv, len(y), &y[0], &dy[0], &dx[0])
	default:
		standardizeBackGeneric(mean, along, inv, y, dy, dx)
	}
}
