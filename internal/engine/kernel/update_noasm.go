//go:build !amd64 || noasm

package kernel

func (Level) adamStep(f *AdamFactors, p, g, m, v []float32) { adamStepGeneric(f, p, g, m, v) }

func (Level) sgdStep(f *SGDFactors, p, g, buf []float32, nesterov bool) {
	sgdStepGeneric(f, p, g, buf, nesterov)
}

func (Level) signStep(x, g, clean []float32, step, eps, low, high float32) {
	signStepGeneric(x, g, clean, step, eps, low, high)
}
