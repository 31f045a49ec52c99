package stat

import (
	"math"
	"strings"
	"testing"

	"tercet/internal/testutil"
)

func TestSlopeOfAPowerLaw(t *testing.T) {
	x := []float64{20, 40, 80, 160}
	groups := make([][]float64, len(x))
	for i, v := range x {
		y := 3 * math.Pow(v, -0.75)
		groups[i] = []float64{0.8 * y, 1.2 * y}
	}
	r, err := Slope(x, groups, 500, 1)
	if err != nil {
		t.Fatal(err)
	}
	testutil.Near(t, "slope", r.Slope, -0.75, 1e-12)
	testutil.Near(t, "intercept", r.Intercept, math.Log(3), 1e-12)
	if r.CI95 == nil || !(r.CI95[0] < -0.75 && -0.75 < r.CI95[1]) || r.CI95[1]-r.CI95[0] > 0.5 {
		t.Errorf("interval %v", r.CI95)
	}
}

// The reference's observed sizes of T3 and the slope it printed.
func TestSlopeOfTheReference(t *testing.T) {
	r, err := Slope([]float64{20, 40, 80, 160}, [][]float64{{.4288}, {.2246}, {.1214}, {.0577}}, Resamples, 0)
	if err != nil {
		t.Fatal(err)
	}
	testutil.Near(t, "slope", r.Slope, -0.957, 0.0006)
	if r.CI95 != nil || r.Resamples != 0 {
		t.Errorf("one value a size has an interval: %+v", r)
	}
}

// With two sizes the slope is (log mean2 - log mean1) / log 2: the percentiles are those
// of a statistic that can be enumerated. Values 1 and 3 twice: means of resamples are 1
// (1/4), 2 (1/2), 3 (1/4), against a constant group.
func TestSlopeIntervalEnumerated(t *testing.T) {
	r, err := Slope([]float64{1, 2}, [][]float64{{1, 1}, {1, 3}}, 4000, 7)
	if err != nil {
		t.Fatal(err)
	}
	testutil.Near(t, "low", r.CI95[0], 0, 1e-12)
	testutil.Near(t, "high", r.CI95[1], math.Log2(3), 1e-12)
	testutil.Near(t, "slope", r.Slope, 1, 1e-12)
}

func TestSlopeLeavesOutAnIntervalThatWouldLie(t *testing.T) {
	r, err := Slope([]float64{1, 2}, [][]float64{{-1, 2, 2}, {1, 1, 1}}, 1000, 3)
	if err != nil {
		t.Fatal(err)
	}
	// P(sum of 3 draws <= 0) = P(at least two of -1) = 7/27.
	testutil.Near(t, "share undefined", float64(r.Undefined)/1000, 7.0/27, 0.05)
	if r.CI95 != nil {
		t.Errorf("interval %v of %d undefined resamples", r.CI95, r.Undefined)
	}
}

func TestSlopeErrors(t *testing.T) {
	one := [][]float64{{1}, {1}}
	for name, c := range map[string]struct {
		x      []float64
		groups [][]float64
		want   string
	}{
		"one size":  {[]float64{1}, one[:1], "two sizes"},
		"lists":     {[]float64{1, 2, 3}, one, "two sizes"},
		"zero size": {[]float64{0, 1}, one, "size 0 is 0"},
		"nan size":  {[]float64{1, math.NaN()}, one, "size 1 is NaN"},
		"equal":     {[]float64{2, 2}, one, "two different"},
		"empty":     {[]float64{1, 2}, [][]float64{{1}, {}}, "no values"},
		"nan":       {[]float64{1, 2}, [][]float64{{1}, {math.NaN()}}, "value 0 of size 2"},
		"negative":  {[]float64{1, 2}, [][]float64{{1}, {-1, .5}}, "no logarithm"},
	} {
		if _, err := Slope(c.x, c.groups, 10, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
