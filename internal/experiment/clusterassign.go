package experiment

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"tercet/internal/data"
	"tercet/internal/engine/adversary"
	"tercet/internal/record"
)

// Assign gives a run's images the clusters of an earlier clustering: the path of its
// folder or of its cluster.json.
func (r *Run) Assign(ctx context.Context, clusters, checkpoint, set string, limit int, say Say) (*record.Assign, error) {
	start := time.Now()
	m, file, err := readModel(clusters)
	if err != nil {
		return nil, err
	}
	e, err := r.Embed(ctx, checkpoint, set, limit, say)
	if err != nil {
		return nil, err
	}
	doc, err := m.document(ctx, file, vectors{e.Vectors.Data, e.Vectors.Rows(), e.Vectors.Cols(), e.Data.Labels()}, e.Source)
	if err != nil {
		return nil, err
	}
	switch s := m.source; {
	case filepath.Clean(s.Run) != filepath.Clean(r.Dir):
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("the clusters are of %s, the items of %s: their distances mean something only where the network is the same", s.Run+s.Embeddings, r.Dir))
	case s.Step != e.Source.Step:
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("the clusters are of step %d, the items of step %d: distances between embeddings of different weights mean little", s.Step, e.Source.Step))
	}
	doc.Cost.Cost = adversary.Cost{Forward: int64(e.Source.Items)}
	doc.Cost.Seconds = time.Since(start).Seconds()
	return doc, nil
}

// AssignFiles gives the embeddings of an npy file the clusters of an earlier
// clustering; labels may name no file.
func AssignFiles(ctx context.Context, clusters, embeddings string, labels data.LabelFile) (*record.Assign, error) {
	start := time.Now()
	m, file, err := readModel(clusters)
	if err != nil {
		return nil, err
	}
	v, src, err := readVectors(embeddings, labels)
	if err != nil {
		return nil, err
	}
	doc, err := m.document(ctx, file, v, src)
	if err != nil {
		return nil, err
	}
	doc.Cost.Seconds = time.Since(start).Seconds()
	return doc, nil
}

func (m *clusterModel) document(ctx context.Context, file string, v vectors, src record.Source) (*record.Assign, error) {
	if v.d != m.d {
		return nil, fmt.Errorf("%w: the items have %d dimensions, the clusters of %s have %d", data.ErrUnfit, v.d, file, m.d)
	}
	x, err := v.x, error(nil)
	if m.spherical {
		if x, err = onSphere(x, v.d); err != nil {
			return nil, err
		}
	}
	labels, err := m.assign(ctx, x, v.n)
	if err != nil {
		return nil, err
	}
	doc := &record.Assign{Schema: record.AssignSchema, Source: src, Sizes: make([]int, m.k), Labels: labels,
		Clusters: record.ClustersSource{File: file, Method: m.method, Clusters: m.k, Dim: m.d, Source: m.source}}
	if m.method == Multicut {
		doc.Clusters.Threshold = &m.tau
	}
	alone := make([]int32, v.n)
	for i, l := range labels {
		alone[i] = l
		if l < 0 {
			alone[i] = int32(m.k + doc.Own)
			doc.Own++
			continue
		}
		doc.Sizes[l]++
	}
	doc.Assigned = v.n - doc.Own
	if v.labels != nil {
		if doc.Clustering, err = clusterScores(v.labels, alone); err != nil {
			return nil, err
		}
	}
	return doc, nil
}
