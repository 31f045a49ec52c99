package render

import "testing"

func TestFourFigures(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.000098764: "9.876e-05", -0.0011: "-0.0011", 15902187.3893: "15902187", 12.34567: "12.35", 1234.5: "1234", 3e12: "3e+12", .5: "0.5",
	} {
		if got := FourFigures(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}
