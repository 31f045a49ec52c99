package cluster

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"tercet/internal/cluster/clustertest"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// plainLabels gives each row its nearest center by float64 loops, the lower of
// equals.
func plainLabels(l *lloyd) []int32 {
	d := l.data.d
	labels := make([]int32, l.data.n)
	for i := range labels {
		best := math.Inf(1)
		for c := range l.k {
			var s float64
			for j := range d {
				e := float64(l.data.x[i*d+j]) - l.center[c*d+j]
				s += e * e
			}
			if s < best {
				best, labels[i] = s, int32(c)
			}
		}
	}
	return labels
}

// Products of float32 and bounds by bytes give the labels of plain loops at all
// levels, whatever ties and lengths the data hold.
func TestAssignAgainstLoops(t *testing.T) {
	const n, d = 700, 67 // not whole blocks
	r := rand.New(rand.NewPCG(41, 1))
	normal := func(n int) []float32 {
		x := make([]float32, n*d)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	clusters, _ := clustertest.Blobs(5, n, d, 30, 3)
	equal := make([]float32, n*d)
	for i := range equal {
		equal[i] = float32(i / d % 5)
	}
	rows := func(l *lloyd) {
		for c := range l.k {
			l.setCenter(c, c*11%n)
		}
	}
	for _, v := range []struct {
		name   string
		x      []float32
		k      int
		center func(l *lloyd)
		loose  bool // bounds leave too much somewhere
	}{
		{"normal", normal(n), 40, rows, false},
		{"one center", normal(n), 1, rows, true},
		{"two centers", normal(n), 2, rows, true},
		{"clusters", clusters, 30, rows, false},
		{"five places", equal, 12, rows, true},
		{"means", normal(n), 20, func(l *lloyd) {
			for i := range l.center {
				l.center[i] = .02 * r.NormFloat64()
			}
		}, false},
		{"near ties", normal(n), 9, func(l *lloyd) {
			for j := range d {
				v := .01 * r.NormFloat64()
				for c := range l.k {
					l.center[c*d+j] = v + 1e-9*r.NormFloat64()
				}
			}
			copy(l.center[8*d:], l.center[3*d:4*d])
		}, true},
		{"one far away", normal(n), 33, func(l *lloyd) {
			rows(l)
			for j := range d {
				l.center[7*d+j] = 1e6
			}
		}, false},
		{"zero centers", normal(n), 3, func(l *lloyd) {}, true},
	} {
		data := center(v.x, n, d)
		for _, level := range kernel.Levels() {
			restore, err := kernel.Force(level)
			if err != nil {
				t.Fatal(err)
			}
			for _, bytes := range []bool{false, true} {
				l := newLloyd(data, v.k)
				l.data.bytes.forced = bytes
				v.center(l)
				if err := l.assign(context.Background()); err != nil {
					t.Fatal(err)
				}
				if want := plainLabels(l); !slices.Equal(l.labels, want) {
					t.Errorf("%s %s, bytes %v: labels differ", level, v.name, bytes)
				}
				size := make([]int, v.k)
				for _, c := range l.labels {
					size[c]++
				}
				if !slices.Equal(size, l.size) {
					t.Errorf("%s %s, bytes %v: sizes %v, want %v", level, v.name, bytes, l.size, size)
				}
				if b := &l.data.bytes; bytes && (b.tried.Load() != 6 || v.loose && b.loose.Load() == 0 || !v.loose && 2*b.loose.Load() > 6) {
					t.Errorf("%s %s: %d of %d blocks of bounds were loose", level, v.name, b.loose.Load(), b.tried.Load())
				}
			}
			restore()
		}
	}
}

// Several starts in step end as each does alone.
func TestStartsInStep(t *testing.T) {
	const n, d, k = 900, 17, 6
	x, _ := clustertest.Blobs(12, n, d, 8, .4)
	data := center(x, n, d)
	p := newPoints(data)
	var together []*lloyd
	for s := range 7 {
		l := newStart(p, k)
		for c := range k {
			l.setCenter(c, (s*31+c*17)%n)
		}
		together = append(together, l)
	}
	ended := 0
	if err := iterate(context.Background(), together, 40, 1e-4*data.variance, func(e, _ int) {
		if e < ended {
			t.Errorf("%d starts ended after %d", e, ended)
		}
		ended = e
	}); err != nil || ended != 7 {
		t.Fatal(err, ended)
	}
	for s, l := range together {
		alone := newLloyd(data, k)
		for c := range k {
			alone.setCenter(c, (s*31+c*17)%n)
		}
		iterations, converged, err := alone.iterate(context.Background(), 40, 1e-4*data.variance, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(alone.labels, l.labels) || !slices.Equal(alone.center, l.center) || !slices.Equal(alone.size, l.size) || iterations != l.iterations || converged != l.converged {
			t.Errorf("start %d: %d iterations together, %d alone", s, l.iterations, iterations)
		}
	}
}

func TestKMeansManyCentersThreads(t *testing.T) {
	defer par.SetThreads(par.Threads())
	x, _ := clustertest.Blobs(13, 3000, 70, 40, .5)
	var want *KMeansResult
	for _, threads := range []int{1, 2, 3} {
		par.SetThreads(threads)
		r, err := KMeans(context.Background(), x, 3000, 70, KMeansOptions{K: 50, Restarts: 3})
		if err != nil {
			t.Fatal(err)
		}
		if want != nil && !reflect.DeepEqual(r, want) {
			t.Errorf("%d threads differ", threads)
		}
		want = r
	}
}

// More clusters than distinct rows, with as many columns and clusters as bounds
// by bytes are used for.
func TestKMeansFewDistinctRows(t *testing.T) {
	const n, d, k = 300, 64, 40
	x := make([]float32, n*d)
	for i := range x {
		x[i] = float32((i/d%5+1)*(i%d%7) - 9)
	}
	r, err := KMeans(context.Background(), x, n, d, KMeansOptions{K: k, Restarts: 2})
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for c, size := range r.Sizes {
		if size > 0 {
			used++
			if size != n/5 {
				t.Errorf("cluster %d has %d rows", c, size)
			}
		}
	}
	for i, l := range r.Labels {
		if l != r.Labels[i%5] {
			t.Fatalf("row %d is in cluster %d, row %d, its equal, in %d", i, l, i%5, r.Labels[i%5])
		}
	}
	if used != 5 || r.Inertia > 1e-9 || len(r.Warnings) != 1 {
		t.Errorf("%d clusters, inertia %v, %q", used, r.Inertia, r.Warnings)
	}
}

// Bounds wait after an assignment in which they did not pay, longer each time.
func TestBytesWait(t *testing.T) {
	var b bytePoints
	for _, want := range []int{0, 1, 2, 4} {
		b.use = true
		b.tried.Store(10)
		b.loose.Store(6)
		b.throttle()
		if b.skip != want {
			t.Fatalf("skip %d, want %d", b.skip, want)
		}
	}
	b.loose.Store(5)
	if b.throttle(); b.skip != 0 {
		t.Errorf("skip %d after bounds that paid", b.skip)
	}
}
