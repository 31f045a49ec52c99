package bench

import (
	"context"
	"fmt"

	"tercet/internal/cluster"
)

func searchJobs() []Job {
	return []Job{
		kmeans("kmeans", "k-means of 60,000 x 128, k = 10, 10 starts", 60_000, 128, 10, 10),
		kmeans("kmeans-100", "k-means of 20,000 x 512, k = 100, one start", 20_000, 512, 100, 1),
	}
}

// kmeans is a job that clusters standard normal rows, from other starts each
// time: they differ in how soon they end.
func kmeans(name, what string, n, d, k, starts int) Job {
	return Job{name, what, func(o Options) ([]task, error) {
		rows := n
		if o.Quick {
			rows /= 10
		}
		var x []float32
		var last *cluster.KMeansResult
		seed := uint64(0)
		return []task{{
			images: rows, warmUp: 1,
			run: func(ctx context.Context, tick func() bool) error {
				x = normal(rows*d, "x")
				return repeat(func() (err error) {
					last, err = cluster.KMeans(ctx, x, rows, d, cluster.KMeansOptions{K: k, Restarts: starts, Seed: seed})
					if err != nil {
						return fmt.Errorf("seed %d: %w", seed, err)
					}
					seed++
					return nil
				})(ctx, tick)
			},
			results: func(visit func(string, []float32)) {
				visit("centers", last.Centers)
				labels := make([]float32, len(last.Labels))
				for i, l := range last.Labels {
					labels[i] = float32(l)
				}
				visit("labels", labels)
			},
		}}, nil
	}}
}
