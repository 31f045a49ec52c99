package measure

import (
	"slices"

	"tercet/internal/stat"
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
	m, se := stat.MeanError(values)
	e := Estimate{Value: m, N: len(values), Max: slices.Max(values)}
	if len(values) < 2 {
		return e
	}
	half := stat.T95(len(values)) * se
	e.SE, e.CI95 = &se, &[2]float64{m - half, m + half}
	return e
}
