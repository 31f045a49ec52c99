package clustering

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"tercet/internal/cluster/multicut"
	"tercet/internal/cluster/solve"
	"tercet/internal/data"
	"tercet/internal/data/npy"
	"tercet/internal/fsx"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
)

// Graph clusters the nodes of a graph in the MULTICUT text format; labels may
// name no file.
func Graph(ctx context.Context, path string, labels npy.LabelFile, o record.ClusterOptions, keep run.Keeper, say progress.Say) (*solve.Result, error) {
	start := time.Now()
	p, src, truth, notes, err := readProblem(path, labels, &o, say)
	if err != nil {
		return nil, err
	}
	if err := keep.Check(src); err != nil {
		return nil, err
	}
	doc := &record.Cluster{Schema: record.ClusterSchema, Source: src, Options: o, Multicut: &record.MulticutRecord{}, Warnings: notes}
	if err := p.Answer(ctx, doc, doc.Multicut); err != nil {
		return nil, err
	}
	if !o.Multicut.Alone {
		doc.Multicut.Comparison = p.Compare(doc, truth)
	}
	if err := solve.Score(doc, truth); err != nil {
		return nil, err
	}
	doc.Cost.Seconds = time.Since(start).Seconds()
	c := &solve.Result{Doc: doc, Truth: truth}
	if c.Classes, err = labelNames(labels); err != nil {
		return nil, err
	}
	c.Stop(ctx)
	return c, nil
}

func readProblem(path string, labels npy.LabelFile, o *record.ClusterOptions, say progress.Say) (p *solve.Problem, src record.Source, truth []int32, notes []string, err error) {
	src = record.Source{Graph: path, Labels: labels.Path}
	f, _, err := fsx.OpenRegular(path)
	if errors.Is(err, fsx.ErrNotRegular) {
		return nil, src, nil, nil, fmt.Errorf("%w: %w in the MULTICUT text format", data.ErrFormat, err)
	}
	if err != nil {
		return nil, src, nil, nil, fmt.Errorf("%w: %w", data.ErrMissing, err)
	}
	defer f.Close()
	sum := sha256.New()
	g, report, err := multicut.ReadGraph(io.TeeReader(f, sum), path)
	if err != nil {
		return nil, src, nil, nil, err
	}
	runtime.GC() // what reading took goes before solving takes as much
	src.Items, src.Fingerprint = g.Nodes(), hex.EncodeToString(sum.Sum(nil))
	if labels.Path != "" {
		of := fmt.Sprintf("%s has %d nodes", path, g.Nodes())
		if truth, _, err = npy.ReadLabelsOf(labels, g.Nodes(), of); err != nil {
			return nil, src, nil, nil, err
		}
		src.Classes = data.Distinct(truth)
	}
	return solve.FromGraph(g, report, &o.Multicut, o.Seed, say), src, truth, report.Notes(), nil
}
