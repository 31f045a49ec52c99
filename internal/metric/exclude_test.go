package metric

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tercet/internal/record"
)

// excluding is an exclusion in which queries of even number are gallery items too, and a
// third of all items have groups.
func excluding(r *rand.Rand, n, ng int) *Exclusion {
	e := &Exclusion{Own: make([]int32, n), Query: make([]int32, n), Gallery: make([]int32, ng)}
	for _, list := range [][]int32{e.Query, e.Gallery} {
		for i := range list {
			list[i] = int32(r.IntN(30)) - 20
		}
	}
	for q := range e.Own {
		if e.Own[q] = -1; q%2 == 0 {
			e.Own[q] = int32(r.IntN(ng))
		}
	}
	return e
}

func (e *Exclusion) has(q, j int) bool {
	return e.Own != nil && e.Own[q] == int32(j) || e.Query != nil && e.Query[q] >= 0 && e.Query[q] == e.Gallery[j]
}

// Against sorting by float64 what is not excluded.
func TestRetrieveWithExclusion(t *testing.T) {
	t.Parallel()
	ks := []int{1, 3, 200}
	for _, c := range []struct{ n, ng, d, size, classes int }{
		{120, 90, 3, 4, 6}, {60, 150, 2, 30, 40}, {80, 70, 1, 2, 2}, {50, 40, 4, 1, 3},
	} {
		r := rand.New(rand.NewPCG(11, uint64(c.n)))
		x, y := grid(r, c.n, c.d, c.size), randomLabels(r, c.n, c.classes)
		g, gy := grid(r, c.ng, c.d, c.size), randomLabels(r, c.ng, c.classes)
		all := excluding(r, c.n, c.ng)
		for name, e := range map[string]*Exclusion{"both": all, "own": {Own: all.Own}, "groups": {Query: all.Query, Gallery: all.Gallery}} {
			var query []int32
			var values [][]float64
			var order [][]int32
			for q := range c.n {
				dist, items := make([]float64, c.ng), []int32(nil)
				for j := range c.ng {
					for k := range c.d {
						dist[j] += math.Pow(float64(x[q*c.d+k])-float64(g[j*c.d+k]), 2)
					}
					if !e.has(q, j) {
						items = append(items, int32(j))
					}
				}
				slices.SortStableFunc(items, func(a, b int32) int { return int(dist[a] - dist[b]) })
				relevant := make([]bool, len(items))
				for i, j := range items {
					relevant[i] = gy[j] == y[q]
				}
				if slices.Contains(relevant, true) {
					for len(items) < c.ng {
						items = append(items, -1)
					}
					query, order = append(query, int32(q)), append(order, items)
					values = append(values, append(plainScores(relevant, ks), plainTriplets(dist, items[:len(relevant)], relevant)))
				}
			}
			got, err := Retrieve(context.Background(), x, c.n, c.d, y, RetrievalOptions{
				K: ks, Neighbors: c.ng, Gallery: g, GalleryLabels: gy, Exclude: e, Intervals: Intervals{Resamples: -1},
			})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			compare(t, got, query, values, order)
		}
	}
}

// Against plain loops over pairs, sorted and in bins: what is counted, the area, and the
// errors at false match rates with their thresholds.
func TestVerifyQueriesAndGallery(t *testing.T) {
	t.Parallel()
	const n, ng, d = 130, 170, 6
	r := rand.New(rand.NewPCG(4, 4))
	x, g := normals(r, n, d), normals(r, ng, d)
	y, gy := randomLabels(r, n, 9), randomLabels(r, ng, 12)
	for j := range g {
		g[j] += float32(gy[j/d]) * 0.02
	}
	for q := range x {
		x[q] += float32(y[q/d]) * 0.02
	}
	e := excluding(r, n, ng)
	rates := []float64{0.3, 0.01, 1e-7}
	type pair struct {
		d    float64
		same bool
	}
	var pairs []pair
	var same, different float64
	for q := range n {
		for j := range ng {
			if e.has(q, j) {
				continue
			}
			s := 0.0
			for k := range d {
				s += math.Pow(float64(x[q*d+k])-float64(g[j*d+k]), 2)
			}
			pairs = append(pairs, pair{math.Sqrt(s), y[q] == gy[j]})
			if y[q] == gy[j] {
				same++
			} else {
				different++
			}
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		if a.d < b.d {
			return -1
		}
		return 1
	})
	for _, exact := range []int64{exactPairs, 0} {
		threshold := 3.0
		v, err := verify(context.Background(), x, n, d, y, VerificationOptions{Threshold: &threshold, Gallery: g, GalleryLabels: gy, Exclude: e, FMR: rates}, exact)
		if err != nil {
			t.Fatal(err)
		}
		accepted, wrong, below, area := 0, 0, 0.0, 0.0
		for _, p := range pairs {
			if p.same {
				below++
			} else {
				area += below
			}
			if p.d <= threshold {
				accepted++
				if !p.same {
					wrong++
				}
			}
		}
		if v.Same != int64(same) || v.Different != int64(different) || v.Accepted != int64(accepted) || v.Wrong != int64(wrong) {
			t.Fatalf("%d same, %d different, %d accepted, %d wrong; want %v, %v, %d, %d", v.Same, v.Different, v.Accepted, v.Wrong, same, different, accepted, wrong)
		}
		if auc, _ := v.Scores.Get("auc"); math.Abs(auc.Value-area/same/different) > v.AUCSlack+1e-12 {
			t.Errorf("auc %v, want %v", auc.Value, area/same/different)
		}
		for i, f := range rates {
			missed, falsely, at := same, 0.0, -1.0
			for _, p := range pairs {
				if !p.same {
					falsely++
				}
				if falsely > f*different {
					break
				}
				if at = p.d; p.same {
					missed--
				}
			}
			point, tolerance := v.Points[i], 1e-12
			if exact == 0 {
				tolerance = 2 / same // a bin holds few pairs
			}
			key := []string{"0.3", "0.01", "1e-07"}[i]
			fnmr, _ := v.Scores.Get("fnmr@fmr=" + key)
			tar, _ := v.Scores.Get("tar@far=" + key)
			if math.Abs(fnmr.Value-missed/same) > tolerance || math.Abs(tar.Value-(1-missed/same)) > tolerance || math.Abs(point.Threshold-at) > 1e-12+1e-2*float64(1-min(1, exact)) {
				t.Errorf("fnmr at %v: %v, want %v; tar %v; %+v, want threshold %v", f, fnmr.Value, missed/same, tar.Value, point, at)
			}
			if ci := fnmr.CI95; ci == nil || fnmr.Value < ci[0] || fnmr.Value > ci[1] || tar.CI95[0] != 1-ci[1] {
				t.Errorf("intervals %v, %v", ci, tar.CI95)
			}
		}
	}
	for _, bad := range [][]float64{{0}, {1}, {math.NaN()}, {0.1, 0.1}} {
		if _, err := Verify(context.Background(), x, n, d, y, VerificationOptions{FMR: bad}); !errors.Is(err, ErrInput) {
			t.Errorf("rates %v: %v", bad, err)
		}
	}
}

// A bootstrap over classes of very different queries: the ratio of sums has the standard
// error of a linearized ratio (Cochran, Sampling Techniques, 3rd ed., 6.4).
func TestIntervalsOverClasses(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 8))
	const classes = 60
	var labels []int32
	var values, weights []float64
	var sum, total [classes]float64
	for k := range classes {
		for range 5 + r.IntN(10) {
			w := float64(1 + r.IntN(3))
			v := w * (math.Sin(float64(k)) + 0.1*r.NormFloat64())
			labels, values, weights = append(labels, int32(k)), append(values, v), append(weights, w)
			sum[k], total[k] = sum[k]+v, total[k]+w
		}
	}
	all, weight := 0.0, 0.0
	for k := range classes {
		all, weight = all+sum[k], weight+total[k]
	}
	mean, square := all/weight, 0.0
	for k := range classes {
		square += math.Pow(sum[k]-mean*total[k], 2)
	}
	half := 1.96 * math.Sqrt(square) / weight
	labels, values, weights = append(labels, 99), append(values, 0), append(weights, 0) // without weight
	s := record.Scores{{Key: "a", Value: record.Value{Value: mean}}}
	if err := (Intervals{Resamples: 8000, Classes: labels}).add(context.Background(), s, values, weights); err != nil {
		t.Fatal(err)
	}
	if ci := s[0].CI95; math.Abs(ci[0]-mean+half) > .08*half || math.Abs(ci[1]-mean-half) > .08*half {
		t.Errorf("%v, want about %v to %v", *ci, mean-half, mean+half)
	}
	s[0].CI95 = nil
	if err := (Intervals{Classes: make([]int32, len(values))}).add(context.Background(), s, values, nil); err != nil || s[0].CI95 != nil {
		t.Errorf("one class has an interval: %v (%v)", s[0].CI95, err)
	}
	if err := (Intervals{Classes: labels[:3]}).add(context.Background(), s, values, nil); !errors.Is(err, ErrInput) {
		t.Errorf("classes of 3 queries: %v", err)
	}
}

func TestExclusionThatDoesNotFit(t *testing.T) {
	t.Parallel()
	x, y := []float32{0, 1, 2}, []int32{1, 1, 2}
	for want, o := range map[string]RetrievalOptions{
		"separate gallery":      {Exclude: &Exclusion{Own: []int32{0, 1, 2}}},
		"3 queries and 3":       {Gallery: x, GalleryLabels: y, Exclude: &Exclusion{Own: []int32{0}}},
		"fit 3 queries":         {Gallery: x, GalleryLabels: y, Exclude: &Exclusion{Query: y}},
		"item 3 of a gallery":   {Gallery: x, GalleryLabels: y, Exclude: &Exclusion{Own: []int32{0, 3, -1}}},
		"none of the 3 queries": {Gallery: x, GalleryLabels: y, Exclude: &Exclusion{Query: y, Gallery: y}},
	} {
		if _, err := Retrieve(context.Background(), x, 3, 1, y, o); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The nearest that are not excluded, of all distances sorted.
func TestNeighborsWithExclusion(t *testing.T) {
	t.Parallel()
	const n, ng, d, k = 70, 60, 3, 50
	r := rand.New(rand.NewPCG(5, 1))
	x, g := grid(r, n, d, 6), grid(r, ng, d, 6)
	e := excluding(r, n, ng)
	e.Query[3], e.Gallery = 4, slices.Repeat([]int32{4, 4, 4, -1}, ng/4) // query 3 keeps a quarter
	index, distance := plainNeighbors(x, g, d, ng, false)
	got, err := Neighbors(context.Background(), x, n, d, NeighborOptions{K: k, Gallery: g, Exclude: e})
	if err != nil || got.K != k {
		t.Fatal(got, err)
	}
	for q := range n {
		at := q * k
		for i := q * ng; i < (q+1)*ng && at < (q+1)*k; i++ {
			if e.has(q, int(index[i])) {
				continue
			}
			if got.Index[at] != index[i] || math.Abs(got.Distance[at]-distance[i]) > 1e-12 {
				t.Fatalf("query %d: item %d at %v, want %d at %v", q, got.Index[at], got.Distance[at], index[i], distance[i])
			}
			at++
		}
		for ; at < (q+1)*k; at++ {
			if got.Index[at] != -1 || !math.IsInf(got.Distance[at], 1) {
				t.Fatalf("query %d: %d at %v beyond what there is", q, got.Index[at], got.Distance[at])
			}
		}
	}
}
