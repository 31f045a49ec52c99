package loss

import "math"

// Softplus is log(1 + exp(x)), without overflow for any x. Losses in package loss and in
// package labeled use it, and a new one can.
func Softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// Logistic is 1 / (1 + exp(-x)), the derivative of Softplus, without overflow for any x.
func Logistic(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	if x < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}
