package solve

import (
	"context"
	"fmt"
	"slices"

	"tercet/internal/cluster"
	"tercet/internal/cluster/multicut"
	"tercet/internal/data"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/text"
)

// kmeansOptions are those of the search, K being the number of classes where none is given.
func (j *Job) kmeansOptions() (cluster.KMeansOptions, error) {
	o := cluster.KMeansOptions{
		K: j.Options.K, Restarts: j.Options.NInit, Seed: j.Options.Seed, Spherical: j.Options.KMeans.Spherical, MiniBatch: j.Options.KMeans.MiniBatch,
		Progress: func(restart, _ int) { j.Say("k-means", restart, max(j.Options.NInit, restart)) },
	}
	switch {
	case j.Options.KMeans.Ks != nil:
		return o, nil
	case o.K == 0 && j.Items.Labels == nil:
		return o, option.Errorf("k-means needs the number of clusters where there are no labels: give -k")
	case o.K == 0:
		o.K = data.Distinct(j.Items.Labels)
	case o.K > j.Items.N:
		return o, TooMany(o.K, j.Items.N)
	}
	return o, nil
}

// kmeans clusters the items by k-means, of one k or of that with the best silhouette.
func (j *Job) kmeans(ctx context.Context, doc *record.Cluster) error {
	o, err := j.kmeansOptions()
	if err != nil {
		return err
	}
	if o.MiniBatch > j.Items.N {
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("%s %d of %s: each step takes all of them", option.Name("mini-batch"), o.MiniBatch, text.Count(j.Items.N, "item")))
	}
	doc.KMeans = &record.KMeansRecord{}
	var km *cluster.KMeansResult
	switch {
	case j.Options.KMeans.Ks != nil:
		km, err = j.chooseK(ctx, o, doc)
	case j.Share.Merge > 0:
		km, err = j.merge(ctx, o)
	default:
		km, err = cluster.KMeans(ctx, j.Items.X, j.Items.N, j.Items.D, o)
	}
	if err != nil {
		return err
	}
	rec := doc.KMeans
	rec.K, rec.Iterations, rec.Restart, rec.Converged = len(km.Sizes), km.Iterations, km.Restart, km.Converged
	doc.Measure, doc.Warnings = "inertia", append(doc.Warnings, km.Warnings...)
	j.model, err = kmeansModel(ctx, j.Items, doc, km, o.Spherical)
	return err
}

// kmeansModel keeps the centers, by decreasing size of their clusters, and fills the
// document's labels, sizes and inertia from them: the labels are those that assigning
// the same items to the written centers gives, ties included.
func kmeansModel(ctx context.Context, v data.Embeddings, doc *record.Cluster, km *cluster.KMeansResult, spherical bool) (*Model, error) {
	var err error
	centers := km.Centers
	if spherical {
		if v.X, err = OnSphere(v.X, v.D); err != nil {
			return nil, err
		}
		if centers, err = OnSphere(centers, v.D); err != nil {
			return nil, err
		}
	}
	m := &Model{Method: KMeans, Spherical: spherical, Dim: v.D, Center: centers, Count: len(centers) / v.D, Source: doc.Source}
	labels := slices.Clone(km.Labels)
	for {
		old := slices.Clone(labels)
		sizes := multicut.Renumber(labels)
		m.order(old, labels, len(sizes))
		if doc.Labels, err = m.Assign(ctx, v.X, v.N); err != nil {
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
func (m *Model) order(old, now []int32, k int) {
	center := make([]float32, k*m.Dim)
	for i, l := range old {
		copy(center[int(now[i])*m.Dim:][:m.Dim], m.row(int(l)))
	}
	m.Center, m.Count = center, k
}

// chooseK clusters with each of the k that the items allow and keeps the one with
// the best silhouette.
func (j *Job) chooseK(ctx context.Context, o cluster.KMeansOptions, doc *record.Cluster) (*cluster.KMeansResult, error) {
	var ks []int
	for _, k := range j.Options.KMeans.Ks {
		if k >= 2 && k < j.Items.N {
			ks = append(ks, k)
		}
	}
	if ks == nil {
		return nil, option.Errorf("the silhouette is defined for 2 to n-1 clusters, here 2 to %d; -k asks for %v", j.Items.N-1, j.Options.KMeans.Ks)
	}
	if len(ks) < len(j.Options.KMeans.Ks) {
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("k: %d of the %d requested values, %d to %d; the silhouette of %s is defined for 2 to %d clusters",
			len(ks), len(j.Options.KMeans.Ks), slices.Min(ks), slices.Max(ks), text.Count(j.Items.N, "item"), j.Items.N-1))
	}
	c, err := cluster.ChooseK(ctx, j.Items.X, j.Items.N, j.Items.D, ks, o, j.Options.KMeans.Sample)
	if err != nil {
		return nil, err
	}
	for i, k := range c.Ks {
		doc.KMeans.Choice = append(doc.KMeans.Choice, record.KChoice{K: k, Silhouette: c.Silhouette[i], Inertia: c.Inertia[i]})
	}
	return c.Best, nil
}

// TooMany is the mistake of asking for k clusters of n items.
func TooMany(k, n int) error {
	return option.Errorf("%d clusters of %s: -k can be at most their number", k, text.Count(n, "item"))
}
