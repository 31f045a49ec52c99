//go:build amd64 && !noasm

package kernel

// The methods of Level choose the code, for rows and cols above 0. Matrices have
// rows*cols numbers, factors and sums cols.

// normalize adds nothing where add is nil.
func (l Level) normalize(rows, cols int, x, mean, scale, shift, add []float32, relu bool, y []float32) {
	_, _, _, _, _ = x[rows*cols-1], mean[cols-1], scale[cols-1], shift[cols-1], y[rows*cols-1]
	if l == Generic {
		normalizeGeneric(rows, cols, x, mean, scale, shift, add, relu, y)
		return
	}
	if add == nil {
		switch {
		case l == AVX512 && relu:
			normalizeReLUAVX512(rows, cols, &x[0], &mean[0], &scale[0], &shift[0], &y[0])
		case l == AVX512:
			normalizeAVX512(rows, cols, &x[0], &mean[0], &scale[0], &shift[0], &y[0])
		case relu:
			normalizeReLUAVX2(rows, cols, &x[0], &mean[0], &scale[0], &shift[0], &y[0])
		default:
			normalizeAVX2(rows, cols, &x[0], &mean[0], &scale[0], &shift[0], &y[0])
		}
		return
	}
	_ = add[rows*cols-1]
	switch {
	case l == AVX512 && relu:
		normalizeAddReLUAVX512(rows, cols, &x[0], &mean[0], &scale[0], &shift[0], &add[0], &y[0])
	case l == AVX512:
		normalizeAddAVX512(rows, cols, &x[0], &mean[0], &scale[0], &shift[0], &add[0], &y[0])
	case relu:
		normalizeAddReLUAVX2(rows, cols, &x[0], &mean[0], &scale[0], &shift[0], &add[0], &y[0])
	default:
		normalizeAddAVX2(rows, cols, &x[0], &mean[0], &scale[0], &shift[0], &add[0], &y[0])
	}
}

// normalizeBack, scaleRows and columnProducts take all of dy where mask is nil.
func (l Level) normalizeBack(rows, cols int, x, dy, mask, mean, scale, shift, slope, dx []float32) {
	_, _, _, _, _, _, _ = x[rows*cols-1], dy[rows*cols-1], mean[cols-1], scale[cols-1], shift[cols-1], slope[cols-1], dx[rows*cols-1]
	switch {
	case l == Generic:
		normalizeBackGeneric(rows, cols, x, dy, mask, mean, scale, shift, slope, dx)
	case mask == nil && l == AVX512:
		normalizeBackAVX512(rows, cols, &x[0], &dy[0], &mean[0], &scale[0], &shift[0], &slope[0], &dx[0])
	case mask == nil:
		normalizeBackAVX2(rows, cols, &x[0], &dy[0], &mean[0], &scale[0], &shift[0], &slope[0], &dx[0])
	case l == AVX512:
		normalizeBackMaskedAVX512(rows, cols, &x[0], &dy[0], &mask[:rows*cols][0], &mean[0], &scale[0], &shift[0], &slope[0], &dx[0])
	default:
		normalizeBackMaskedAVX2(rows, cols, &x[0], &dy[0], &mask[:rows*cols][0], &mean[0], &scale[0], &shift[0], &slope[0], &dx[0])
	}
}

func (l Level) scaleRows(rows, cols int, dy, mask, scale, dx []float32) {
	_, _, _ = dy[rows*cols-1], scale[cols-1], dx[rows*cols-1]
	switch {
	case l == Generic:
		scaleRowsGeneric(rows, cols, dy, mask, scale, dx)
	case mask == nil && l == AVX512:
		scaleRowsAVX512(rows, cols, &dy[0], &scale[0], &dx[0])
	case mask == nil:
		scaleRowsAVX2(rows, cols, &dy[0], &scale[0], &dx[0])
	case l == AVX512:
		scaleRowsMaskedAVX512(rows, cols, &dy[0], &mask[:rows*cols][0], &scale[0], &dx[0])
	default:
		scaleRowsMaskedAVX2(rows, cols, &dy[0], &mask[:rows*cols][0], &scale[0], &dx[0])
	}
}

func (l Level) columnSums(rows, cols int, x []float32, s []float64) {
	_, _ = x[rows*cols-1], s[cols-1]
	switch l {
	case AVX512:
		columnSumsAVX512(rows, cols, &x[0], &s[0])
	case AVX2:
		columnSumsAVX2(rows, cols, &x[0], &s[0])
	default:
		columnSumsGeneric(rows, cols, x, s)
	}
}

func (l Level) columnMoments(rows, cols int, x []float32, center, s, q []float64) {
	_, _, _, _ = x[rows*cols-1], center[cols-1], s[cols-1], q[cols-1]
	switch l {
	case AVX512:
		columnMomentsAVX512(rows, cols, &x[0], &center[0], &s[0], &q[0])
	case AVX2:
		columnMomentsAVX2(rows, cols, &x[0], &center[0], &s[0], &q[0])
	default:
		columnMomentsGeneric(rows, cols, x, center, s, q)
	}
}

func (l Level) columnProducts(rows, cols int, x, dy, mask []float32, center, s, q []float64) {
	_, _, _, _, _ = x[rows*cols-1], dy[rows*cols-1], center[cols-1], s[cols-1], q[cols-1]
	switch {
	case l == Generic:
		columnProductsGeneric(rows, cols, x, dy, mask, center, s, q)
	case mask == nil && l == AVX512:
		columnProductsAVX512(rows, cols, &x[0], &dy[0], &center[0], &s[0], &q[0])
	case mask == nil:
		columnProductsAVX2(rows, cols, &x[0], &dy[0], &center[0], &s[0], &q[0])
	case l == AVX512:
		columnProductsMaskedAVX512(rows, cols, &x[0], &dy[0], &mask[:rows*cols][0], &center[0], &s[0], &q[0])
	default:
		columnProductsMaskedAVX2(rows, cols, &x[0], &dy[0], &mask[:rows*cols][0], &center[0], &s[0], &q[0])
	}
}

func (l Level) normalizeBackReLU(rows, cols int, x, dy, mean, scale, shift, slope, bias, dx []float32) {
	_, _, _ = x[rows*cols-1], dy[rows*cols-1], dx[rows*cols-1]
	_, _, _, _, _ = mean[cols-1], scale[cols-1], shift[cols-1], slope[cols-1], bias[cols-1]
	switch l {
	case AVX512:
		normalizeBackReLUAVX512(rows, cols, &x[0], &dy[0], &mean[0], &scale[0], &shift[0], &slope[0], &bias[0], &dx[0])
	case AVX2:
		normalizeBackReLUAVX2(rows, cols, &x[0], &dy[0], &mean[0], &scale[0], &shift[0], &slope[0], &bias[0], &dx[0])
	default:
		normalizeBackReLUGeneric(rows, cols, x, dy, mean, scale, shift, slope, bias, dx)
	}
}

func (l Level) columnProductsReLU(rows, cols int, x, dy, mean, scale, bias []float32, center, s, q []float64) {
	_, _, _, _, _ = x[rows*cols-1], dy[rows*cols-1], mean[cols-1], scale[cols-1], bias[cols-1]
	_, _, _ = center[cols-1], s[cols-1], q[cols-1]
	switch l {
	case AVX512:
		columnProductsReLUAVX512(rows, cols, &x[0], &dy[0], &mean[0], &scale[0], &bias[0], &center[0], &s[0], &q[0])
	case AVX2:
		columnProductsReLUAVX2(rows, cols, &x[0], &dy[0], &mean[0], &scale[0], &bias[0], &center[0], &s[0], &q[0])
	default:
		columnProductsReLUGeneric(rows, cols, x, dy, mean, scale, bias, center, s, q)
	}
}
