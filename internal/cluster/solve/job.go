package solve

import (
	"context"
	"fmt"

	"tercet/internal/cluster/multicut"
	"tercet/internal/data"
	"tercet/internal/option"
	"tercet/internal/progress"
	"tercet/internal/record"
)

// Result is a result document and what its pictures and files need.
type Result struct {
	Doc     *record.Cluster
	Vectors []float32 // (N, D); nil of a graph from a file
	Truth   []int32   // nil where unknown
	Classes []string  // names of the labels, where there are such
	Data    data.Dataset
	// Stopped is why what follows the search for clusters, such as a bound or a map, was
	// ended early; nil where it was not.
	Stopped error
	// Probabilities are those of belonging to the cluster, of hdbscan.
	Probabilities []float64
	Graph         *multicut.Graph // sparse graph of a multicut, nil where all pairs count

	Maps  []Map // as Doc.Maps
	Model *Model

	Task *record.ClusterTask // of a share of the starts, which has nothing else
}

// Job is a clustering under way.
type Job struct {
	Items      data.Embeddings
	Options    record.ClusterOptions
	Share      Share // of the starts of k-means
	Thresholds Thresholds
	Say        progress.Say
	Forward    int64 // images passed to fit a threshold

	probabilities []float64
	graph         *multicut.Graph
	model         *Model
}

// Run clusters the items, scores the clusters and maps the items; of a task it does the
// starts.
func (j *Job) Run(ctx context.Context, src record.Source) (*Result, error) {
	if err := j.Share.Check(j.Options); err != nil {
		return nil, err
	}
	if j.Share.Task.Of > 0 {
		o, err := j.kmeansOptions()
		if err != nil {
			return nil, err
		}
		t, err := j.starts(ctx, o, src)
		return &Result{Task: t}, err
	}
	j.Thresholds.seed, j.Thresholds.Say = j.Options.Seed, j.Say
	doc := &record.Cluster{Schema: record.ClusterSchema, Source: src, Options: j.Options}
	method := map[string]func(context.Context, *record.Cluster) error{
		KMeans: j.kmeans, Multicut: j.multicut, Agglomerative: j.agglomerative, HDBSCAN: j.hdbscan,
	}[j.Options.Method]
	if method == nil {
		return nil, option.Errorf("unknown method %q; valid: %v", j.Options.Method, Methods())
	}
	if err := method(ctx, doc); err != nil {
		return nil, err
	}
	if j.Items.AllEqual() {
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("all %d items are equal: there are no clusters to find", j.Items.N))
	}
	if err := Score(doc, j.Items.Labels); err != nil {
		return nil, err
	}
	maps, err := j.maps(ctx, doc)
	if err != nil {
		return nil, err
	}
	c := &Result{Doc: doc, Vectors: j.Items.X, Truth: j.Items.Labels, Probabilities: j.probabilities, Maps: maps, Model: j.model, Graph: j.graph}
	c.Stop(ctx)
	return c, nil
}

// Stop notes that ctx has ended what follows the clusters.
func (c *Result) Stop(ctx context.Context) {
	if ctx.Err() == nil {
		return
	}
	c.Stopped = context.Cause(ctx)
	c.Doc.Warnings = append(c.Doc.Warnings, "interrupted when the clusters were found: what is missing of the bound, the comparison and the maps was not made")
}

// Score compares the clusters with the truth, where it is known. Noise counts as one
// more cluster, as scikit-learn's scores do with the label -1.
func Score(d *record.Cluster, truth []int32) error {
	if truth == nil {
		return nil
	}
	if data.Distinct(truth) < 2 {
		d.Warnings = append(d.Warnings, "all items are of one class: the scores carry no information")
	}
	var err error
	d.Clustering, err = Scores(truth, d.Labels)
	return err
}
