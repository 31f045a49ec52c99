package kernel

// The methods of Level choose the code. Slices are as long as the first one.

func (l Level) adamStep(f *AdamFactors, p, g, m, v []float32) {
	if assembly && l != Generic && len(p) > 0 {
		adamStepAsm(l, &f.Keep, len(p), &p[0], &g[0], &m[0], &v[0])
	} else {
		adamStepGeneric(f, p, g, m, v)
	}
}

func (l Level) sgdStep(f *SGDFactors, p, g, buf []float32, nesterov bool) {
	switch {
	case len(p) == 0:
	case !assembly || l == Generic:
		sgdStepGeneric(f, p, g, buf, nesterov)
	case buf == nil:
		sgdStepAsm(l, &f.Keep, len(p), &p[0], &g[0])
	case nesterov:
		nesterovStepAsm(l, &f.Keep, len(p), &p[0], &g[0], &buf[0])
	default:
		momentumStepAsm(l, &f.Keep, len(p), &p[0], &g[0], &buf[0])
	}
}

func (l Level) signStep(x, g, clean []float32, step, eps, low, high float32) {
	if assembly && l != Generic && len(x) > 0 {
		signStepAsm(l, step, eps, low, high, len(x), &x[0], &g[0], &clean[0])
	} else {
		signStepGeneric(x, g, clean, step, eps, low, high)
	}
}
