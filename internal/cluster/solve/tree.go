package solve

import (
	"context"
	"fmt"

	"tercet/internal/cluster"
	"tercet/internal/cluster/density"
	"tercet/internal/cluster/link"
	"tercet/internal/data"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/text"
)

// heights is the number of last joins that a document keeps.
const heights = 50

// agglomerative joins items until a number of clusters or a distance is reached.
func (j *Job) agglomerative(ctx context.Context, doc *record.Cluster) error {
	o := j.Options.Agglomerative
	a := cluster.AgglomerativeOptions{
		Linkage: o.Linkage, K: j.Options.K, Memory: o.Memory,
		Progress: j.Say.Of("agglomerative"),
	}
	switch {
	case o.Cut:
		l, src, warnings, err := j.Thresholds.Resolve(ctx, link.OnSquared, o.Threshold)
		if err != nil {
			return err
		}
		at := l.Threshold()
		a.K, a.Threshold = 0, at
		doc.Threshold, doc.ThresholdFrom, doc.Warnings = &at, src, warnings
	case a.K == 0 && j.Items.Labels == nil:
		return option.Errorf("agglomerative clustering needs to know where to end: give -k, or the distance, %s", option.Name("threshold"))
	case a.K == 0:
		a.K = data.Distinct(j.Items.Labels)
	case a.K > j.Items.N:
		return TooMany(a.K, j.Items.N)
	}
	res, err := cluster.Agglomerative(ctx, j.Items.X, j.Items.N, j.Items.D, a)
	if err != nil {
		return err
	}
	rec := &record.AgglomerativeRecord{Heights: []float64{}}
	for i := len(res.Merges) - 1; i >= 0 && len(rec.Heights) < heights; i-- {
		rec.Heights = append(rec.Heights, res.Merges[i].Distance)
	}
	if left := len(res.Sizes) - 1; left > 0 && res.Merges[len(res.Merges)-left].Distance == 0 {
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("there are fewer than %d distinct items: this many clusters separate equal items", len(res.Sizes)))
	}
	doc.Agglomerative = rec
	doc.Labels, doc.Sizes, doc.Clusters = res.Labels, res.Sizes, len(res.Sizes)
	return nil
}

// hdbscan finds clusters of varying density; what is in none is noise.
func (j *Job) hdbscan(ctx context.Context, doc *record.Cluster) error {
	o := j.Options.HDBSCAN
	if o.MinSamples > j.Items.N {
		return option.Errorf("%s %d of %s: it can be at most their number", option.Name("min-samples"), o.MinSamples, text.Count(j.Items.N, "item"))
	}
	res, err := density.HDBSCAN(ctx, j.Items.X, j.Items.N, j.Items.D, density.Options{
		MinClusterSize: o.MinClusterSize, MinSamples: o.MinSamples, Selection: o.Selection, Epsilon: o.Epsilon,
		Progress: j.Say.Of("hdbscan"),
	})
	if err != nil {
		return err
	}
	if o.MinSamples == 0 {
		o.MinSamples = min(o.MinClusterSize, j.Items.N)
	}
	doc.HDBSCAN = &record.HDBSCANRecord{MinClusterSize: o.MinClusterSize, MinSamples: o.MinSamples}
	doc.Labels, doc.Sizes, doc.Clusters, doc.Noise = res.Labels, res.Sizes, len(res.Sizes), res.Noise
	doc.Warnings = append(doc.Warnings, res.Warnings...)
	if doc.Noise > 0 && j.Items.Labels != nil {
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("noise: %s; in the scores noise counts as one more cluster", text.Count(doc.Noise, "item")))
	}
	j.probabilities = res.Probabilities
	return nil
}
