package experiment

import (
	"math"
	"testing"
)

// Weighted by batchWeight, a plain mean over queries is the mean of batch means.
func TestBatchWeight(t *testing.T) {
	for _, c := range []struct{ n, batch int }{{129, 128}, {256, 128}, {10, 3}, {5, 8}, {300, 0}} {
		batch := c.batch
		if batch == 0 {
			batch = 128
		}
		value := func(i int) float64 { return math.Sin(float64(i)) }
		var means, weighted float64
		batches := 0
		for lo := 0; lo < c.n; lo += batch {
			hi := min(lo+batch, c.n)
			sum := 0.0
			for i := lo; i < hi; i++ {
				sum += value(i)
			}
			means += sum / float64(hi-lo)
			batches++
		}
		for i := range c.n {
			weighted += batchWeight(i, c.n, c.batch) * value(i) / float64(c.n)
		}
		if want := means / float64(batches); math.Abs(weighted-want) > 1e-12 {
			t.Errorf("%d queries in batches of %d: %v, want %v", c.n, c.batch, weighted, want)
		}
	}
}
