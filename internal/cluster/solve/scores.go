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

// RunKMeans clusters v; K = 0 takes the number of distinct labels.
func RunKMeans(ctx context.Context, v data.Embeddings, o cluster.KMeansOptions, say progress.Say) (*cluster.KMeansResult, error) {
	if o.K == 0 {
		if v.Labels == nil {
			return nil, fmt.Errorf("k-means needs the number of clusters where there are no labels: give -k")
		}
		o.K = data.Distinct(v.Labels)
	}
	o.Progress = func(restart, iteration int) { say("k-means", restart, max(o.Restarts, restart)) }
	return cluster.KMeans(ctx, v.X, v.N, v.D, o)
}

// Scores compares clusters with the truth.
func Scores(truth, pred []int32) (record.Scores, error) {
	c, err := metric.Clustering(truth, pred)
	if err != nil {
		return nil, err
	}
	return c.Scores, nil
}
