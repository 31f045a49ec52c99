package kernel

// The methods of Level choose the code, for rows and cols above 0. Matrices have
// rows*cols numbers, factors and sums cols.

// normalize adds nothing where add is nil.
func (l Level) normalize(rows, cols int, x, mean, scale, shift, add []float32, relu bool, y []float32) {
	_, _, _, _, _ = x[rows*cols-1], mean[cols-1], scale[cols-1], shift[cols-1], y[rows*cols-1]
	switch {
	case !assembly || l == Generic:
		normalizeGeneric(rows, cols, x, mean, scale, shift, add, relu, y)
	case add != nil && relu:
		normalizeAddReLUAsm(l, rows, cols, &x[0], &mean[0], &scale[0], &shift[0], &add[:rows*cols][0], &y[0])
	case add != nil:
		normalizeAddAsm(l, rows, cols, &x[0], &mean[0], &scale[0], &shift[0], &add[:rows*cols][0], &y[0])
	case relu:
		normalizeReLUAsm(l, rows, cols, &x[0], &mean[0], &scale[0], &shift[0], &y[0])
	default:
		normalizeAsm(l, rows, cols, &x[0], &mean[0], &scale[0], &shift[0], &y[0])
	}
}

// normalizeBack, scaleRows and columnProducts take all of dy where mask is nil.
func (l Level) normalizeBack(rows, cols int, x, dy, mask, mean, scale, shift, slope, dx []float32) {
	_, _, _, _, _, _, _ = x[rows*cols-1], dy[rows*cols-1], mean[cols-1], scale[cols-1], shift[cols-1], slope[cols-1], dx[rows*cols-1]
	switch {
	case !assembly || l == Generic:
		normalizeBackGeneric(rows, cols, x, dy, mask, mean, scale, shift, slope, dx)
	case mask == nil:
		normalizeBackAsm(l, rows, cols, &x[0], &dy[0], &mean[0], &scale[0], &shift[0], &slope[0], &dx[0])
	default:
		normalizeBackMaskedAsm(l, rows, cols, &x[0], &dy[0], &mask[:rows*cols][0], &mean[0], &scale[0], &shift[0], &slope[0], &dx[0])
	}
}

func (l Level) scaleRows(rows, cols int, dy, mask, scale, dx []float32) {
	_, _, _ = dy[rows*cols-1], scale[cols-1], dx[rows*cols-1]
	switch {
	case !assembly || l == Generic:
		scaleRowsGeneric(rows, cols, dy, mask, scale, dx)
	case mask == nil:
		scaleRowsAsm(l, rows, cols, &dy[0], &scale[0], &dx[0])
	default:
		scaleRowsMaskedAsm(l, rows, cols, &dy[0], &mask[:rows*cols][0], &scale[0], &dx[0])
	}
}

func (l Level) columnSums(rows, cols int, x []float32, s []float64) {
	_, _ = x[rows*cols-1], s[cols-1]
	if assembly && l != Generic {
		columnSumsAsm(l, rows, cols, &x[0], &s[0])
	} else {
		columnSumsGeneric(rows, cols, x, s)
	}
}

func (l Level) columnMoments(rows, cols int, x []float32, center, s, q []float64) {
	_, _, _, _ = x[rows*cols-1], center[cols-1], s[cols-1], q[cols-1]
	if assembly && l != Generic {
		columnMomentsAsm(l, rows, cols, &x[0], &center[0], &s[0], &q[0])
	} else {
		columnMomentsGeneric(rows, cols, x, center, s, q)
	}
}

func (l Level) columnProducts(rows, cols int, x, dy, mask []float32, center, s, q []float64) {
	_, _, _, _, _ = x[rows*cols-1], dy[rows*cols-1], center[cols-1], s[cols-1], q[cols-1]
	switch {
	case !assembly || l == Generic:
		columnProductsGeneric(rows, cols, x, dy, mask, center, s, q)
	case mask == nil:
		columnProductsAsm(l, rows, cols, &x[0], &dy[0], &center[0], &s[0], &q[0])
	default:
		columnProductsMaskedAsm(l, rows, cols, &x[0], &dy[0], &mask[:rows*cols][0], &center[0], &s[0], &q[0])
	}
}

func (l Level) normalizeBackReLU(rows, cols int, x, dy, mean, scale, shift, slope, bias, dx []float32) {
	_, _, _ = x[rows*cols-1], dy[rows*cols-1], dx[rows*cols-1]
	_, _, _, _, _ = mean[cols-1], scale[cols-1], shift[cols-1], slope[cols-1], bias[cols-1]
	if assembly && l != Generic {
		normalizeBackReLUAsm(l, rows, cols, &x[0], &dy[0], &mean[0], &scale[0], &shift[0], &slope[0], &bias[0], &dx[0])
	} else {
		normalizeBackReLUGeneric(rows, cols, x, dy, mean, scale, shift, slope, bias, dx)
	}
}

func (l Level) columnProductsReLU(rows, cols int, x, dy, mean, scale, bias []float32, center, s, q []float64) {
	_, _, _, _, _ = x[rows*cols-1], dy[rows*cols-1], mean[cols-1], scale[cols-1], bias[cols-1]
	_, _, _ = center[cols-1], s[cols-1], q[cols-1]
	if assembly && l != Generic {
		columnProductsReLUAsm(l, rows, cols, &x[0], &dy[0], &mean[0], &scale[0], &bias[0], &center[0], &s[0], &q[0])
	} else {
		columnProductsReLUGeneric(rows, cols, x, dy, mean, scale, bias, center, s, q)
	}
}
