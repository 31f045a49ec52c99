package metric

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"tercet/internal/record"
	"tercet/internal/stat"
)

// The mean of many independent values is close to normal: the bootstrap interval
// is 1.96 standard errors on each side, for every score at once.
func TestBootstrapAgainstNormal(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	const n = 2000
	s := record.Scores{{Key: "recall@1", Value: record.Value{}}, {Key: "map", Value: record.Value{}}}
	values := make([]float64, n*2)
	var square [2]float64
	for q := range n {
		if r.Float64() < .3 {
			values[q*2] = 1
		}
		values[q*2+1] = r.Float64()
		for i := range s {
			s[i].Value.Value += values[q*2+i] / n
		}
	}
	for q := range n {
		for i := range s {
			e := values[q*2+i] - s[i].Value.Value
			square[i] += e * e / n
		}
	}
	if err := (Intervals{Resamples: 8000}).add(context.Background(), s, values, nil); err != nil {
		t.Fatal(err)
	}
	first := *s[0].CI95
	for i := range s {
		half := 1.96 * math.Sqrt(square[i]/n)
		for side, sign := range []float64{-1, 1} {
			if got, want := s[i].CI95[side]-s[i].Value.Value, sign*half; math.Abs(got-want) > .06*half {
				t.Errorf("%s side %d: %v, want about %v", s[i].Key, side, got, want)
			}
		}
	}
	if err := (Intervals{Resamples: 2000, Seed: 1}).add(context.Background(), s, values, nil); err != nil || *s[0].CI95 == first {
		t.Errorf("another seed gives the same interval (%v)", err)
	}
	if err := (Intervals{ExactRecall: true, Resamples: 100}).add(context.Background(), s, values, nil); err != nil {
		t.Fatal(err)
	}
	if want := stat.ClopperPearson(int(math.Round(s[0].Value.Value*n)), n); *s[0].CI95 != want {
		t.Errorf("exact interval %v, want %v", *s[0].CI95, want)
	}
	s[1].CI95 = nil
	if err := (Intervals{Resamples: -1}).add(context.Background(), s, values, nil); err != nil || s[1].CI95 != nil {
		t.Errorf("no resamples: %v %v", s[1].CI95, err)
	}
	if err := (Intervals{Resamples: MaxResamples + 1}).add(context.Background(), s, values, nil); !errors.Is(err, ErrInput) {
		t.Errorf("too many resamples: error %v", err)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if err := (Intervals{}).add(stopped, s, values, nil); err == nil {
		t.Error("canceled, but no error")
	}
}
