package experiment

import (
	"context"

	"tercet/internal/cluster"
	"tercet/internal/cluster/multicut"
)

// kmeans clusters the items by k-means, of one k or of that with the best silhouette.
func (j *clusterJob) kmeans(ctx context.Context, doc *ClusterDoc) error {
	o := cluster.KMeansOptions{
		K: j.o.K, Restarts: j.o.NInit, Seed: j.o.Seed, Spherical: j.o.KMeans.Spherical, MiniBatch: j.o.KMeans.MiniBatch,
		Progress: func(restart, _ int) { j.say("k-means", restart, max(j.o.NInit, restart)) },
	}
	doc.KMeans = &KMeansRecord{}
	var km *cluster.KMeansResult
	var err error
	switch {
	case j.o.KMeans.Ks != nil:
		km, err = j.chooseK(ctx, o, doc.KMeans)
	case o.K == 0 && j.v.labels == nil:
		return optionf("k-means needs the number of clusters where there are no labels: give -k")
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
	doc.Labels, doc.Objective, doc.Measure, doc.Warnings = km.Labels, &km.Inertia, "inertia", km.Warnings
	doc.Sizes = multicut.Renumber(doc.Labels)
	doc.Clusters = len(doc.Sizes)
	j.model, err = kmeansModel(j.v, doc, o.Spherical)
	return err
}

// kmeansModel keeps the means of the clusters, or their directions.
func kmeansModel(v vectors, doc *ClusterDoc, spherical bool) (m *clusterModel, err error) {
	if spherical {
		if v.x, err = onSphere(v.x, v.d); err != nil {
			return nil, err
		}
	}
	m = newModel(v, doc.Labels, doc.Sizes)
	m.method, m.spherical, m.source = KMeans, spherical, doc.Source
	if spherical {
		m.center, err = onSphere(m.center, v.d)
	}
	return m, err
}

// chooseK clusters with each of the k that the items allow and keeps the one with
// the best silhouette.
func (j *clusterJob) chooseK(ctx context.Context, o cluster.KMeansOptions, rec *KMeansRecord) (*cluster.KMeansResult, error) {
	var ks []int
	for _, k := range j.o.KMeans.Ks {
		if k >= 2 && k < j.v.n {
			ks = append(ks, k)
		}
	}
	if ks == nil {
		return nil, optionf("the silhouette is defined for 2 to n-1 clusters, here 2 to %d; -k asks for %v", j.v.n-1, j.o.KMeans.Ks)
	}
	c, err := cluster.ChooseK(ctx, j.v.x, j.v.n, j.v.d, ks, o, j.o.KMeans.Sample)
	if err != nil {
		return nil, err
	}
	for i, k := range c.Ks {
		rec.Choice = append(rec.Choice, KChoice{K: k, Silhouette: c.Silhouette[i], Inertia: c.Inertia[i]})
	}
	return c.Best, nil
}
