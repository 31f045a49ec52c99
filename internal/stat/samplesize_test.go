package stat

import (
	"math"
	"testing"
)

// The powers are those of SciPy's stats.nct: sf(t, n-1, sqrt(n) d) + cdf(-t, n-1, sqrt(n) d).
func TestPower(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n              int
		effect, wanted float64
	}{
		{2, 1, 0.0928091550544744}, {3, 1, 0.17925539376539423}, {5, 0.5, 0.14051668999029754},
		{10, 1, 0.8030968566475513}, {50, 0.2, 0.2835924155323242}, {2, 5, 0.42096140914186314},
	} {
		if got := power(c.n, c.effect); math.Abs(got-c.wanted) > 1e-7 {
			t.Errorf("n %d, effect %v: %v, want %v", c.n, c.effect, got, c.wanted)
		}
	}
}

// The sizes are those that SciPy's powers give.
func TestSampleSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		effect float64
		wanted int
	}{
		{0.1, 787}, {-0.2, 199}, {0.5, 34}, {0.8, 15}, {1, 10}, {2, 5}, {3, 4}, {5, 3}, {10, 3}, {0.03, 8723},
		{0.02, 0}, {0, 0}, {math.NaN(), 0}, {math.Inf(-1), 2},
	} {
		if got := SampleSize(c.effect); got != c.wanted {
			t.Errorf("effect %v: %d, want %d", c.effect, got, c.wanted)
		}
	}
}
