package robustness

import (
	"context"
	"fmt"

	"tercet/internal/attack"
	"tercet/internal/evaluate"
	"tercet/internal/metric"
	"tercet/internal/option"
	"tercet/internal/record"
)

// scores turns the values of a variant's scores into means with intervals
// over queries; rows chooses queries, nil takes all.
//
// A published score is a mean of batch means, in which the queries of a short last
// batch weigh more: m = sum(w v) / sum(w). The interval is the bootstrap's of its
// linearization, the mean of m + w (v - m), which has the same value and, to first
// order, the same spread; with equal weights it is that of the plain mean.
func scores(ctx context.Context, s *attack.Scored, values [][]float64, rows []int, o record.AttackOptions) (record.Scores, error) {
	if rows == nil {
		for i := range values[0] {
			rows = append(rows, i)
		}
	}
	weights, sum := make([]float64, len(rows)), 0.0
	for i, q := range rows {
		weights[i] = s.Weight(q)
		sum += weights[i]
	}
	var list record.Scores
	flat := make([]float64, len(rows)*len(s.Keys))
	means := make([]float64, len(s.Keys))
	for k, key := range s.Keys {
		known, _ := attack.ScoreNamed(key)
		list = append(list, record.Score{Key: key, Value: record.Value{Definition: known.Definition(s.Variant)}})
		means[k] = s.Mean(values[k], rows)
		for i, q := range rows {
			w := weights[i] * float64(len(rows)) / sum
			flat[i*len(s.Keys)+k] = means[k] + float64(w*(values[k][q]-means[k]))
		}
	}
	list, err := metric.Means(ctx, list, flat, evaluate.Intervals(record.EvalOptions{Bootstrap: o.Bootstrap, Seed: o.Seed}))
	if err != nil {
		return nil, err
	}
	for k := range list {
		list[k].Value.Value = means[k]
		if ci := list[k].CI95; ci != nil { // the linearization can pass the values' ends
			low, high := values[k][rows[0]], values[k][rows[0]]
			for _, q := range rows {
				low, high = min(low, values[k][q]), max(high, values[k][q])
			}
			ci[0], ci[1] = max(ci[0], low), min(ci[1], high)
		}
	}
	return list, nil
}

// records says what each attack did.
func records(r *attack.Result) []record.AttackRecord {
	var out []record.AttackRecord
	for _, a := range r.Attacks {
		out = append(out, record.AttackRecord{
			Attack: a.Attack, Scores: a.Keys, Crafted: a.Crafted, Shared: a.Shared, Radius: a.Radius,
			ZeroGradient: a.ZeroGradient, Cost: record.CostRecord{Cost: a.Cost, Seconds: a.Seconds},
		})
	}
	return out
}

// blind is the share of vanished gradients above which an attack is suspect.
const blind = 0.1

// atChance is the share of the way from chance to perfect recall below which a
// model counts as one that retrieves nothing.
const atChance = 0.05

// warnings says what the scores may not be read as; apart: of queries of a gallery.
func warnings(r *attack.Result, apart bool) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if r.NotNormalized {
		add("embeddings are not of length 1: ES:D has no fixed range and ERS means nothing; train with model.normalize: true")
	}
	if r.Collapsed {
		add("embeddings have collapsed (mean cosine of two images %.4f): a small ES:D does not mean robustness here, and ERS rewards it", r.MeanCosine)
	}
	if recall, ok := cleanRecall(r); ok && recall-r.Chance < atChance*(1-r.Chance) {
		add("recall@1 without attack is %.4f, near chance (%.4f): ERS means nothing for a model that retrieves nothing", recall, r.Chance)
	}
	for _, a := range r.Attacks {
		if a.ZeroGradient > blind {
			add("%s: %.0f %% of the gradients vanished: unless its goal was reached, the attack was blind, not beaten; try "+option.Name("start")+" random or "+option.Name("rule")+" auto", a.Attack, 100*a.ZeroGradient)
		}
	}
	switch {
	case r.Excluded > 0 && apart:
		add("%d queries were not attacked: they are compared with no image of their class, or with no other", r.Excluded)
	case r.Excluded > 0:
		add("%d images were not attacked: no other image has their label", r.Excluded)
	}
	return out
}

// cleanRecall returns the recall@1 of the queries without attack, of the last
// variant (fixed, where there are both), if an attack has it.
func cleanRecall(r *attack.Result) (float64, bool) {
	s := &r.Scored[len(r.Scored)-1]
	right, ok := s.Right()
	return float64(len(right)) / float64(len(r.Queries)), ok
}
