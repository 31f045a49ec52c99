package cluster

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tercet/internal/cluster/clustertest"
	"tercet/internal/par"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// plainInertia returns the sum of squared distances to the clusters' own means,
// and the means, all in float64.
func plainInertia(x []float32, n, d, k int, labels []int32) (float64, []float64) {
	mean, size := make([]float64, k*d), make([]float64, k)
	for i := range n {
		c := int(labels[i])
		size[c]++
		for j := range d {
			mean[c*d+j] += float64(x[i*d+j])
		}
	}
	for i := range mean {
		mean[i] /= size[i/d]
	}
	var s float64
	for i := range n {
		for j := range d {
			e := float64(x[i*d+j]) - mean[int(labels[i])*d+j]
			s += e * e
		}
	}
	return s, mean
}

// Lloyd's algorithm in plain float64 loops from the same centers ends at the
// same labels after the same number of iterations.
func TestLloydAgainstLoops(t *testing.T) {
	for _, c := range []struct{ n, d, k int }{{300, 5, 7}, {200, 1, 4}, {150, 40, 12}, {500, 2, 30}, {90, 3, 1}} {
		x, _ := clustertest.Blobs(uint64(c.n), c.n, c.d, 6, 2)
		data := center(x, c.n, c.d)
		l := newLloyd(data, c.k)
		if err := l.seed(context.Background(), rng.New(5, "test")); err != nil {
			t.Fatal(err)
		}
		centers := slices.Clone(l.center)
		got, converged, err := l.iterate(context.Background(), 300, -1, func(int) {})
		if err != nil || !converged {
			t.Fatal(converged, err)
		}
		labels, iterations := make([]int32, c.n), 0
		for {
			iterations++
			changed := iterations == 1
			for i := range c.n {
				best, at := math.Inf(1), 0
				for k := range c.k {
					var s float64
					for j := range c.d {
						e := float64(data.x[i*c.d+j]) - centers[k*c.d+j]
						s += e * e
					}
					if s < best {
						best, at = s, k
					}
				}
				changed = changed || labels[i] != int32(at)
				labels[i] = int32(at)
			}
			if !changed {
				break
			}
			_, centers = plainInertia(data.x, c.n, c.d, c.k, labels)
		}
		if !slices.Equal(labels, l.labels) || got != iterations {
			t.Errorf("n %d d %d k %d: labels or iterations (%d, want %d) differ", c.n, c.d, c.k, got, iterations)
		}
	}
}

func TestKMeansBlobs(t *testing.T) {
	n, d, k := 600, 8, 9
	x, truth := clustertest.Blobs(3, n, d, k, 20)
	for i := range x { // far from the origin: needs centering
		x[i] += 1000
	}
	r, err := KMeans(context.Background(), x, n, d, KMeansOptions{K: k})
	if err != nil {
		t.Fatal(err)
	}
	name := map[int32]int32{}
	for i, l := range r.Labels {
		if v, ok := name[truth[i]]; ok && v != l {
			t.Fatalf("row %d: blob %d is in two clusters", i, truth[i])
		}
		name[truth[i]] = l
	}
	want, mean := plainInertia(x, n, d, k, r.Labels)
	if len(name) != k || !testutil.WithinRelative(r.Inertia, want, 1e-5) {
		t.Errorf("%d blobs, inertia %v, want %v", len(name), r.Inertia, want)
	}
	for i, v := range r.Centers {
		if !testutil.WithinRelative(float64(v), mean[i], 1e-6) {
			t.Fatalf("center %d column %d: %v, want %v", i/d, i%d, v, mean[i])
		}
	}
	size := make([]int, k)
	for _, l := range r.Labels {
		size[l]++
	}
	if !slices.Equal(size, r.Sizes) || !r.Converged || len(r.Warnings) > 0 || r.Restart < 0 || r.Restart > 9 || r.Iterations < 1 {
		t.Errorf("sizes %v, want %v; %+v", r.Sizes, size, r)
	}
}

// All partitions of 12 rows into at most 3 clusters: the restarts find the best.
func TestKMeansOptimum(t *testing.T) {
	for seed := range uint64(5) {
		n, d, k := 12, 2, 3
		x, _ := clustertest.Blobs(seed, n, d, 3, 1)
		best := math.Inf(1)
		labels := make([]int32, n)
		for code := range 531441 { // 3^12
			if code%3 > 0 { // the first row is in cluster 0
				continue
			}
			seen := [3]bool{}
			for i, c := 0, code; i < n; i, c = i+1, c/3 {
				labels[i] = int32(c % 3)
				seen[c%3] = true
			}
			if seen[1] && seen[2] {
				s, _ := plainInertia(x, n, d, k, labels)
				best = min(best, s)
			}
		}
		r, err := KMeans(context.Background(), x, n, d, KMeansOptions{K: k, Seed: seed, Restarts: 20, Tolerance: -1})
		if err != nil {
			t.Fatal(err)
		}
		if !testutil.WithinRelative(r.Inertia, best, 1e-6) {
			t.Errorf("seed %d: inertia %v, the optimum is %v", seed, r.Inertia, best)
		}
	}
}

func TestKMeansEdges(t *testing.T) {
	run := func(x []float32, n, d, k int) *KMeansResult {
		t.Helper()
		r, err := KMeans(context.Background(), x, n, d, KMeansOptions{K: k, Restarts: 3})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, s := range r.Sizes {
			sum += s
		}
		if len(r.Labels) != n || len(r.Centers) != k*d || len(r.Sizes) != k || sum != n {
			t.Fatalf("n %d d %d k %d: %+v", n, d, k, r)
		}
		return r
	}
	if r := run([]float32{4, -2}, 1, 2, 1); !slices.Equal(r.Centers, []float32{4, -2}) || r.Inertia != 0 || len(r.Warnings) > 0 {
		t.Errorf("one row: %+v", r)
	}
	x, _ := clustertest.Blobs(8, 50, 3, 5, 1)
	if r := run(x, 50, 3, 50); r.Inertia != 0 || slices.Max(r.Sizes) != 1 {
		t.Errorf("k = n: inertia %v, sizes %v", r.Inertia, r.Sizes)
	}
	r := run(x, 50, 3, 1)
	if want, _ := plainInertia(x, 50, 3, 1, make([]int32, 50)); !testutil.WithinRelative(r.Inertia, want, 1e-6) {
		t.Errorf("k = 1: inertia %v, want %v", r.Inertia, want)
	}
	if r := run([]float32{1, 2, 10, 11, 12}, 5, 1, 2); !testutil.WithinRelative(r.Inertia, 2.5, 1e-6) || r.Labels[0] != r.Labels[1] || r.Labels[2] != r.Labels[4] {
		t.Errorf("one dimension: %+v", r)
	}
	same := make([]float32, 30)
	for i := range same {
		same[i] = 7.3
	}
	if r := run(same, 10, 3, 4); r.Inertia != 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "only 1 distinct row: 3 of the 4") {
		t.Errorf("constant data: %+v", r)
	}
	pairs := []float32{0, 0, 0, 5, 5, 5, 9, 9}
	if r := run(pairs, 8, 1, 5); r.Inertia != 0 || !strings.Contains(strings.Join(r.Warnings, ""), "only 3 distinct rows: 2 of the 5") {
		t.Errorf("3 distinct rows: %+v", r)
	}
	if r := run([]float32{3e38, -3e38, 3e38, -3e38}, 4, 1, 2); r.Labels[0] != r.Labels[2] || r.Labels[0] == r.Labels[1] || r.Inertia != 0 {
		t.Errorf("huge data: %+v", r)
	}
	if r := run([]float32{3e-40, -3e-40, 3e-40, -3e-40}, 4, 1, 2); r.Labels[0] != r.Labels[2] || r.Labels[0] == r.Labels[1] {
		t.Errorf("tiny data: %+v", r)
	}
	if r, err := KMeans(context.Background(), x, 50, 3, KMeansOptions{K: 5, MaxIterations: 1, Restarts: 1}); err != nil || r.Converged || len(r.Warnings) != 1 {
		t.Errorf("one iteration: %+v %v", r, err)
	}
}

// A center that no row is nearest to moves to the row farthest from its own.
func TestRefill(t *testing.T) {
	x := []float32{-3, -2, -1, 0, 1, 20}
	l := newLloyd(center(x, 6, 1), 3)
	far := 1e3
	copy(l.center, []float64{0, far, -far})
	if err := l.assign(context.Background()); err != nil {
		t.Fatal(err)
	}
	l.move()
	if !slices.Equal(l.size, []int{4, 1, 1}) || l.labels[5] != 1 || l.labels[0] != 2 {
		t.Fatalf("sizes %v, labels %v", l.size, l.labels)
	}
	want := []float32{-.5, 20, -3}
	for i, v := range l.original() {
		if !testutil.WithinRelative(float64(v), float64(want[i]), 1e-6) {
			t.Errorf("centers %v, want %v", l.original(), want)
		}
	}
}

func TestKMeansBadInput(t *testing.T) {
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		x    []float32
		n, d int
		o    KMeansOptions
		want string
	}{
		"none":  {nil, 0, 1, KMeansOptions{K: 1}, "no rows"},
		"flat":  {nil, 3, 0, KMeansOptions{K: 1}, "0 dimensions"},
		"short": {make([]float32, 5), 3, 2, KMeansOptions{K: 1}, "need 6 numbers, got 5"},
		"nan":   {[]float32{0, 1, 2, nan, 4, 5}, 3, 2, KMeansOptions{K: 1}, "row 1 column 1 is NaN"},
		"k 0":   {make([]float32, 6), 3, 2, KMeansOptions{}, "k = 0 clusters of 3 rows"},
		"k > n": {make([]float32, 6), 3, 2, KMeansOptions{K: 4}, "k = 4 clusters of 3 rows"},
		"limit": {make([]float32, 6), 3, 2, KMeansOptions{K: 2, Restarts: -1}, "negative"},
	} {
		if _, err := KMeans(context.Background(), c.x, c.n, c.d, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := KMeans(stopped, make([]float32, 6), 3, 2, KMeansOptions{K: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestKMeansThreads(t *testing.T) {
	defer par.SetThreads(par.Threads())
	x, _ := clustertest.Blobs(11, 3000, 40, 12, .5) // several chunks of rows and of columns
	var want *KMeansResult
	for _, threads := range []int{1, 2, 3} {
		par.SetThreads(threads)
		r, err := KMeans(context.Background(), x, 3000, 40, KMeansOptions{K: 12, Restarts: 2})
		if err != nil {
			t.Fatal(err)
		}
		if want != nil && !reflect.DeepEqual(r, want) {
			t.Errorf("%d threads differ", threads)
		}
		want = r
	}
	other, err := KMeans(context.Background(), x, 3000, 40, KMeansOptions{K: 12, Restarts: 2, Seed: 1})
	if err != nil || slices.Equal(other.Labels, want.Labels) {
		t.Errorf("another seed gives the same labels (%v)", err)
	}
}

func TestLloydAllocatesNothing(t *testing.T) {
	x, _ := clustertest.Blobs(2, 500, 40, 5, 1)
	l := newLloyd(center(x, 500, 40), 5)
	if err := l.seed(context.Background(), rng.New(1, "test")); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(5, func() {
		if err := l.assign(context.Background()); err != nil {
			t.Error(err)
		}
		l.move()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// In the place of the data there are the same bits, and where nothing is allowed the data
// stay as they are.
func TestKMeansOverwrite(t *testing.T) {
	t.Parallel()
	const n, d, k = 203, 19, 7
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float32, n*d)
	for i := range x {
		x[i] = float32(r.NormFloat64() + float64(i/d%k)*2 + 3)
	}
	for _, o := range []KMeansOptions{{K: k, Restarts: 3}, {K: k, Restarts: 2, Spherical: true}, {K: k, Restarts: 2, MiniBatch: 64}} {
		kept := slices.Clone(x)
		want, err := KMeans(context.Background(), kept, n, d, o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(kept, x) {
			t.Errorf("%+v: the data have changed", o)
		}
		o.Overwrite = true
		got, err := KMeans(context.Background(), kept, n, d, o)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: %+v, want %+v", o, got, want)
		}
		if slices.Equal(kept, x) != (o.MiniBatch > 0) {
			t.Errorf("%+v: rows are not where the data were", o)
		}
	}
}
