package clustering

import (
	"context"
	"fmt"
	"time"

	"tercet/internal/cluster/solve"
	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/npy"
	"tercet/internal/embed"
	"tercet/internal/engine/loss"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
)

// Cluster clusters a run's embeddings of a set, or does a task's share of it. An *Error is a
// mistake in o.
func Cluster(ctx context.Context, r *run.Run, checkpoint, set string, limit int, o record.ClusterOptions, share solve.Share, say progress.Say) (*solve.Result, error) {
	start := time.Now()
	e, err := r.Embed(ctx, checkpoint, set, limit, say)
	if err != nil {
		return nil, err
	}
	j := &solve.Job{Items: data.Embeddings{X: e.Vectors.Data, N: e.Vectors.Rows(), D: e.Vectors.Cols(), Labels: e.Data.Labels()}, Options: o, Share: share, Say: say}
	if e.Threshold != nil {
		j.Thresholds.Margins = margins(r.Config, *e.Threshold)
	}
	j.Thresholds.Held = func(ctx context.Context) (*solve.Held, error) {
		h, err := held(ctx, r, checkpoint, say)
		if err == nil {
			j.Forward += int64(h.N)
		}
		return h, err
	}
	c, err := j.Run(ctx, e.Source)
	if err != nil || c.Task != nil {
		return c, err
	}
	if t := c.Doc.ThresholdFrom; t != nil && t.Fit != nil && t.Fit.Set == set {
		c.Doc.Warnings = append(c.Doc.Warnings, fmt.Sprintf("the threshold is fitted to the labels of the %s set, which is clustered: the scores are too good", set))
	}
	c.Classes, c.Data = e.Data.Classes(), e.Data
	c.Doc.Cost.Cost = record.Cost{Forward: int64(j.Items.N) + j.Forward}
	c.Doc.Cost.Seconds = time.Since(start).Seconds()
	return c, nil
}

// heldMost is the number of images that a threshold is fitted to: of 5,000 images
// there are 12 million pairs.
const heldMost = 5000

// held embeds what a threshold is fitted to: at most heldMost of the validation images
// or, without such, of the training images, evenly spread over the classes.
func held(ctx context.Context, r *run.Run, checkpoint string, say progress.Say) (*solve.Held, error) {
	set := "train"
	if r.Manifest.Data.Validation != nil {
		set = "validation"
	}
	e, err := r.Embed(ctx, checkpoint, set, heldMost, func(stage string, done, total int) { say(set+": "+stage, done, total) })
	if err != nil {
		return nil, err
	}
	return &solve.Held{Embeddings: data.Embeddings{X: e.Vectors.Data, N: e.Vectors.Rows(), D: e.Vectors.Cols(), Labels: e.Data.Labels()}, Source: e.Source}, nil
}

// margins is the threshold tau, which the loss fixes, with the margins that fix it.
func margins(cfg *config.Config, tau float64) *solve.Margins {
	m := &solve.Margins{Tau: tau}
	if o, ok := cfg.Loss.Options.(loss.Bordered); ok {
		m.Alpha, m.Beta = o.Borders()
	}
	return m
}

// Files clusters embeddings (N, D) of an npy file; labels may
// name no file.
func Files(ctx context.Context, embeddings string, labels npy.LabelFile, o record.ClusterOptions, share solve.Share, keep run.Keeper, say progress.Say) (*solve.Result, error) {
	start := time.Now()
	v, src, err := embed.ReadVectors(embeddings, labels)
	if err != nil {
		return nil, err
	}
	if err := keep.Check(src); err != nil {
		return nil, err
	}
	j := &solve.Job{Items: v, Options: o, Share: share, Say: say}
	t := o.Multicut.ThresholdOptions
	if o.Method == solve.Agglomerative {
		t = o.Agglomerative.Threshold
	}
	if t.Embeddings != "" {
		j.Thresholds.Held = func(context.Context) (*solve.Held, error) {
			h, src, err := embed.ReadVectors(t.Embeddings, npy.LabelFile{Path: t.Labels, Column: t.LabelColumn})
			if err == nil && h.D != v.D {
				err = fmt.Errorf("%w: %s has %d dimensions, %s has %d", data.ErrFormat, t.Embeddings, h.D, embeddings, v.D)
			}
			return &solve.Held{Embeddings: h, Source: src}, err
		}
	}
	c, err := j.Run(ctx, src)
	if err != nil || c.Task != nil {
		return c, err
	}
	if c.Classes, err = labelNames(labels); err != nil {
		return nil, err
	}
	c.Doc.Cost.Seconds = time.Since(start).Seconds()
	return c, nil
}

// labelNames are those of a file of labels, if it is one.
func labelNames(labels npy.LabelFile) ([]string, error) {
	if labels.Path == "" {
		return nil, nil
	}
	_, classes, err := npy.ReadLabels(labels)
	return classes, err
}
