package run

import (
	"context"
	"errors"
	"fmt"

	"tercet/internal/config"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/theory"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// Keys of evaluations during training on pairs; 1 less the error.
const (
	heldAccuracy  = "pair_accuracy"       // of pairs of held-out images
	trainAccuracy = "pair_train_accuracy" // of the training pairs, by the labels trained on
)

// pairMeasure is what is measured of a network that trains on pairs.
type pairMeasure struct {
	cfg  *config.Config
	held *wire.PairSet // nil where there are none
}

// evaluate tells the held-out pairs and those of t's epoch.
func (m *pairMeasure) evaluate(ctx context.Context, t *wire.Assembled) (map[string]float64, error) {
	rule, err := wire.PairRule(m.cfg.Loss.Options)
	if err != nil {
		return nil, err
	}
	now, err := wire.NewPairSet(t.Sets.Seen(), t.Tuples.Pairs(epoch(t)))
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, s := range []struct {
		key string
		set *wire.PairSet
	}{{heldAccuracy, m.held}, {trainAccuracy, now}} {
		if s.set == nil {
			continue
		}
		p, err := score(ctx, t, rule, nil, s.set, m.cfg.Eval.Batch)
		if err != nil {
			return nil, err
		}
		out[s.key] = 1 - p.Error
	}
	return out, nil
}

// epoch is that of the last step done.
func epoch(t *wire.Assembled) int { return max(0, t.State.Step-1) / t.StepsPerEpoch }

// score embeds the images of s and compares what rule says of its pairs.
func score(ctx context.Context, t *wire.Assembled, rule loss.PairRule, obj loss.Objective, s *wire.PairSet, batch int) (record.PairScore, error) {
	z, err := s.Embed(ctx, t.Model, batch)
	if err != nil {
		return record.PairScore{}, err
	}
	if i, ok := kernel.AllFinite(z.Data); !ok {
		return record.PairScore{}, &train.NonFiniteError{Step: t.State.Step, Tensor: "embeddings of pairs", Index: i, Cause: train.CauseRate}
	}
	return wire.Score(rule, obj, z, s.Pairs)
}

// evaluatePairs writes pairs.json for the network at the run's end.
func (r *Run) evaluatePairs(ctx context.Context, t *wire.Assembled) error {
	doc, err := r.pairsDoc(ctx, t)
	if errors.Is(err, context.Canceled) {
		return train.ErrInterrupted // the checkpoint is written; going on does this again
	}
	if err != nil {
		return fmt.Errorf("pairs.json: %w", err)
	}
	return record.Write(r.Path("pairs.json"), doc)
}

func (r *Run) pairsDoc(ctx context.Context, t *wire.Assembled) (*record.Pairs, error) {
	rule, err := wire.PairRule(r.Config.Loss.Options)
	if err != nil {
		return nil, err
	}
	pairs := t.Tuples.Pairs(epoch(t))
	d := &record.Pairs{
		Schema: record.PairsSchema, Rule: wire.RuleRecord(rule), Parameters: t.Model.ParamCount(), Steps: t.State.Step,
		Noise:           t.Sets.Noise,
		FloorDuplicates: float64(noise.FloorDuplicates(pairs)) / float64(max(len(pairs), 1)),
		Theorem:         theorem(r.Config, t.Sets),
	}
	batch := r.Config.Eval.Batch
	set, err := wire.NewPairSet(t.Sets.Seen(), pairs)
	if err != nil {
		return nil, err
	}
	z, err := set.Embed(ctx, t.Model, batch)
	if err != nil {
		return nil, err
	}
	if d.Train, err = wire.Score(rule, t.Objective, z, set.Pairs); err != nil {
		return nil, err
	}
	for k, p := range pairs {
		set.Pairs[k].Similar = t.Tuples.Truth[p.I] == t.Tuples.Truth[p.J]
	}
	if d.TrainClean, err = wire.Score(rule, t.Objective, z, set.Pairs); err != nil {
		return nil, err
	}
	held, flipped, err := wire.EvalPairs(r.Config, t.Sets.Test)
	if err != nil || held == nil {
		return d, err
	}
	test, err := score(ctx, t, rule, t.Objective, held, batch)
	d.Test, d.TestNoise = &test, flipped
	return d, err
}

// theorem is Theorem 1 of DIBS for the graph of cfg, nil where it speaks of another.
func theorem(cfg *config.Config, sets *wire.Sets) *record.PairTheorem {
	g := sets.Graph
	o, ok := cfg.Noise.Options.(noise.OnPairs)
	if !ok || g == nil || g.Negatives != noise.SameIndex || g.Scenario == noise.Sparse || g.Replacement {
		return nil
	}
	if w, err := o.WrongPairs(); err != nil || w.Similar != w.Different {
		return nil
	}
	r := &record.PairTheorem{Classes: wire.ClassesOf(sets), P: g.Wanted}
	r.PerClass = g.Nodes / r.Classes
	b, err := theory.DIBS(r.Classes, r.PerClass, r.P)
	if err != nil {
		return nil // too few images of a class for the theorem
	}
	r.DIBSBounds = b
	return r
}
