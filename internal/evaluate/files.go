package evaluate

import (
	"context"
	"fmt"
	"time"

	"tercet/internal/data"
	"tercet/internal/data/npy"
	"tercet/internal/embed"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
)

// Files evaluates embeddings from any tool: npy files of shape (N, D) with labels in npy
// or csv, or a labeled folder of package store.
func Files(ctx context.Context, embeddings string, labels npy.LabelFile, o record.EvalOptions, keep run.Keeper, say progress.Say) (*Evaluation, error) {
	in := vectorSet{start: time.Now()}
	var err error
	if in.v, in.source, err = embed.ReadVectors(embeddings, labels); err != nil {
		return nil, err
	}
	if in.v.Labels == nil {
		return nil, fmt.Errorf("%w: not every image of %s has a label, and scores compare with true labels: embed images in folders that are their classes, or a csv file with a column label", data.ErrUnfit, embeddings)
	}
	if in.roles, err = embed.ReadRoles(embeddings); err != nil {
		return nil, err
	}
	in.names = func() ([]string, error) { return labelNames(embeddings, in.v.Labels) }
	return in.evaluate(ctx, o, keep, say)
}

// Folders evaluates the embeddings of one folder as queries in those of another, both
// written by package store.
func Folders(ctx context.Context, gallery, queries string, o record.EvalOptions, keep run.Keeper, say progress.Say) (*Evaluation, error) {
	start := time.Now()
	p, err := embed.ReadPair(gallery, queries)
	if err != nil {
		return nil, err
	}
	in := vectorSet{v: p.Embeddings, source: p.Source, roles: p.Roles, start: start}
	in.names = func() ([]string, error) { return p.Classes, nil }
	return in.evaluate(ctx, o, keep, say)
}

// vectorSet are labeled embeddings without a run.
type vectorSet struct {
	v      data.Embeddings
	source record.Source
	roles  *data.Roles
	names  func() ([]string, error) // of the labels
	start  time.Time                // when reading began
}

func (in *vectorSet) evaluate(ctx context.Context, o record.EvalOptions, keep run.Keeper, say progress.Say) (*Evaluation, error) {
	if err := keep.Check(in.source); err != nil {
		return nil, err
	}
	v, roles := in.v, in.roles
	o.Baselines = false
	doc := &record.Eval{Schema: record.EvalSchema, Source: in.source, Options: o}
	j, ret, err := retrieve(ctx, v, roles, o, say)
	if err != nil {
		return nil, err
	}
	doc.Evaluated = j
	keepValues(doc, ret)
	classes := func() ([]record.ClassScores, error) {
		names, err := in.names()
		if err != nil {
			return nil, err
		}
		return classScores(ret, v.Labels, names), nil
	}
	if err := keepClasses(doc, classes); err != nil {
		return nil, err
	}
	if err := verify(doc, ctx, v, roles, border{}, say); err != nil {
		return nil, err
	}
	km, err := clusters(ctx, &doc.Evaluated, v, o, true, say)
	if err != nil {
		return nil, err
	}
	doc.Warnings = append(doc.Warnings, Coarse(o)...)
	doc.Warnings = append(doc.Warnings, whole(o.Ks, others(doc, v.N))...)
	if km != nil {
		doc.Warnings = append(doc.Warnings, km.Warnings...)
	}
	doc.Cost.Seconds = time.Since(in.start).Seconds()
	return &Evaluation{Doc: doc, Retrieval: ret, classes: classes}, nil
}
