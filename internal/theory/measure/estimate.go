package measure

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Estimate is the mean of repeats with its standard error and its 95 % interval by
// Student's t; both are left out where there is one repeat.
type Estimate struct {
	Value float64     `json:"value"`
	SE    *float64    `json:"se,omitempty"`
	CI95  *[2]float64 `json:"ci95,omitempty"`
	N     int         `json:"n"`
	Max   float64     `json:"max"` // of the repeats
}

// EstimateOf is the estimate from repeats, of which there is at least one.
func EstimateOf(values []float64) Estimate {
	m := mean(values)
	e := Estimate{Value: m, N: len(values), Max: slices.Max(values)}
	if len(values) < 2 {
		return e
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - m) * (v - m)
	}
	n := float64(len(values))
	se := math.Sqrt(squares / (n - 1) / n)
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * se
	e.SE, e.CI95 = &se, &[2]float64{m - half, m + half}
	return e
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// median is the middle value, of two middle ones their mean; values are reordered.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
