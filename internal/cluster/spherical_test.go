package cluster

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tercet/internal/cluster/clustertest"
	"tercet/internal/par"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// Spherical k-means in plain float64 loops from the same centers ends at the same
// labels after the same number of iterations.
func TestSphericalAgainstLoops(t *testing.T) {
	for _, c := range []struct{ n, d, k int }{{300, 5, 7}, {150, 40, 12}, {500, 2, 30}, {90, 3, 1}} {
		x, _ := clustertest.Blobs(uint64(c.n), c.n, c.d, 6, 2)
		f, err := unitFrame(x, c.n, c.d)
		if err != nil {
			t.Fatal(err)
		}
		data := f.all(x, c.n)
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
				best, at := math.Inf(-1), 0
				for k := range c.k {
					var s float64
					for j := range c.d {
						s += float64(data.x[i*c.d+j]) * centers[k*c.d+j]
					}
					if s > best {
						best, at = s, k
					}
				}
				changed = changed || labels[i] != int32(at)
				labels[i] = int32(at)
			}
			if !changed {
				break
			}
			clear(centers)
			for i, k := range labels {
				for j := range c.d {
					centers[int(k)*c.d+j] += float64(data.x[i*c.d+j])
				}
			}
			for k := range c.k {
				length := math.Sqrt(squareOf(centers[k*c.d : (k+1)*c.d]))
				for j := range c.d {
					centers[k*c.d+j] /= length
				}
			}
		}
		if !slices.Equal(labels, l.labels) || got != iterations {
			t.Errorf("n %d d %d k %d: labels or iterations (%d, want %d) differ", c.n, c.d, c.k, got, iterations)
		}
	}
}

// Lengths of rows do not matter, whatever they are; centers have length 1; inertia is
// 2 - 2 cos, added up.
func TestSpherical(t *testing.T) {
	const n, d, k = 500, 6, 5
	x, truth := clustertest.Blobs(4, n, d, k, 30)
	run := func(x []float32, o KMeansOptions) *KMeansResult {
		t.Helper()
		o.K, o.Spherical = k, true
		r, err := KMeans(context.Background(), x, n, d, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, o := range []KMeansOptions{{}, {MiniBatch: 100}} {
		r := run(x, o)
		clustertest.SamePartition(t, r.Labels, truth)
		long := slices.Clone(x)
		for i := range n {
			for j := range d {
				long[i*d+j] *= float32(math.Ldexp(1, i%200-100))
			}
		}
		if other := run(long, o); !reflect.DeepEqual(r, other) {
			t.Error("lengths matter")
		}
		var want float64
		for i, c := range r.Labels {
			var dot, length, unit float64
			for j := range d {
				a, b := float64(x[i*d+j]), float64(r.Centers[int(c)*d+j])
				dot += a * b
				length += a * a
				unit += b * b
			}
			want += 2 - 2*dot/math.Sqrt(length)
			if !testutil.WithinRelative(unit, 1, 1e-6) {
				t.Fatalf("center %d has length %v", c, math.Sqrt(unit))
			}
		}
		if !testutil.WithinRelative(r.Inertia, want, 1e-3) {
			t.Errorf("inertia %v, want %v", r.Inertia, want)
		}
	}
	x[7*d], x[7*d+1], x[7*d+2], x[7*d+3], x[7*d+4], x[7*d+5] = 0, 0, 0, 0, 0, 0
	if _, err := KMeans(context.Background(), x, n, d, KMeansOptions{K: 2, Spherical: true}); err == nil || !strings.Contains(err.Error(), "row 7 is zero") {
		t.Errorf("zero row: %v", err)
	}
	// Opposite rows in one cluster have no mean direction: the center stays.
	r, err := KMeans(context.Background(), []float32{1, 0, -1, 0}, 2, 2, KMeansOptions{K: 1, Spherical: true})
	if err != nil || !testutil.WithinRelative(r.Inertia, 4, 1e-6) {
		t.Errorf("opposite rows: %+v %v", r, err)
	}
}

// All rows get their nearest centers; on blobs that are apart the inertia is that of
// full k-means within a percent.
func TestMiniBatch(t *testing.T) {
	defer par.SetThreads(par.Threads())
	const n, d, k = 30000, 12, 9
	x, truth := clustertest.Blobs(14, n, d, k, 8)
	full, err := KMeans(context.Background(), x, n, d, KMeansOptions{K: k, Restarts: 2})
	if err != nil {
		t.Fatal(err)
	}
	var want *KMeansResult
	for _, threads := range []int{1, 3} {
		par.SetThreads(threads)
		steps := 0
		r, err := KMeans(context.Background(), x, n, d, KMeansOptions{K: k, MiniBatch: 500, Progress: func(_, s int) { steps = s }})
		if err != nil {
			t.Fatal(err)
		}
		if want != nil && !reflect.DeepEqual(r, want) {
			t.Errorf("%d threads differ", threads)
		}
		if want = r; steps != r.Iterations || !r.Converged || len(r.Warnings) > 0 {
			t.Errorf("%d steps, told %d; %q", r.Iterations, steps, r.Warnings)
		}
	}
	if want.Inertia > 1.01*full.Inertia || want.Inertia < full.Inertia*.999 {
		t.Errorf("inertia %v, of full k-means %v", want.Inertia, full.Inertia)
	}
	sizes := make([]int, k)
	var inertia float64
	for i, c := range want.Labels {
		sizes[c]++
		best, at := math.Inf(1), 0
		for m := range k {
			var s float64
			for j := range d {
				e := float64(x[i*d+j]) - float64(want.Centers[m*d+j])
				s += e * e
			}
			if s < best {
				best, at = s, m
			}
		}
		inertia += best
		if at != int(c) {
			t.Fatalf("row %d of blob %d: center %d, want %d", i, truth[i], c, at)
		}
	}
	if !slices.Equal(sizes, want.Sizes) || !testutil.WithinRelative(want.Inertia, inertia, 1e-6) {
		t.Errorf("sizes %v, want %v; inertia %v, want %v", want.Sizes, sizes, want.Inertia, inertia)
	}
}

func TestMiniBatchEdges(t *testing.T) {
	run := func(x []float32, n, d int, o KMeansOptions) *KMeansResult {
		t.Helper()
		r, err := KMeans(context.Background(), x, n, d, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	x, _ := clustertest.Blobs(3, 40, 2, 4, 3)
	if r, want := run(x, 40, 2, KMeansOptions{K: 4, MiniBatch: 40}), run(x, 40, 2, KMeansOptions{K: 4}); !reflect.DeepEqual(r, want) {
		t.Error("batches of all rows are not full k-means")
	}
	if r := run(x, 40, 2, KMeansOptions{K: 4, MiniBatch: 1, MaxIterations: 1}); r.Iterations > 40 || len(r.Labels) != 40 {
		t.Errorf("batches of one row: %+v", r)
	}
	same := make([]float32, 80)
	if r := run(same, 40, 2, KMeansOptions{K: 3, MiniBatch: 10}); r.Inertia != 0 || !strings.Contains(strings.Join(r.Warnings, ""), "2 of the 3 clusters are empty") {
		t.Errorf("equal rows: %+v", r)
	}
	if r := run(x, 40, 2, KMeansOptions{K: 39, MiniBatch: 2, Seed: 2}); r.Inertia > 10 {
		t.Errorf("k about n: %+v", r)
	}
	if _, err := KMeans(context.Background(), x, 40, 2, KMeansOptions{K: 3, MiniBatch: -1}); err == nil || !strings.Contains(err.Error(), "negative") {
		t.Errorf("negative batch: %v", err)
	}
}
