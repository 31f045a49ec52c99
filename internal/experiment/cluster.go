package experiment

import (
	"context"
	"fmt"
	"time"

	"tercet/internal/data"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/loss"
	"tercet/internal/record"
)

// Clustered is a result document and what its pictures and files need.
type Clustered struct {
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

	maps  []drawnMap // as Doc.Maps
	model *clusterModel
}

// clusterJob is a clustering under way.
type clusterJob struct {
	v          vectors
	o          record.ClusterOptions
	thresholds thresholds
	say        Say
	forward    int64 // images passed to fit a threshold

	probabilities []float64
	model         *clusterModel
}

// Cluster clusters a run's embeddings of a set. An *OptionError is a mistake in o.
func (r *Run) Cluster(ctx context.Context, checkpoint, set string, limit int, o record.ClusterOptions, say Say) (*Clustered, error) {
	start := time.Now()
	e, err := r.Embed(ctx, checkpoint, set, limit, say)
	if err != nil {
		return nil, err
	}
	j := &clusterJob{v: vectors{e.Vectors.Data, e.Vectors.Rows(), e.Vectors.Cols(), e.Data.Labels()}, o: o, say: say}
	if j.thresholds.margins, err = r.margins(checkpoint); err != nil {
		return nil, err
	}
	j.thresholds.held = func(ctx context.Context) (*held, error) {
		h, err := r.held(ctx, checkpoint, say)
		if err == nil {
			j.forward += int64(h.n)
		}
		return h, err
	}
	c, err := j.run(ctx, e.Source)
	if err != nil {
		return nil, err
	}
	if t := c.Doc.ThresholdFrom; t != nil && t.Fit != nil && t.Fit.Set == set {
		c.Doc.Warnings = append(c.Doc.Warnings, fmt.Sprintf("the threshold is fitted to the labels of the %s set, which is clustered: the scores are too good", set))
	}
	c.Classes, c.Data = e.Data.Classes(), e.Data
	c.Doc.Cost.Cost = adversary.Cost{Forward: int64(j.v.n) + j.forward}
	c.Doc.Cost.Seconds = time.Since(start).Seconds()
	return c, nil
}

// heldMost is the number of images that a threshold is fitted to: of 5,000 images
// there are 12 million pairs.
const heldMost = 5000

// held embeds what a threshold is fitted to: at most heldMost of the validation images
// or, without such, of the training images, evenly spread over the classes.
func (r *Run) held(ctx context.Context, checkpoint string, say Say) (*held, error) {
	set := "train"
	if r.Manifest.Data.Validation != nil {
		set = "validation"
	}
	e, err := r.Embed(ctx, checkpoint, set, heldMost, func(stage string, done, total int) { say(set+": "+stage, done, total) })
	if err != nil {
		return nil, err
	}
	return &held{vectors{e.Vectors.Data, e.Vectors.Rows(), e.Vectors.Cols(), e.Data.Labels()}, e.Source}, nil
}

// margins returns the threshold that the loss fixes with its margins, nil where it
// fixes none.
func (r *Run) margins(checkpoint string) (*margins, error) {
	c, err := r.checkpoint(checkpoint)
	if err != nil || c.Threshold == nil {
		return nil, err
	}
	m := &margins{tau: *c.Threshold}
	if o, ok := r.Config.Loss.Options.(loss.Bordered); ok {
		m.alpha, m.beta = o.Borders()
	}
	return m, nil
}

// ClusterFiles clusters embeddings (N, D) of an npy file; labels may
// name no file.
func ClusterFiles(ctx context.Context, embeddings string, labels data.LabelFile, o record.ClusterOptions, keep Keeper, say Say) (*Clustered, error) {
	start := time.Now()
	v, src, err := readVectors(embeddings, labels)
	if err != nil {
		return nil, err
	}
	if err := keep.check(src); err != nil {
		return nil, err
	}
	j := &clusterJob{v: v, o: o, say: say}
	t := o.Multicut.ThresholdOptions
	if o.Method == Agglomerative {
		t = o.Agglomerative.Threshold
	}
	if t.Embeddings != "" {
		j.thresholds.held = func(context.Context) (*held, error) {
			h, src, err := readVectors(t.Embeddings, data.LabelFile{Path: t.Labels, Column: t.LabelColumn})
			if err == nil && h.d != v.d {
				err = fmt.Errorf("%w: %s has %d dimensions, %s has %d", data.ErrFormat, t.Embeddings, h.d, embeddings, v.d)
			}
			return &held{h, src}, err
		}
	}
	c, err := j.run(ctx, src)
	if err != nil {
		return nil, err
	}
	if c.Classes, err = labelNames(labels); err != nil {
		return nil, err
	}
	c.Doc.Cost.Seconds = time.Since(start).Seconds()
	return c, nil
}

// labelNames are those of a file of labels, if it is one.
func labelNames(labels data.LabelFile) ([]string, error) {
	if labels.Path == "" {
		return nil, nil
	}
	_, classes, err := data.ReadLabels(labels)
	return classes, err
}

// run clusters the items, scores the clusters and maps the items.
func (j *clusterJob) run(ctx context.Context, src record.Source) (*Clustered, error) {
	j.thresholds.seed, j.thresholds.say = j.o.Seed, j.say
	doc := &record.Cluster{Schema: record.ClusterSchema, Source: src, Options: j.o}
	method := map[string]func(context.Context, *record.Cluster) error{
		KMeans: j.kmeans, Multicut: j.multicut, Agglomerative: j.agglomerative, HDBSCAN: j.hdbscan,
	}[j.o.Method]
	if method == nil {
		return nil, optionf("there is no method %q; there are: %v", j.o.Method, ClusterMethods())
	}
	if err := method(ctx, doc); err != nil {
		return nil, err
	}
	if j.v.allEqual() {
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("all %d items are equal: there are no clusters to find", j.v.n))
	}
	if err := scoreClustering(doc, j.v.labels); err != nil {
		return nil, err
	}
	maps, err := j.maps(ctx, doc)
	if err != nil {
		return nil, err
	}
	c := &Clustered{Doc: doc, Vectors: j.v.x, Truth: j.v.labels, Probabilities: j.probabilities, maps: maps, model: j.model}
	c.stop(ctx)
	return c, nil
}

// stop notes that ctx has ended what follows the clusters.
func (c *Clustered) stop(ctx context.Context) {
	if ctx.Err() == nil {
		return
	}
	c.Stopped = context.Cause(ctx)
	c.Doc.Warnings = append(c.Doc.Warnings, "interrupted when the clusters were found: what is missing of the bound, the comparison and the maps was not made")
}

// scoreClustering compares the clusters with the truth, where it is known. Noise counts as one
// more cluster, as scikit-learn's scores do with the label -1.
func scoreClustering(d *record.Cluster, truth []int32) error {
	if truth == nil {
		return nil
	}
	if distinct(truth) < 2 {
		d.Warnings = append(d.Warnings, "all items are of one class: the scores say nothing")
	}
	var err error
	d.Clustering, err = clusterScores(truth, d.Labels)
	return err
}
