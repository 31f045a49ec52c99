package solve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tercet/internal/cluster/principal"
	"tercet/internal/cluster/tsne"
	"tercet/internal/record"
)

// AutoMap is the number of items up to which a t-SNE map is made without being asked
// for.
const AutoMap = 10_000

// mostTrusted is the number of items up to which a map's trustworthiness is
// measured: all pairs are ranked.
const mostTrusted = 20_000

// Map are the places of all items on a map, (n, 2).
type Map struct {
	Kind   string
	Points []float32
}

// maps projects the items as the options say. A map that the items do not allow is a
// warning.
func (j *Job) maps(ctx context.Context, doc *record.Cluster) ([]Map, error) {
	var list []Map
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
		rec.Kind, rec.Items, rec.Seconds = m.kind, j.Items.N, time.Since(start).Seconds()
		doc.Maps = append(doc.Maps, rec)
		list = append(list, Map{m.kind, points})
	}
	return list, nil
}

func (j *Job) wanted(kind string) bool {
	switch j.Options.Maps.Kind {
	case "auto":
		return kind == "pca" || j.Items.N <= AutoMap
	case "both":
		return true
	}
	return j.Options.Maps.Kind == kind
}

var errFlat = errors.New("it needs items of two dimensions or more")

func (j *Job) pca(ctx context.Context) ([]float32, record.MapRecord, []string, error) {
	if j.Items.D < 2 {
		return nil, record.MapRecord{}, nil, errFlat
	}
	p, err := principal.Components(ctx, j.Items.X, j.Items.N, j.Items.D, 2)
	if err != nil {
		return nil, record.MapRecord{}, nil, err
	}
	return p.Projected, record.MapRecord{Explained: p.Ratio}, nil, nil
}

func (j *Job) tsne(ctx context.Context) ([]float32, record.MapRecord, []string, error) {
	o, n, d := j.Options.Maps, j.Items.N, j.Items.D
	iterations := o.Iterations
	if iterations == 0 {
		iterations = 1000
	}
	r, err := tsne.Run(ctx, j.Items.X, n, d, tsne.Options{
		Perplexity: o.Perplexity, Iterations: iterations, Theta: o.Theta, Seed: j.Options.Seed,
		Progress: func(iteration int, _ float64) { j.Say("t-SNE", iteration, max(iterations, iteration)) },
	})
	if err != nil {
		return nil, record.MapRecord{}, nil, err
	}
	rec := record.MapRecord{Perplexity: r.Perplexity, Iterations: r.Iterations, LearningRate: r.LearningRate, Convention: r.Convention, KL: &r.KL}
	if k := min(5, (n-1)/2); k > 0 && n <= mostTrusted {
		j.Say("trustworthiness", 0, 1)
		t, err := tsne.Trustworthiness(ctx, j.Items.X, n, d, r.Y, 2, k)
		if err != nil {
			return nil, record.MapRecord{}, nil, err
		}
		j.Say("trustworthiness", 1, 1)
		rec.Trustworthiness, rec.Neighbors = &t, k
	}
	return r.Y, rec, r.Warnings, nil
}
