package measure

import (
	"slices"

	"tercet/internal/record"
	"tercet/internal/stat"
)

// EstimateOf is the estimate from repeats, of which there is at least one.
func EstimateOf(values []float64) record.Estimate {
	m, se := stat.MeanError(values)
	e := record.Estimate{Value: m, N: len(values), Max: slices.Max(values)}
	if len(values) < 2 {
		return e
	}
	half := float64(stat.T95(len(values)) * se)
	e.SE, e.CI95 = &se, &[2]float64{m - half, m + half}
	return e
}
