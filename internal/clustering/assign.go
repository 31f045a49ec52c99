package clustering

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"tercet/internal/cluster/solve"
	"tercet/internal/data"
	"tercet/internal/data/npy"
	"tercet/internal/embed"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/run"
)

// Assign gives a run's images the clusters of an earlier clustering: the path of its
// folder or of its cluster.json.
func Assign(ctx context.Context, r *run.Run, clusters, checkpoint, set string, limit int, say progress.Say) (*printed.Assign, error) {
	start := time.Now()
	m, file, err := solve.ReadModel(clusters)
	if err != nil {
		return nil, err
	}
	e, err := r.Embed(ctx, checkpoint, set, limit, say)
	if err != nil {
		return nil, err
	}
	doc, err := document(ctx, m, file, data.Embeddings{X: e.Vectors.Data, N: e.Vectors.Rows(), D: e.Vectors.Cols(), Labels: e.Data.Labels()}, e.Source)
	if err != nil {
		return nil, err
	}
	switch s := m.Source; {
	case filepath.Clean(s.Run) != filepath.Clean(r.Dir):
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("the clusters are of %s, the items of %s: their distances mean something only where the network is the same", s.Run+s.Embeddings, r.Dir))
	case s.Step != e.Source.Step:
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("the clusters are of step %d, the items of step %d: distances between embeddings of different weights mean little", s.Step, e.Source.Step))
	}
	doc.Cost.Cost = record.Cost{Forward: int64(e.Source.Items)}
	doc.Cost.Seconds = time.Since(start).Seconds()
	return doc, nil
}

// AssignFiles gives the embeddings of an npy file the clusters of an earlier
// clustering; labels may name no file.
func AssignFiles(ctx context.Context, clusters, embeddings string, labels npy.LabelFile) (*printed.Assign, error) {
	start := time.Now()
	m, file, err := solve.ReadModel(clusters)
	if err != nil {
		return nil, err
	}
	v, src, err := embed.ReadVectors(embeddings, labels)
	if err != nil {
		return nil, err
	}
	doc, err := document(ctx, m, file, v, src)
	if err != nil {
		return nil, err
	}
	doc.Cost.Seconds = time.Since(start).Seconds()
	return doc, nil
}

func document(ctx context.Context, m *solve.Model, file string, v data.Embeddings, src record.Source) (*printed.Assign, error) {
	if v.D != m.Dim {
		return nil, fmt.Errorf("%w: the items have %d dimensions, the clusters of %s have %d", data.ErrUnfit, v.D, file, m.Dim)
	}
	x, err := v.X, error(nil)
	if m.Spherical {
		if x, err = solve.OnSphere(x, v.D); err != nil {
			return nil, err
		}
	}
	labels, err := m.Assign(ctx, x, v.N)
	if err != nil {
		return nil, err
	}
	doc := &printed.Assign{Schema: record.AssignSchema, Source: src, Sizes: make([]int, m.Count), Labels: labels,
		Clusters: printed.ClustersSource{File: file, Method: m.Method, Clusters: m.Count, Dim: m.Dim, Source: m.Source}}
	if m.Method == solve.Multicut {
		doc.Clusters.Threshold = &m.Tau
	}
	alone := make([]int32, v.N)
	for i, l := range labels {
		alone[i] = l
		if l < 0 {
			alone[i] = int32(m.Count + doc.Own)
			doc.Own++
			continue
		}
		doc.Sizes[l]++
	}
	doc.Assigned = v.N - doc.Own
	if v.Labels != nil {
		if doc.Clustering, err = solve.Scores(v.Labels, alone); err != nil {
			return nil, err
		}
	}
	return doc, nil
}
