package study

import (
	"slices"

	"tercet/internal/render"
	"tercet/internal/stat"
	"tercet/internal/verdict"
)

// Estimate is a mean over N values, with Student's 95 % interval if N is 2 or more.
type Estimate struct {
	Value float64     `json:"value"`
	CI95  *[2]float64 `json:"ci95,omitempty"`
	N     int         `json:"n"`
	Max   float64     `json:"max"`
	// Queries is the number of queries of an interval over the queries of one seed.
	Queries int `json:"queries,omitempty"`

	Brief bool `json:"-"` // the interval is in CSV and JSON alone
}

// EstimateOf is the mean of at least one value, with its interval.
func EstimateOf(values []float64) Estimate {
	mean, low, high := stat.MeanInterval(values)
	e := Estimate{Value: mean, N: len(values), Max: slices.Max(values)}
	if len(values) > 1 {
		e.CI95 = &[2]float64{low, high}
	}
	return e
}

// deciding is the interval that a verdict may rest on: nil where it covers fewer seeds than
// a verdict needs.
func (e Estimate) deciding() *[2]float64 {
	if e.N < verdict.EnoughSeeds {
		return nil
	}
	return e.CI95
}

// cell is the estimate in a table.
func (e Estimate) cell() render.Cell {
	if e.CI95 == nil {
		return render.Number(e.Value)
	}
	c := render.Interval(e.Value, e.CI95[0], e.CI95[1])
	if e.Brief {
		return c.Brief()
	}
	return c
}

// bar is the estimate in a picture.
func (e Estimate) bar() render.Bar {
	if e.CI95 == nil {
		return render.Bar{Value: e.Value, Low: e.Value, High: e.Value}
	}
	return render.Bar{Value: e.Value, Low: e.CI95[0], High: e.CI95[1]}
}
