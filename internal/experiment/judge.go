package experiment

import (
	"context"
	"fmt"

	"tercet/internal/cluster"
	"tercet/internal/data"
	"tercet/internal/metric"
	"tercet/internal/record"
)

// vectors are labelled embeddings: x (n, d) row-major, labels nil or n long.
type vectors struct {
	x      []float32
	n, d   int
	labels []int32
}

// judge scores v by retrieval and, where asked for, by k-means with as many
// clusters as classes. say is told what is being done.
func judge(ctx context.Context, v vectors, o record.EvalOptions, say Say) (record.Evaluated, *metric.Retrieval, *cluster.KMeansResult, error) {
	if err := twoClasses(v.labels); err != nil {
		return record.Evaluated{}, nil, nil, err
	}
	ret, err := metric.Retrieve(ctx, v.x, v.n, v.d, v.labels, metric.RetrievalOptions{
		K: o.Ks, Distance: o.Distance, Neighbours: o.Neighbours,
		Intervals: intervals(o),
		Progress:  func(done, total int) { say("retrieval", done, total) },
	})
	if err != nil {
		return record.Evaluated{}, nil, nil, err
	}
	j := record.Evaluated{Retrieval: ret.Scores, Excluded: ret.Excluded}
	if !o.KMeans {
		return j, ret, nil, nil
	}
	km, err := kmeans(ctx, v, o.K, o.NInit, o.Seed, say)
	if err != nil {
		return record.Evaluated{}, nil, nil, err
	}
	if j.Clustering, err = clusterScores(v.labels, km.Labels); err != nil {
		return record.Evaluated{}, nil, nil, err
	}
	return j, ret, km, nil
}

// kmeans clusters v; k = 0 takes the number of distinct labels.
func kmeans(ctx context.Context, v vectors, k, starts int, seed uint64, say Say) (*cluster.KMeansResult, error) {
	if k == 0 {
		if v.labels == nil {
			return nil, fmt.Errorf("k-means needs the number of clusters where there are no labels: give -k")
		}
		k = distinct(v.labels)
	}
	return cluster.KMeans(ctx, v.x, v.n, v.d, cluster.KMeansOptions{
		K: k, Restarts: starts, Seed: seed,
		Progress: func(restart, iteration int) { say("k-means", restart, max(starts, restart)) },
	})
}

// intervals translates the option, whose 0 means none.
func intervals(o record.EvalOptions) metric.Intervals {
	if o.Bootstrap == 0 {
		return metric.Intervals{Resamples: -1}
	}
	return metric.Intervals{Resamples: o.Bootstrap, Seed: o.Seed}
}

func clusterScores(truth, pred []int32) (metric.Scores, error) {
	c, err := metric.Clustering(truth, pred)
	if err != nil {
		return nil, err
	}
	return c.Scores, nil
}

// twoClasses refuses labels by which every score would be perfect.
func twoClasses(labels []int32) error {
	if distinct(labels) < 2 {
		return fmt.Errorf("%w: all %d items are of one class: every ranking is right, so there is nothing to score; give items of two classes or more", data.ErrUnfit, len(labels))
	}
	return nil
}

// findable refuses labels of which none occurs twice: no query has anything to
// find.
func findable(labels []int32) error {
	if n := len(labels); distinct(labels) == n {
		return fmt.Errorf("%w: each of the %d items is alone in its class, so no query has anything to find; give at least two items of a class", data.ErrUnfit, n)
	}
	return nil
}

func distinct(labels []int32) int {
	seen := map[int32]bool{}
	for _, l := range labels {
		seen[l] = true
	}
	return len(seen)
}
