package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Mean is the arithmetic mean; NaN of no values.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Squares is the sum of squared deviations from the mean m.
func Squares(values []float64, m float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += float64((v - m) * (v - m))
	}
	return sum
}

// MeanError returns the mean and its standard error s/sqrt(n), s with n-1 in the
// denominator; of fewer than two values the error is NaN.
func MeanError(values []float64) (mean, se float64) {
	mean = Mean(values)
	if len(values) < 2 {
		return mean, math.NaN()
	}
	n := float64(len(values))
	return mean, math.Sqrt(Squares(values, mean) / (n - 1) / n)
}

// MeanInterval returns the mean and its 95 % interval by Student's t with n-1 degrees of
// freedom; of fewer than two values the ends are NaN.
func MeanInterval(values []float64) (mean, low, high float64) {
	mean, se := MeanError(values)
	half := math.NaN()
	if len(values) > 1 {
		half = T95(len(values)) * se
	}
	return mean, mean - half, mean + half
}

// T95 is the 97.5 % point of Student's t with n-1 degrees of freedom: half the width of
// the 95 % interval of a mean of n >= 2 values, in standard errors.
func T95(n int) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
}

// Median is the middle of one or more values, of two middle ones their mean. It leaves
// values as they are.
func Median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}
