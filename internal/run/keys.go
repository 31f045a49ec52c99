package run

import (
	"context"

	"tercet/internal/lists"
	"tercet/internal/metric"
	"tercet/internal/record"
)

// What scores there are is read off the scores of four points.

// RetrievalKeys lists the scores of an evaluation with these k, in their order.
func RetrievalKeys(ks []int) []string {
	x := []float32{0, 1, 2, 3}
	r, err := metric.Retrieve(context.Background(), x, 4, 1, []int32{0, 0, 1, 1}, metric.RetrievalOptions{K: ks, Intervals: metric.Intervals{Resamples: -1}})
	if err != nil {
		return nil // the real call will say what is wrong with ks
	}
	return KeysOf(r.Scores)
}

// ClusteringKeys lists the scores of a clustering, in their order.
func ClusteringKeys() []string {
	c, err := metric.Clustering([]int32{0, 0, 1, 1}, []int32{0, 0, 1, 1})
	if err != nil {
		return nil
	}
	return KeysOf(c.Scores)
}

// PairKeys lists the scores of pairs, with a threshold or without and at false match rates, in their order.
func PairKeys(threshold bool, fmr ...float64) []string {
	o := metric.VerificationOptions{FMR: fmr}
	if one := 1.0; threshold {
		o.Threshold = &one
	}
	v, err := metric.Verify(context.Background(), []float32{0, 1, 2, 3}, 4, 1, []int32{0, 0, 1, 1}, o)
	if err != nil {
		return nil
	}
	return KeysOf(v.Scores)
}

// KeysOf lists the keys of scores, in their order.
func KeysOf(s record.Scores) []string {
	return lists.Map(s, func(e record.Score) string { return e.Key })
}
