package bench

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/cluster"
	"tercet/internal/metric"
	"tercet/internal/record/printed"
)

func searchJobs() []Job {
	return []Job{
		searchJob("knn", "the 11 nearest of each row among %s x 512, itself included, exact", 60_502, 20_000,
			func(n int) []task { return neighbors(n, 512, 11) }),
		searchJob("kmeans", "k-means of %s x 128, k = 10, 10 starts", 60_000, 6_000,
			func(n int) []task { return kmeans(n, 128, 10, 10) }),
		searchJob("kmeans-100", "k-means of %s x 512, k = 100, one start", 20_000, 2_000,
			func(n int) []task { return kmeans(n, 512, 100, 1) }),
	}
}

// searchJob is a job on n rows, or on fewer for a first look; what has %s for
// their number.
func searchJob(name, what string, n, fewer int, tasks func(n int) []task) Job {
	rows := func(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }
	return Job{name, fmt.Sprintf(what, rows(n)), fmt.Sprintf(what, rows(fewer)), func(o Options) ([]task, error) {
		if o.Quick {
			return tasks(fewer), nil
		}
		return tasks(n), nil
	}}
}

// neighbors searches n standard normal rows for the k nearest of each. How many
// products it does, and with numbers of which size, the search decides: there is
// no share of the peak.
func neighbors(n, d, k int) []task {
	var x []float32
	var last *metric.NeighborTable
	return []task{{
		images: n, direct: 2 * float64(n) * float64(n) * float64(d),
		run: func(ctx context.Context, tick func() bool) error {
			x = normal(n*d, "x")
			return repeat(func() (err error) {
				last, err = metric.Neighbors(ctx, x, n, d, metric.NeighborOptions{K: k, Self: true})
				return err
			})(ctx, tick)
		},
		results: func(visit func(string, []float32)) {
			visit("neighbours", numbers(last.Index))
			visit("distances", numbers(last.Distance))
		},
	}}
}

// numbers converts what is compared.
func numbers[T int32 | float64](list []T) []float32 {
	out := make([]float32, len(list))
	for i, v := range list {
		out[i] = float32(v)
	}
	return out
}

// classes draws n rows of k classes: normal around centers that are four standard
// deviations apart, so that classes touch. Without classes every start would run
// into the limit of iterations.
func classes(n, d, k int) []float32 {
	x, centers := normal(n*d, "x"), normal(k*d, "centres")
	scale := float32(4 / math.Sqrt(2*float64(d)))
	for i := range n {
		center := centers[i%k*d:][:d]
		for j := range d {
			x[i*d+j] += scale * center[j]
		}
	}
	return x
}

// kmeans clusters rows of k classes, from other starts each time: they differ in
// how soon they end.
func kmeans(n, d, k, starts int) []task {
	var x []float32
	var last *cluster.KMeansResult
	var iterations []int
	var inertia []float64
	return []task{{
		images: n, warmUp: 1,
		run: func(ctx context.Context, tick func() bool) error {
			x = classes(n, d, k)
			return repeat(func() (err error) {
				last, err = cluster.KMeans(ctx, x, n, d, cluster.KMeansOptions{K: k, Restarts: starts, Seed: uint64(len(inertia))})
				if err == nil {
					iterations, inertia = append(iterations, last.Iterations), append(inertia, last.Inertia)
				}
				return err
			})(ctx, tick)
		},
		results: func(visit func(string, []float32)) {
			visit("centers", last.Centers)
			visit("labels", numbers(last.Labels))
		},
		describe: func(r *printed.BenchResult) { r.Iterations, r.Inertia = iterations, inertia },
	}}
}
