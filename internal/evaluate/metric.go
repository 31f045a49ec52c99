package evaluate

import (
	"context"
	"fmt"

	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/mahalanobis"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/run/points"
	"tercet/internal/wire"
)

// theMetrics are the metrics that a fitted one is compared with, in order.
type theMetrics struct {
	names  []string
	thetas [][]float64
}

// evaluateMetric evaluates the fitted metric of a run's checkpoint, whose network is m: by
// the triplets of its training and test sets, and by the nearest neighbors in evalSet,
// items that limit has been applied to. It returns warnings too.
func evaluateMetric(ctx context.Context, r *run.Run, checkpoint string, m *nn.Model, evalSet data.Dataset, limit int, say progress.Say) (*record.MetricEval, []string, error) {
	fit, err := r.Fit(checkpoint)
	if err != nil {
		return nil, nil, err
	}
	cfg := r.Config
	d := &record.MetricEval{
		Algorithm: fit.Algorithm, Loss: cfg.Metric.Loss, Positive: cfg.Metric.Positive, Dim: fit.Dim,
		TripletError: map[string]record.Scores{}, Triplets: map[string]float64{},
		Risk: fit.Risk, Objective: fit.Objective, GradNorm: fit.GradNorm, Certificate: fit.Certificate,
		Iterations: fit.Iterations, NegativeMass: fit.NegativeMass,
	}
	if m, err = points.Euclidean(m); err != nil {
		return nil, nil, err
	}
	sets, err := wire.OpenWith(ctx, cfg, r.Elsewhere(data.Open), nil)
	if err != nil {
		return nil, nil, err
	}
	features := func(ds data.Dataset) (*points.Features, error) {
		z, err := embed.Batches(ctx, m, ds, cfg.Eval.Batch, say.Of("features"))
		if err != nil {
			return nil, err
		}
		return points.Of(z, ds), nil
	}
	var warnings []string
	if fit.OnePoint {
		warnings = append(warnings, "no eigenvalue of w is above 0: all embeddings are one point, and their scores are those of ties; metric_learning evaluates h_w itself")
	}
	seen, err := features(sets.Seen())
	if err != nil {
		return nil, nil, err
	}
	trained, err := points.NewProblems(seen, cfg.Metric.OneClass(), 0)
	if err != nil {
		return nil, nil, err
	}
	compared := theMetrics{[]string{"learnt", "euclidean"}, [][]float64{fit.Theta, mahalanobis.Identity(fit.Dim)}}
	if w := trained.Whitened(); w != nil {
		compared.names, compared.thetas = append(compared.names, "whitened"), append(compared.thetas, w)
	}
	for _, set := range []struct {
		name string
		ds   data.Dataset
	}{{"train", sets.Train}, {"test", sets.Test}} {
		if set.ds == nil {
			continue
		}
		ds, err := embed.Sample(set.ds, limit)
		if err != nil {
			return nil, nil, err
		}
		f, err := features(ds)
		if err != nil {
			return nil, nil, err
		}
		ps, err := points.NewProblems(f, cfg.Metric.OneClass(), 0)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("no triplet error of the %s set: %v", set.name, err))
			continue
		}
		d.Triplets[set.name] = ps.Triplets()
		for k, name := range compared.names {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			say("triplet errors, "+set.name, k, len(compared.names))
			d.TripletError[set.name] = append(d.TripletError[set.name], record.Score{Key: name, Value: record.Value{
				Value: ps.ZeroOne(compared.thetas[k]), Definition: "triplet_error(all triplets, mean over positive classes)",
			}})
		}
		say("triplet errors, "+set.name, len(compared.names), len(compared.names))
	}
	f, err := features(evalSet)
	if err != nil {
		return nil, nil, err
	}
	for k, name := range compared.names {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		say("nearest by h_w", k, len(compared.names))
		d.Recall = append(d.Recall, record.Score{Key: name, Value: record.Value{
			Value: nearestRecall(f, mahalanobis.Smat(compared.thetas[k], fit.Dim)), Definition: "recall@1(any, by h_w in float64)",
		}})
	}
	say("nearest by h_w", len(compared.names), len(compared.names))
	return d, warnings, nil
}

// nearestRecall returns the share of the points of f whose nearest other point by h_w,
// w (d, d) symmetric, is of their class: of two as near, the first counts. Points
// alone in their class are left out.
func nearestRecall(f *points.Features, w []float64) float64 {
	d := f.D
	wx := make([]float64, f.N*d)
	self := make([]float64, f.N)
	par.For(f.N, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x, y := f.X[i*d:(i+1)*d], wx[i*d:(i+1)*d]
			for r := range d {
				for c, v := range x {
					y[r] += float64(w[r*d+c] * v)
				}
				self[i] += float64(y[r] * x[r])
			}
		}
	})
	members := make([]int, len(f.Classes))
	for _, l := range f.Labels {
		members[l]++
	}
	found := make([]bool, f.N)
	par.For(f.N, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y, best, at := wx[i*d:(i+1)*d], 0.0, -1
			for j := range f.N {
				if j == i {
					continue
				}
				dot := 0.0
				for k, v := range f.X[j*d : (j+1)*d] {
					dot += float64(v * y[k])
				}
				if h := self[j] - 2*dot; at < 0 || h < best {
					best, at = h, j
				}
			}
			found[i] = at >= 0 && f.Labels[at] == f.Labels[i]
		}
	})
	hits, of := 0, 0
	for i, ok := range found {
		if members[f.Labels[i]] < 2 {
			continue
		}
		if of++; ok {
			hits++
		}
	}
	return float64(hits) / float64(max(of, 1))
}
