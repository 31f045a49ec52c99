package metric

import (
	"context"
	"math"
	"testing"

	"tercet/internal/record"
	"tercet/internal/rng"
)

// The interval of a mean of 400 uniform numbers is close to the normal one,
// mean +- 1.96 sd/sqrt(n), and a constant column has an interval of width 0.
func TestMeans(t *testing.T) {
	r := rng.New(5, "means")
	const n = 400
	values := make([]float64, 2*n)
	var sum, squares float64
	for i := range n {
		v := r.Float64()
		values[2*i], values[2*i+1] = v, 3
		sum += v
		squares += v * v
	}
	s, err := Means(context.Background(), record.Scores{{Key: "a"}, {Key: "b"}}, values, Intervals{Resamples: 4000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	mean := sum / n
	half := 1.96 * math.Sqrt((squares/n-mean*mean)/n)
	if math.Abs(s[0].Value.Value-mean) > 1e-12 {
		t.Fatalf("mean %v, want %v", s[0].Value.Value, mean)
	}
	for i, want := range []float64{mean - half, mean + half} {
		if got := s[0].CI95[i]; math.Abs(got-want) > 0.1*half {
			t.Errorf("bound %d: %v, want about %v", i, got, want)
		}
	}
	column := make([]float64, n)
	for i := range column {
		column[i] = values[2*i]
	}
	if got := (Intervals{Resamples: 4000, Seed: 1}).OfMean(column); got != *s[0].CI95 {
		t.Errorf("of one column %v, want %v", got, *s[0].CI95)
	}
	if s[1].Value.Value != 3 || s[1].CI95[0] != 3 || s[1].CI95[1] != 3 {
		t.Errorf("constant column: %+v", s[1])
	}
	if _, err := Means(context.Background(), record.Scores{{Key: "a"}, {Key: "b"}}, values[:3], Intervals{}); err == nil {
		t.Error("a ragged table was accepted")
	}
}
