package kernel

// The methods of Level choose the code. Slices are as long as the first one.

func (l Level) gelu(x, y []float32) {
	y = y[:len(x)]
	if assembly && l != Generic && len(x) > 0 {
		geluAsm(l, len(x), &x[0], &y[0])
	} else {
		geluGeneric(x, y)
	}
}

func (l Level) geluBack(x, dy, dx []float32) {
	dy, dx = dy[:len(x)], dx[:len(x)]
	if assembly && l != Generic && len(x) > 0 {
		geluBackAsm(l, len(x), &x[0], &dy[0], &dx[0])
	} else {
		geluBackGeneric(x, dy, dx)
	}
}

// greatest returns the largest number, of one at least. Where one is NaN it may be any.
func (l Level) greatest(x []float32) float32 {
	if l = l.within(len(x)); assembly && l != Generic {
		return greatestAsm(l, len(x), &x[0])
	}
	return greatestGeneric(x)
}

func (l Level) expLess(top float32, x []float32) {
	if assembly && l != Generic && len(x) > 0 {
		expLessAsm(l, top, len(x), &x[0])
	} else {
		expLessGeneric(top, x)
	}
}

func (l Level) softmaxBack(along float32, p, dp []float32) {
	dp = dp[:len(p)]
	if assembly && l != Generic && len(p) > 0 {
		softmaxBackAsm(l, along, len(p), &p[0], &dp[0])
	} else {
		softmaxBackGeneric(along, p, dp)
	}
}

func (l Level) center(mean float64, x, y []float32) {
	y = y[:len(x)]
	if assembly && l != Generic && len(x) > 0 {
		centerAsm(l, mean, len(x), &x[0], &y[0])
	} else {
		centerGeneric(mean, x, y)
	}
}

// scaleShift adds nothing where shift is nil.
func (l Level) scaleShift(x, scale, shift, y []float32) {
	switch {
	case len(x) == 0:
	case !assembly || l == Generic:
		scaleShiftGeneric(x, scale, shift, y)
	case shift == nil:
		scaleByAsm(l, len(x), &x[0], &scale[:len(x)][0], &y[:len(x)][0])
	default:
		scaleAddAsm(l, len(x), &x[0], &scale[:len(x)][0], &y[:len(x)][0], &shift[:len(x)][0])
	}
}

func (l Level) standardizeBack(mean, along, inv float32, y, dy, dx []float32) {
	dy, dx = dy[:len(y)], dx[:len(y)]
	if assembly && l != Generic && len(y) > 0 {
		standardizeBackAsm(l, mean, along, inv, len(y), &y[0], &dy[0], &dx[0])
	} else {
		standardizeBackGeneric(mean, along, inv, y, dy, dx)
	}
}
