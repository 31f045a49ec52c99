package metric

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/rng"
)

// plainDistances are a mean and quantiles from the definitions: of sorted distances the
// first that is not exceeded by so many of them.
func plainDistances(list []float64) Distances {
	at := func(p float64) float64 {
		for _, d := range slices.Sorted(slices.Values(list)) {
			n := 0
			for _, e := range list {
				if e <= d {
					n++
				}
			}
			if float64(n) >= p*float64(len(list))-1e-9 {
				return d
			}
		}
		return math.NaN()
	}
	sum := 0.0
	for _, d := range list {
		sum += d
	}
	return Distances{sum / float64(len(list)), at(0.05), at(0.25), at(0.5), at(0.75), at(0.95)}
}

// Against plain loops over pairs and over classes, sorted and in bins.
func TestDistancesOfPairs(t *testing.T) {
	t.Parallel()
	r := rng.New(7, "verification")
	for _, c := range []struct {
		n, d, k int
		spread  float64
	}{{12, 1, 2, 1}, {40, 7, 5, 0.3}, {60, 20, 9, 1}} {
		x, y := blobsOf(r, c.n, c.d, c.k, c.spread)
		y[0], y[1], y[2] = 1, 1, 2
		y[3] = 1000 // alone in its class
		kinds := map[bool][]float64{}
		for _, p := range plainPairs(x, c.d, y) {
			kinds[p.same] = append(kinds[p.same], p.d)
		}
		var means []float64
		for _, class := range slices.Compact(slices.Sorted(slices.Values(y))) {
			sum, n := 0.0, 0.0
			for i := range y {
				for j := range i {
					if y[i] == class && y[j] == class {
						s := 0.0
						for k := range c.d {
							s += math.Pow(float64(x[i*c.d+k])-float64(x[j*c.d+k]), 2)
						}
						sum, n = sum+math.Sqrt(s), n+1
					}
				}
			}
			if n > 0 {
				means = append(means, sum/n)
			}
		}
		mean, square := 0.0, 0.0
		for _, m := range means {
			mean += m / float64(len(means))
			square += m * m / float64(len(means))
		}
		within := ClassDistances{mean, slices.Min(means), slices.Max(means), math.Sqrt(square-mean*mean) / mean}
		for _, exact := range []int64{exactPairs, 0} {
			v := mustVerify(t, x, c.d, y, 1, exact)
			tolerance := 1e-12
			if exact == 0 {
				tolerance = 1e-2 // a bin of few pairs
			}
			for what, pair := range map[string][2]Distances{
				"same": {v.SameDistances, plainDistances(kinds[true])}, "different": {v.DifferentDistances, plainDistances(kinds[false])},
			} {
				got, want := pair[0], pair[1]
				for k, g := range []float64{got.Mean, got.P5, got.P25, got.Median, got.P75, got.P95} {
					if w := []float64{want.Mean, want.P5, want.P25, want.Median, want.P75, want.P95}[k]; math.Abs(g-w) > tolerance*w {
						t.Errorf("%+v, exact %d, %s: %+v, want %+v", c, exact, what, got, want)
						break
					}
				}
			}
			for k, g := range []float64{v.Within.Mean, v.Within.Least, v.Within.Greatest, v.Within.RelativeSD} {
				if w := []float64{within.Mean, within.Least, within.Greatest, within.RelativeSD}[k]; math.Abs(g-w) > 1e-9 {
					t.Errorf("%+v: within %+v, want %+v", c, v.Within, within)
				}
			}
		}
	}
}

// Many pairs: bins that follow the data leave means and quantiles nearly where they are.
// A class above mostOfClass counts by items that are evenly spread.
func TestDistancesOfManyPairs(t *testing.T) {
	t.Parallel()
	const n, d = 1600, 4
	x, y := blobsOf(rng.New(8, "verification"), n, d, 3, 0.5)
	binned, sorted := mustVerify(t, x, d, y, 1, exactPairs), mustVerify(t, x, d, y, 1, math.MaxInt64)
	for k, g := range []float64{binned.SameDistances.Mean, binned.DifferentDistances.Mean, binned.SameDistances.Median, binned.DifferentDistances.P95} {
		w := []float64{sorted.SameDistances.Mean, sorted.DifferentDistances.Mean, sorted.SameDistances.Median, sorted.DifferentDistances.P95}[k]
		if math.Abs(g-w) > 1e-4*w {
			t.Errorf("%d: %v, sorted %v", k, g, w)
		}
	}
	items := make([]int32, 10)
	for i := range items {
		items[i] = int32(i)
	}
	if got := spread(items, 4); !slices.Equal(got, []int32{0, 2, 5, 7}) {
		t.Errorf("%v", got)
	}
	if m := meanDistance([]float32{0, 3, 7}, 1, []int32{0, 1, 2}); m != (3+4+7)/3.0 {
		t.Errorf("mean %v", m)
	}
	same, zero := mustVerify(t, make([]float32, 4), 1, []int32{0, 0, 1, 1}, 1, exactPairs), ClassDistances{}
	if same.Within != zero || same.SameDistances != (Distances{}) {
		t.Errorf("points that coincide: %+v", same)
	}
}
