package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// z95 is the 97.5 % point of the normal distribution.
const z95 = 1.959963984540054

// Wilson is the 95 % score interval of a proportion with k of n (Wilson, JASA 1927). Its
// ends are exactly 0 for k = 0 and 1 for k = n; of n = 0 it is [0, 1].
func Wilson(k, n int) [2]float64 {
	if n == 0 {
		return [2]float64{0, 1}
	}
	const z = z95
	m, p := float64(n), float64(k)/float64(n)
	center := (p + z*z/(2*m)) / (1 + z*z/m)
	half := float64(z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m)))
	ci := [2]float64{max(0, center-half), min(1, center+half)}
	if k == 0 {
		ci[0] = 0
	}
	if k == n {
		ci[1] = 1
	}
	return ci
}

// ClopperPearson is the exact 95 % interval of a proportion with k of n >= 1 (Clopper and
// Pearson, Biometrika 1934). Bootstrap intervals of scores whose resamples are all equal
// use it in their place.
func ClopperPearson(k, n int) [2]float64 {
	ci := [2]float64{0, 1}
	if k > 0 {
		ci[0] = mathext.InvRegIncBeta(float64(k), float64(n-k+1), 0.025)
	}
	if k < n {
		ci[1] = mathext.InvRegIncBeta(float64(k+1), float64(n-k), 0.975)
	}
	return ci
}

// LowerProportion is the exact lower bound of a proportion with k of n >= 1 that is too
// large with probability alpha at most (Clopper and Pearson, one-sided).
func LowerProportion(k, n int, alpha float64) float64 {
	switch {
	case k == 0:
		return 0
	case k == n:
		return math.Pow(alpha, 1/float64(n))
	}
	return mathext.InvRegIncBeta(float64(k), float64(n-k+1), alpha)
}

// NormalQuantile is the p point of the normal distribution, 0 < p < 1.
func NormalQuantile(p float64) float64 { return mathext.NormalQuantile(p) }
