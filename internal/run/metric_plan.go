package run

import (
	"context"
	"time"

	"tercet/internal/config"
	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/run/points"
	"tercet/internal/wire"
)

// planMetric fills p for a run whose model is a fitted metric: it fits the features
// and evaluates the risk once.
func planMetric(ctx context.Context, cfg *config.Config, sets *wire.Sets, p *printed.PlannedRun) error {
	of, err := points.Prepare(ctx, cfg, sets.Seen())
	if err != nil {
		return err
	}
	m, ps := of.Model, of.Problems
	risk, steps, err := cfg.Metric.Options.Plan(of.Task)
	if err != nil {
		return InMetric(err)
	}
	if steps > 0 {
		p.Steps = steps
	}
	d := m.Dim()
	p.Model = record.Model{Name: m.Spec().Name, Embedding: d, Parameters: risk.Dim()}
	p.Layers, p.Defense = m.Describe(), cfg.Defense.Name
	p.Passes = record.Cost{Forward: int64(of.Task.Items)}
	p.Metric = &printed.PlannedFit{
		Algorithm: cfg.Metric.Algorithm, Loss: cfg.Metric.Loss, Classes: len(ps.List), Skipped: ps.Skipped,
		Triplets: ps.Triplets(), Parameters: risk.Dim(),
	}
	for _, q := range m.Params() {
		p.Checkpoint += 4 * int64(len(q.Value.Data))
	}
	start := time.Now()
	risk.ValueGrad(mahalanobis.Identity(d), make([]float64, risk.Dim()))
	p.Metric.Evaluation = time.Since(start).Seconds()
	return nil
}
