package solve

import (
	"context"
	"fmt"

	"tercet/internal/cluster"
	"tercet/internal/data"
	"tercet/internal/metric"
	"tercet/internal/progress"
	"tercet/internal/record"
)

// RunKMeans clusters v; k = 0 takes the number of distinct labels.
func RunKMeans(ctx context.Context, v data.Embeddings, k, starts int, seed uint64, say progress.Say) (*cluster.KMeansResult, error) {
	if k == 0 {
		if v.Labels == nil {
			return nil, fmt.Errorf("k-means needs the number of clusters where there are no labels: give -k")
		}
		k = data.Distinct(v.Labels)
	}
	return cluster.KMeans(ctx, v.X, v.N, v.D, cluster.KMeansOptions{
		K: k, Restarts: starts, Seed: seed,
		Progress: func(restart, iteration int) { say("k-means", restart, max(starts, restart)) },
	})
}

// Scores compares clusters with the truth.
func Scores(truth, pred []int32) (record.Scores, error) {
	c, err := metric.Clustering(truth, pred)
	if err != nil {
		return nil, err
	}
	return c.Scores, nil
}
