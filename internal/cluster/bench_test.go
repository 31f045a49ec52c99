package cluster

import (
	"context"
	"testing"

	"tercet/internal/cluster/clustertest"
)

// The jobs that docs/performance.md compares with scikit-learn, on data without
// clusters, where hundreds of iterations pass, and with them.
func BenchmarkKMeans(b *testing.B) {
	for _, c := range []struct {
		name              string
		n, d, k, restarts int
		spread            float64
	}{
		{"60000x128-k10-10starts", 60000, 128, 10, 10, 0},
		{"60000x128-k10-10starts-clustered", 60000, 128, 10, 10, .5},
		{"20000x512-k100", 20000, 512, 100, 1, 0},
		{"20000x512-k100-clustered", 20000, 512, 100, 1, .5},
	} {
		b.Run(c.name, func(b *testing.B) {
			x, _ := clustertest.Blobs(1, c.n, c.d, c.k, c.spread)
			iterations := 0
			for b.Loop() {
				r, err := KMeans(context.Background(), x, c.n, c.d, KMeansOptions{K: c.k, Restarts: c.restarts,
					Progress: func(_, i int) { iterations = i }})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(r.Inertia, "inertia")
			}
			b.ReportMetric(float64(iterations), "steps")
		})
	}
}

func BenchmarkAssign(b *testing.B) {
	for _, c := range []struct {
		name           string
		n, d, k, start int
	}{{"60000x128-k10-10starts", 60000, 128, 10, 10}, {"60000x128-k10-1start", 60000, 128, 10, 1}, {"20000x512-k100", 20000, 512, 100, 1}} {
		b.Run(c.name, func(b *testing.B) {
			x, _ := clustertest.Blobs(1, c.n, c.d, c.k, 0)
			p := newPoints(center(x, c.n, c.d))
			starts := make([]*lloyd, c.start)
			for i := range starts {
				starts[i] = newStart(p, c.k)
				for j := range c.k {
					starts[i].setCenter(j, i*c.k+j)
				}
			}
			if err := p.assigning.run(context.Background(), starts); err != nil {
				b.Fatal(err)
			}
			p.moving.run(starts)
			b.ReportAllocs()
			for b.Loop() {
				if err := p.assigning.run(context.Background(), starts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
