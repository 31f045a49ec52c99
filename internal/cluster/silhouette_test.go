package cluster

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tercet/internal/cluster/clustertest"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// plainSilhouette returns the coefficients by loops over all pairs, NaN for noise.
func plainSilhouette(x []float32, n, d int, labels []int32) []float64 {
	out := make([]float64, n)
	for i := range n {
		sum, count := map[int32]float64{}, map[int32]float64{}
		for k := range n {
			if k != i && labels[k] >= 0 {
				sum[labels[k]] += math.Sqrt(clustertest.Squared(x, d, i, k))
				count[labels[k]]++
			}
		}
		own := labels[i]
		switch {
		case own < 0:
			out[i] = math.NaN()
			continue
		case count[own] == 0:
			continue
		}
		a, b := sum[own]/count[own], math.Inf(1)
		for c := range sum {
			if c != own {
				b = min(b, sum[c]/count[c])
			}
		}
		if max(a, b) > 0 {
			out[i] = (b - a) / max(a, b)
		}
	}
	return out
}

func TestSilhouetteAgainstLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for _, c := range []struct {
		n, d, k int
		spread  float64
	}{{2200, 5, 4, 3}, {150, 40, 12, .3}, {90, 1, 30, 20}, {30, 2, 29, 1}, {3, 2, 2, 1}} {
		x, labels := clustertest.Blobs(uint64(c.n), c.n, c.d, c.k, c.spread)
		for i := range x {
			x[i] += 1000
		}
		for i := range labels { // some clusters of one row, some noise, some numbers unused
			labels[i] = labels[i]*3 + 2
			if r.IntN(10) == 0 && c.n > 3 {
				labels[i] = int32(r.IntN(c.n) - 20)
			}
		}
		labels[0], labels[1], labels[2] = 0, 0, 1
		copy(x[:c.d], x[c.d:2*c.d]) // equal rows
		all := plainSilhouette(x, c.n, c.d, labels)
		var sum, count float64
		for _, v := range all {
			if !math.IsNaN(v) {
				sum += v
				count++
			}
		}
		got, err := Silhouette(context.Background(), x, c.n, c.d, labels, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got-sum/count) > 1e-6 {
			t.Errorf("n %d: %v, want %v", c.n, got, sum/count)
		}
		// A sample: the rows drawn, against all others.
		m := int(count) / 3
		sum = 0
		kept := slices.DeleteFunc(slices.Clone(all), math.IsNaN)
		for _, i := range draw(rng.New(9, "cluster/silhouette"), int(count), m) {
			sum += kept[i]
		}
		if got, err = Silhouette(context.Background(), x, c.n, c.d, labels, m, 9); m > 0 && (err != nil || math.Abs(got-sum/float64(m)) > 1e-6) {
			t.Errorf("n %d, sample %d: %v (%v), want %v", c.n, m, got, err, sum/float64(m))
		}
	}
}

func TestSilhouetteEdges(t *testing.T) {
	ctx := context.Background()
	equal := make([]float32, 12)
	if s, err := Silhouette(ctx, equal, 6, 2, []int32{0, 0, 0, 1, 1, 1}, 0, 0); s != 0 || err != nil {
		t.Errorf("equal rows: %v %v", s, err)
	}
	two := []float32{0, 0, 0, 8, 8, 8}
	if s, err := Silhouette(ctx, two, 6, 1, []int32{0, 0, 0, 1, 1, 1}, 0, 0); s != 1 || err != nil {
		t.Errorf("two places: %v %v", s, err)
	}
	for name, c := range map[string]struct {
		x      []float32
		labels []int32
		sample int
		want   string
	}{
		"one":    {two, make([]int32, 6), 0, "1 clusters of 6 rows"},
		"single": {two, []int32{0, 1, 2, 3, 4, 5}, 0, "6 clusters of 6 rows"},
		"noise":  {two, []int32{-1, -1, -1, -1, 0, 0}, 0, "1 clusters of 2 rows"},
		"none":   {two, []int32{-1, -1, -1, -1, -1, -1}, 0, "0 clusters of 0 rows"},
		"short":  {two, []int32{0, 1}, 0, "2 labels of 6 rows"},
		"sample": {two, []int32{0, 0, 0, 1, 1, 1}, -1, "a sample of -1 rows"},
		"nan":    {[]float32{0, 1, 2, float32(math.NaN()), 0, 0}, []int32{0, 0, 0, 1, 1, 1}, 0, "row 3 column 0 is NaN"},
	} {
		if _, err := Silhouette(ctx, c.x, 6, 1, c.labels, c.sample, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Silhouette(stopped, two, 6, 1, []int32{0, 0, 0, 1, 1, 1}, 0, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestSilhouetteThreads(t *testing.T) {
	defer par.SetThreads(par.Threads())
	x, labels := clustertest.Blobs(2, 1500, 9, 40, 1)
	var want float64
	for i, threads := range []int{1, 3} {
		par.SetThreads(threads)
		s, err := Silhouette(context.Background(), x, 1500, 9, labels, 0, 0)
		if err != nil || i > 0 && s != want {
			t.Errorf("%d threads: %v %v, want %v", threads, s, err, want)
		}
		want = s
	}
}

// The number of blobs has the largest silhouette, and what is reported of each k is
// what k-means and the silhouette say of it.
func TestChooseK(t *testing.T) {
	ctx := context.Background()
	const n, d = 400, 4
	x, _ := clustertest.Blobs(5, n, d, 6, 20)
	o := KMeansOptions{Restarts: 5, Seed: 3}
	c, err := ChooseK(ctx, x, n, d, []int{9, 2, 6, 4, 6, 7}, o, 0)
	if err != nil || c.K != 6 || !slices.Equal(c.Ks, []int{2, 4, 6, 7, 9}) {
		t.Fatalf("%+v %v", c, err)
	}
	for i, k := range c.Ks {
		o.K = k
		r, err := KMeans(ctx, x, n, d, o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Silhouette(ctx, x, n, d, r.Labels, 0, 0)
		if err != nil || s != c.Silhouette[i] || r.Inertia != c.Inertia[i] || k == 6 && !slices.Equal(r.Labels, c.Best.Labels) {
			t.Errorf("k %d: %v %v, silhouette %v, inertia %v", k, err, c.Silhouette[i], s, r.Inertia)
		}
	}
	// Directions: lengths do not matter.
	long := slices.Clone(x)
	for i := range n {
		for j := range d {
			long[i*d+j] *= float32(int(1) << (i % 5))
		}
	}
	o.Spherical = true
	a, err := ChooseK(ctx, x, n, d, []int{3, 4}, o, 100)
	b, err2 := ChooseK(ctx, long, n, d, []int{3, 4}, o, 100)
	if err != nil || err2 != nil || !slices.Equal(a.Silhouette, b.Silhouette) {
		t.Errorf("%v %v %v %v", err, err2, a, b)
	}
	for name, c := range map[string]struct {
		ks   []int
		want string
	}{"none": {nil, "no numbers"}, "one": {[]int{1, 2}, "numbers of clusters 1 to 2 of 400 rows"}, "n": {[]int{2, 400}, "defined for 2 to 399"}} {
		if _, err := ChooseK(ctx, x, n, d, c.ks, KMeansOptions{}, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ChooseK(ctx, make([]float32, n*d), n, d, []int{2}, KMeansOptions{}, 0); err == nil || !strings.Contains(err.Error(), "choosing k, at 2") {
		t.Errorf("equal rows: %v", err)
	}
}
