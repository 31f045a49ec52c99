package render

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
)

// sizeTicks are those of a logarithmic axis of sizes, such as 20k: labels at 1, 2 and 5
// times powers of ten where these are few, at powers of ten else.
type sizeTicks struct{}

func (sizeTicks) Ticks(lo, hi float64) []plot.Tick {
	fives := math.Log10(hi/lo) <= 2.4
	var list []plot.Tick
	for e := math.Floor(math.Log10(lo)); e <= math.Log10(hi); e++ {
		for f := 1.0; f < 10; f++ {
			v := f * math.Pow(10, e)
			if v < lo || v > hi {
				continue
			}
			t := plot.Tick{Value: v}
			if f == 1 || fives && (f == 2 || f == 5) {
				t.Label = ShortSize(v)
			}
			list = append(list, t)
		}
	}
	return list
}

// ShortSize is a size in thousands or millions where that is shorter.
func ShortSize(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.4gM", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.4gk", v/1e3)
	}
	return fmt.Sprintf("%.4g", v)
}
