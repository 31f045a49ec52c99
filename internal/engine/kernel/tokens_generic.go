package kernel

import "math"

func geluGeneric(x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		phi, _ := normalBelow(v)
		y[i] = v * phi
	}
}

func geluBackGeneric(x, dy, dx []float32) {
	dy, dx = dy[:len(x)], dx[:len(x)]
	for i, v := range x {
		phi, e := normalBelow(v)
		dx[i] = dy[i] * (phi + float32(v*e*density))
	}
}

// density is that of the normal distribution at 0, 1/sqrt(2 pi).
const density = 0.3989422804014327

// normalBelow returns the probability that a normal number is below x, by formula
// 7.1.26 of Abramowitz and Stegun, and e = exp(-x^2/2). The conversions forbid fused
// multiply-adds.
func normalBelow(x float32) (phi, e float32) {
	e = float32(math.Exp(float64(-0.5 * x * x)))
	t := 1 / (1 + float32(0.3275911*(1/math.Sqrt2)*float32(math.Abs(float64(x)))))
	p := float32(1.061405429/2*t) - 1.453152027/2
	p = float32(p*t) + 1.421413741/2
	p = float32(p*t) - 0.284496736/2
	p = float32(p*t) + 0.254829592/2
	tail := float32(p * t * e)
	if x < 0 {
		return tail, e
	}
	return 1 - tail, e
}

func greatestGeneric(x []float32) float32 {
	top := x[0]
	for _, v := range x {
		top = max(top, v)
	}
	return top
}

func expLessGeneric(top float32, x []float32) {
	for i := range x {
		x[i] -= top
	}
	expGeneric(x, x)
}

func softmaxBackGeneric(along float32, p, dp []float32) {
	dp = dp[:len(p)]
	for i, v := range p {
		dp[i] = v * (dp[i] - along)
	}
}

func centerGeneric(mean float64, x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = float32(float64(v) - mean)
	}
}

func scaleShiftGeneric(x, scale, shift, y []float32) {
	y, scale = y[:len(x)], scale[:len(x)]
	if shift == nil {
		for i, v := range x {
			y[i] = v * scale[i]
		}
		return
	}
	shift = shift[:len(x)]
	for i, v := range x {
		y[i] = float32(v*scale[i]) + shift[i]
	}
}

func standardizeBackGeneric(mean, along, inv float32, y, dy, dx []float32) {
	dy, dx = dy[:len(y)], dx[:len(y)]
	for i, v := range dy {
		dx[i] = (v - mean - float32(y[i]*along)) * inv
	}
}
