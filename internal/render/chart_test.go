package render

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

func TestSizeTicks(t *testing.T) {
	for want, ends := range map[string][2]float64{
		"2000 5000 10k 20k 50k": {1500, 60000}, "1 10 100 1000 10k": {1, 10000}, "500k 1M 2M": {400000, 3e6},
	} {
		var got []string
		for _, tick := range (sizeTicks{}).Ticks(ends[0], ends[1]) {
			if tick.Label != "" {
				got = append(got, tick.Label)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v: %q, want %s", ends, got, want)
		}
	}
}

func TestChartRefuses(t *testing.T) {
	bar := func(v float64) Bar { return Bar{v, v, v} }
	for want, p := range map[string]ChartPanel{
		"no finite values":                {Traces: []Trace{{X: []float64{1}, Y: []Bar{bar(math.NaN())}}}},
		"1 places and 2 values":           {Traces: []Trace{{X: []float64{1}, Y: []Bar{bar(1), bar(2)}}}},
		"is at 0":                         {LogX: true, Traces: []Trace{{X: []float64{0}, Y: []Bar{bar(1)}}}},
		fmt.Sprint("is at ", math.Inf(1)): {Traces: []Trace{{X: []float64{math.Inf(1)}, Y: []Bar{bar(1)}}}},
	} {
		c := &Chart{Cols: 1, Panels: []ChartPanel{p}}
		if err := c.Write(filepath.Join(t.TempDir(), "x")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
