package experiment

import (
	"context"
	"fmt"
	"slices"

	"tercet/internal/cluster"
	"tercet/internal/cluster/multicut"
	"tercet/internal/names"
	"tercet/internal/record"
	"tercet/internal/text"
)

// kmeans clusters the items by k-means, of one k or of that with the best silhouette.
func (j *clusterJob) kmeans(ctx context.Context, doc *record.Cluster) error {
	o := cluster.KMeansOptions{
		K: j.o.K, Restarts: j.o.NInit, Seed: j.o.Seed, Spherical: j.o.KMeans.Spherical, MiniBatch: j.o.KMeans.MiniBatch,
		Progress: func(restart, _ int) { j.say("k-means", restart, max(j.o.NInit, restart)) },
	}
	if o.MiniBatch > j.v.n {
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("--mini-batch %d of %s: each step takes all of them", o.MiniBatch, text.Count(j.v.n, "item")))
	}
	doc.KMeans = &record.KMeansRecord{}
	var km *cluster.KMeansResult
	var err error
	switch {
	case j.o.KMeans.Ks != nil:
		km, err = j.chooseK(ctx, o, doc)
	case o.K == 0 && j.v.labels == nil:
		return optionf("k-means needs the number of clusters where there are no labels: give -k")
	case o.K > j.v.n:
		return tooMany(o.K, j.v.n)
	default:
		if o.K == 0 {
			o.K = distinct(j.v.labels)
		}
		km, err = cluster.KMeans(ctx, j.v.x, j.v.n, j.v.d, o)
	}
	if err != nil {
		return err
	}
	rec := doc.KMeans
	rec.K, rec.Iterations, rec.Restart, rec.Converged = len(km.Sizes), km.Iterations, km.Restart, km.Converged
	doc.Measure, doc.Warnings = "inertia", append(doc.Warnings, km.Warnings...)
	j.model, err = kmeansModel(ctx, j.v, doc, km, o.Spherical)
	return err
}

// kmeansModel keeps the centers, by decreasing size of their clusters, and fills the
// document's labels, sizes and inertia from them: the labels are those that assigning
// the same items to the written centers gives, ties included.
func kmeansModel(ctx context.Context, v vectors, doc *record.Cluster, km *cluster.KMeansResult, spherical bool) (*clusterModel, error) {
	var err error
	centers := km.Centers
	if spherical {
		if v.x, err = onSphere(v.x, v.d); err != nil {
			return nil, err
		}
		if centers, err = onSphere(centers, v.d); err != nil {
			return nil, err
		}
	}
	m := &clusterModel{method: KMeans, spherical: spherical, d: v.d, center: centers, k: len(centers) / v.d, source: doc.Source}
	labels := slices.Clone(km.Labels)
	for {
		old := slices.Clone(labels)
		sizes := multicut.Renumber(labels)
		m.order(old, labels, len(sizes))
		if doc.Labels, err = m.assign(ctx, v.x, v.n); err != nil {
			return nil, err
		}
		// Equal distances go to the lower number, which may change the order of sizes.
		if slices.Equal(doc.Labels, labels) {
			doc.Sizes, doc.Clusters = sizes, len(sizes)
			break
		}
		labels = doc.Labels
	}
	inertia := m.measure(v, doc.Labels, doc.Sizes)
	doc.Objective = &inertia
	return m, nil
}

// order puts the centers of the clusters old in the order of the numbers that they
// now have, and drops those without an item.
func (m *clusterModel) order(old, now []int32, k int) {
	center := make([]float32, k*m.d)
	for i, l := range old {
		copy(center[int(now[i])*m.d:][:m.d], m.row(int(l)))
	}
	m.center, m.k = center, k
}

// chooseK clusters with each of the k that the items allow and keeps the one with
// the best silhouette.
func (j *clusterJob) chooseK(ctx context.Context, o cluster.KMeansOptions, doc *record.Cluster) (*cluster.KMeansResult, error) {
	var ks []int
	for _, k := range j.o.KMeans.Ks {
		if k >= 2 && k < j.v.n {
			ks = append(ks, k)
		}
	}
	if ks == nil {
		return nil, optionf("the silhouette is defined for 2 to n-1 clusters, here 2 to %d; -k asks for %v", j.v.n-1, j.o.KMeans.Ks)
	}
	if len(ks) < len(j.o.KMeans.Ks) {
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("k: %d of the %d that were asked for, %d to %d; the silhouette of %s is defined for 2 to %d clusters",
			len(ks), len(j.o.KMeans.Ks), slices.Min(ks), slices.Max(ks), text.Count(j.v.n, "item"), j.v.n-1))
	}
	c, err := cluster.ChooseK(ctx, j.v.x, j.v.n, j.v.d, ks, o, j.o.KMeans.Sample)
	if err != nil {
		return nil, err
	}
	for i, k := range c.Ks {
		doc.KMeans.Choice = append(doc.KMeans.Choice, record.KChoice{K: k, Silhouette: c.Silhouette[i], Inertia: c.Inertia[i]})
	}
	return c.Best, nil
}

// CheckClusters refuses more clusters than the split, or the part of it by limit, has
// images: before any work, and before a result that is there is looked at.
func (r *Run) CheckClusters(k int, split string, limit int) error {
	n := 0
	switch d := r.Manifest.Data; {
	case split == "train":
		n = d.Train.Items
	case split == names.Test:
		n = d.Test.Items
	case d.Validation != nil:
		n = d.Validation.Items
	}
	if limit > 0 {
		n = min(n, limit)
	}
	if n > 0 && k > n { // 0: what embeds the images says what there is
		return tooMany(k, n)
	}
	return nil
}

func tooMany(k, n int) error {
	return optionf("%d clusters of %s: -k can be at most their number", k, text.Count(n, "item"))
}
