package stat

import "math"

// maxSampleSize bounds SampleSize.
const maxSampleSize = 10_000

// SampleSize is the least number n of paired differences of which the two-sided t test at
// level 0.05 finds the mean to differ from 0 with probability 0.8, where their mean is
// effect standard deviations; 0 if that are more than maxSampleSize or there is no effect.
func SampleSize(effect float64) int {
	effect = math.Abs(effect)
	if math.IsNaN(effect) || power(maxSampleSize, effect) < 0.8 {
		return 0
	}
	lo, hi := 1, maxSampleSize // power(lo) < 0.8 <= power(hi)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; power(mid, effect) < 0.8 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// power is the probability with which the t test of n differences finds an effect: that of
// |T| > t for T of the noncentral t distribution with n-1 degrees of freedom and
// noncentrality sqrt(n) effect. Given the chi variable U = s/sigma, T > t is Z > t U - delta.
func power(n int, effect float64) float64 {
	if n < 2 {
		return 0
	}
	if math.IsInf(effect, 1) {
		return 1
	}
	nu := float64(n - 1)
	t, delta := T95(n), float64(math.Sqrt(float64(n))*effect)
	above := func(u float64) float64 { return tail(float64(t*u)-delta) + tail(float64(t*u)+delta) }
	// Over u by its density: 2 nu u times that of chi-squared at nu u^2.
	lgamma, _ := math.Lgamma(nu / 2)
	norm := lgamma + float64(nu/2*math.Ln2)
	width := 10 / math.Sqrt(2*nu)
	low, high := math.Max(0, 1-width), 1+width
	const steps = 4000 // of Simpson's rule
	h := (high - low) / steps
	sum := 0.0
	for i := 0; i <= steps; i++ {
		u := low + float64(float64(i)*h)
		w := 2.0
		switch {
		case i == 0 || i == steps:
			w = 1
		case i%2 == 1:
			w = 4
		}
		u = math.Max(u, 1e-9) // where nu is 1, the density of u has a limit at 0 that is not 0
		x := float64(nu * u * u)
		density := math.Exp(float64((float64(nu/2)-1)*math.Log(x)) - float64(x/2) - norm) // of chi-squared
		sum += float64(2 * w * above(u) * nu * u * density)
	}
	return float64(sum*h) / 3
}

// tail is the probability of a standard normal variable above x.
func tail(x float64) float64 { return float64(math.Erfc(x/math.Sqrt2) / 2) }
