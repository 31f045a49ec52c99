package measure

import (
	"math"
	"testing"

	"tercet/internal/testutil"
)

// Student's t by hand: 1, 2, 3, 4 have mean 2.5, se sqrt(5/12), t(3) = 3.182446.
func TestEstimate(t *testing.T) {
	e := EstimateOf([]float64{1, 2, 3, 4})
	testutil.Near(t, "value", e.Value, 2.5, 1e-15)
	testutil.Near(t, "se", *e.SE, math.Sqrt(5.0/12), 1e-15)
	testutil.Near(t, "low", e.CI95[0], 2.5-3.182446305284263*math.Sqrt(5.0/12), 1e-9)
	testutil.Near(t, "max", e.Max, 4, 0)
	if e := EstimateOf([]float64{7}); e.SE != nil || e.CI95 != nil || e.Value != 7 {
		t.Errorf("%+v", e)
	}
}
