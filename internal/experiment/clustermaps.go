package experiment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tercet/internal/cluster"
	"tercet/internal/cluster/tsne"
	"tercet/internal/record"
)

// AutoMap is the number of items up to which a t-SNE map is made without being asked
// for.
const AutoMap = 10_000

// mostTrusted is the number of items up to which a map's trustworthiness is
// measured: all pairs are ranked.
const mostTrusted = 20_000

// drawnMap are the places of all items on a map, (n, 2).
type drawnMap struct {
	kind   string
	points []float32
}

// maps projects the items as the options say. A map that the items do not allow is a
// warning.
func (j *clusterJob) maps(ctx context.Context, doc *record.Cluster) ([]drawnMap, error) {
	var list []drawnMap
	for _, m := range []struct {
		kind string
		draw func(context.Context) ([]float32, record.MapRecord, []string, error)
	}{{"tsne", j.tsne}, {"pca", j.pca}} {
		if !j.wanted(m.kind) || ctx.Err() != nil {
			continue
		}
		start := time.Now()
		points, rec, warnings, err := m.draw(ctx)
		switch {
		case ctx.Err() != nil:
			continue
		case err != nil:
			doc.Warnings = append(doc.Warnings, fmt.Sprintf("no map by %s: %v", m.kind, err))
			continue
		}
		doc.Warnings = append(doc.Warnings, warnings...)
		rec.Kind, rec.Items, rec.Seconds = m.kind, j.v.n, time.Since(start).Seconds()
		doc.Maps = append(doc.Maps, rec)
		list = append(list, drawnMap{m.kind, points})
	}
	return list, nil
}

func (j *clusterJob) wanted(kind string) bool {
	switch j.o.Maps.Kind {
	case "auto":
		return kind == "pca" || j.v.n <= AutoMap
	case "both":
		return true
	}
	return j.o.Maps.Kind == kind
}

var errFlat = errors.New("it needs items of two dimensions or more")

func (j *clusterJob) pca(context.Context) ([]float32, record.MapRecord, []string, error) {
	if j.v.d < 2 {
		return nil, record.MapRecord{}, nil, errFlat
	}
	p, err := cluster.PCA(j.v.x, j.v.n, j.v.d, 2)
	if err != nil {
		return nil, record.MapRecord{}, nil, err
	}
	return p.Projected, record.MapRecord{Explained: p.Ratio}, nil, nil
}

func (j *clusterJob) tsne(ctx context.Context) ([]float32, record.MapRecord, []string, error) {
	o, n, d := j.o.Maps, j.v.n, j.v.d
	iterations := o.Iterations
	if iterations == 0 {
		iterations = 1000
	}
	r, err := tsne.Run(ctx, j.v.x, n, d, tsne.Options{
		Perplexity: o.Perplexity, Iterations: iterations, Theta: o.Theta, Seed: j.o.Seed,
		Progress: func(iteration int, _ float64) { j.say("t-SNE", iteration, max(iterations, iteration)) },
	})
	if err != nil {
		return nil, record.MapRecord{}, nil, err
	}
	rec := record.MapRecord{Perplexity: r.Perplexity, Iterations: r.Iterations, LearningRate: r.LearningRate, Convention: r.Convention, KL: &r.KL}
	if k := min(5, (n-1)/2); k > 0 && n <= mostTrusted {
		j.say("trustworthiness", 0, 1)
		t, err := tsne.Trustworthiness(ctx, j.v.x, n, d, r.Y, 2, k)
		if err != nil {
			return nil, record.MapRecord{}, nil, err
		}
		j.say("trustworthiness", 1, 1)
		rec.Trustworthiness, rec.Neighbours = &t, k
	}
	return r.Y, rec, r.Warnings, nil
}
