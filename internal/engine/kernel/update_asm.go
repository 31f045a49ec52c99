//go:build amd64 && !noasm

package kernel

// The methods of Level choose the code. Slices are as long as the first one.

func (l Level) adamStep(f *AdamFactors, p, g, m, v []float32) {
	switch {
	case len(p) == 0:
	case l == AVX512:
		adamStepAVX512(&f.Keep, len(p), &p[0], &g[0], &m[0], &v[0])
	case l == AVX2:
		adamStepAVX2(&f.Keep, len(p), &p[0], &g[0], &m[0], &v[0])
	default:
		adamStepGeneric(f, p, g, m, v)
	}
}

func (l Level) sgdStep(f *SGDFactors, p, g, buf []float32, nesterov bool) {
	switch {
	case len(p) == 0:
	case l == Generic:
		sgdStepGeneric(f, p, g, buf, nesterov)
	case buf == nil && l == AVX512:
		sgdStepAVX512(&f.Keep, len(p), &p[0], &g[0])
	case buf == nil:
		sgdStepAVX2(&f.Keep, len(p), &p[0], &g[0])
	case nesterov && l == AVX512:
		nesterovStepAVX512(&f.Keep, len(p), &p[0], &g[0], &buf[0])
	case nesterov:
		nesterovStepAVX2(&f.Keep, len(p), &p[0], &g[0], &buf[0])
	case l == AVX512:
		momentumStepAVX512(&f.Keep, len(p), &p[0], &g[0], &buf[0])
	default:
		momentumStepAVX2(&f.Keep, len(p), &p[0], &g[0], &buf[0])
	}
}

func (l Level) signStep(x, g, clean []float32, step, eps, low, high float32) {
	switch {
	case len(x) == 0:
	case l == AVX512:
		signStepAVX512(step, eps, low, high, len(x), &x[0], &g[0], &clean[0])
	case l == AVX2:
		signStepAVX2(step, eps, low, high, len(x), &x[0], &g[0], &clean[0])
	default:
		signStepGeneric(x, g, clean, step, eps, low, high)
	}
}
