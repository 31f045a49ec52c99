package experiment

import (
	"context"
	"time"

	"tercet/internal/cluster"
	"tercet/internal/engine/adversary"
)

// ClusterOptions says how embeddings are clustered.
type ClusterOptions struct {
	Method string `json:"method"` // kmeans
	K      int    `json:"k"`      // clusters; 0 takes the number of classes
	NInit  int    `json:"n_init"`
	Seed   uint64 `json:"seed"`
}

// Clustered is a result document and what its pictures need.
type Clustered struct {
	Doc     *ClusterDoc
	Vectors []float32 // (N, D)
	Truth   []int32   // nil where unknown
	Classes []string
}

// Cluster clusters a run's embeddings of a set.
func (r *Run) Cluster(ctx context.Context, checkpoint, set string, limit int, o ClusterOptions, say Say) (*Clustered, error) {
	start := time.Now()
	e, err := r.Embed(ctx, checkpoint, set, limit, say)
	if err != nil {
		return nil, err
	}
	v := vectors{e.Vectors.Data, e.Vectors.Rows(), e.Vectors.Cols(), e.Data.Labels()}
	doc, err := clusterVectors(ctx, v, e.Source, o, say)
	if err != nil {
		return nil, err
	}
	doc.Cost.Cost = adversary.Cost{Forward: int64(v.n)}
	doc.Cost.Seconds = time.Since(start).Seconds()
	return &Clustered{doc, v.x, v.labels, e.Data.Classes()}, nil
}

// ClusterFiles clusters embeddings (N, D) of an npy file; labels may be "".
func ClusterFiles(ctx context.Context, embeddings, labels string, o ClusterOptions, say Say) (*Clustered, error) {
	start := time.Now()
	v, src, err := readVectors(embeddings, labels)
	if err != nil {
		return nil, err
	}
	doc, err := clusterVectors(ctx, v, src, o, say)
	if err != nil {
		return nil, err
	}
	doc.Cost.Seconds = time.Since(start).Seconds()
	return &Clustered{Doc: doc, Vectors: v.x, Truth: v.labels}, nil
}

func clusterVectors(ctx context.Context, v vectors, src Source, o ClusterOptions, say Say) (*ClusterDoc, error) {
	km, err := kmeans(ctx, v, o.K, o.NInit, o.Seed, say)
	if err != nil {
		return nil, err
	}
	doc := &ClusterDoc{
		Schema: "tercet.cluster/1", Source: src, Options: o, Clusters: len(km.Sizes), Sizes: km.Sizes,
		Objective: km.Inertia, Iterations: km.Iterations, Restart: km.Restart, Warnings: km.Warnings, Labels: km.Labels,
	}
	if v.labels != nil {
		if distinct(v.labels) < 2 {
			doc.Warnings = append(doc.Warnings, "all items are of one class: the scores say nothing")
		}
		if doc.Clustering, err = clusterScores(v.labels, km.Labels); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// Project returns the first two principal components of x (n, d) as (n, 2), and
// the shares of variance that they explain.
func Project(x []float32, n, d int) ([]float32, []float64, error) {
	p, err := cluster.PCA(x, n, d, min(2, d))
	if err != nil {
		return nil, nil, err
	}
	return p.Projected, p.Ratio, nil
}
