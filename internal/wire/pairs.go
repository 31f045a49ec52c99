package wire

import (
	"context"
	"fmt"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/batch"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/stat"
)

// PairSet are pairs and the images that they join.
type PairSet struct {
	Ds    data.Dataset // of the images in the pairs, in their order
	Pairs []loss.Pair  // rows of ds
}

// NewPairSet gathers the images of pairs of ds.
func NewPairSet(ds data.Dataset, pairs []batch.Pair) (*PairSet, error) {
	row := make([]int32, ds.Len())
	for _, p := range pairs {
		row[p.I], row[p.J] = 1, 1
	}
	var items []int
	for i, in := range row {
		if in == 1 {
			row[i] = int32(len(items))
			items = append(items, i)
		}
	}
	s := &PairSet{Pairs: make([]loss.Pair, len(pairs))}
	for k, p := range pairs {
		s.Pairs[k] = loss.Pair{I: row[p.I], J: row[p.J], Similar: p.Similar}
	}
	var err error
	s.Ds, err = data.Subset(ds, items)
	return s, err
}

// Embed returns the embeddings of the set's images.
func (s *PairSet) Embed(ctx context.Context, m *nn.Model, batch int) (*array.Array, error) {
	return embed.Batches(ctx, m, s.Ds, batch, func(int, int) {})
}

// Score compares what rule says of pairs of rows of z with their labels.
func Score(rule loss.PairRule, obj loss.Objective, z *array.Array, pairs []loss.Pair) (record.PairScore, error) {
	p := record.PairScore{Pairs: len(pairs)}
	for _, q := range pairs {
		if rule.Similar(z.Row(int(q.I)), z.Row(int(q.J))) == q.Similar {
			continue
		}
		if p.Wrong++; q.Similar {
			p.WrongSimilar++
		} else {
			p.WrongDifferent++
		}
	}
	p.Error, p.CI95 = float64(p.Wrong)/float64(max(p.Pairs, 1)), stat.Wilson(p.Wrong, p.Pairs)
	if obj == nil {
		return p, nil
	}
	r, err := obj.Eval(z, &loss.Tuples{Pairs: pairs}, nil)
	p.Loss = r.Loss
	return p, err
}

// PairRule is the rule of a loss that tells pairs.
func PairRule(o loss.Options) (loss.PairRule, error) {
	p, ok := o.(loss.PairPredictor)
	if !ok {
		return loss.PairRule{}, fmt.Errorf("the loss says of no pair whether it is similar")
	}
	return p.PairRule(), nil
}

// RuleRecord is the rule as documents have it.
func RuleRecord(r loss.PairRule) record.PairRule {
	out := record.PairRule{Score: "distance", At: r.At, Text: r.String()}
	switch {
	case r.Paper:
		out.Score = "cosine-of-cosine"
	case r.Cosine:
		out.Score = "cosine"
	}
	return out
}

// EvalPairs returns the pairs of held-out images by which cfg evaluates a run on pairs, nil
// where it asks for none, and the noise that it puts on them.
func EvalPairs(cfg *config.Config, ds data.Dataset) (*PairSet, *record.Noise, error) {
	if ds == nil || cfg.Eval.Pairs == 0 {
		return nil, nil, nil
	}
	c := data.Compact(ds)
	pairs, err := noise.TestPairs(c.Labels(), len(c.Classes()), cfg.Eval.Pairs, cfg.Seed)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: eval.pairs: %w", data.ErrUnfit, err)
	}
	var report *record.Noise
	if cfg.Eval.NoisyPairs {
		if report, err = flipPairs(cfg, pairs); err != nil {
			return nil, nil, err
		}
	}
	s, err := NewPairSet(ds, pairs)
	return s, report, err
}

// flipPairs puts the noise of the training pairs on others.
func flipPairs(cfg *config.Config, pairs []batch.Pair) (*record.Noise, error) {
	o, ok := cfg.Noise.Options.(noise.OnPairs)
	if !ok {
		return nil, fmt.Errorf("eval.noisy_pairs: noise %s does not apply to pairs", cfg.Noise.Kind)
	}
	w, err := o.WrongPairs()
	if err != nil {
		return nil, err
	}
	r := &record.Noise{Kind: noise.PairLabel, Wanted: w.Effective(), Items: len(pairs), Q: w.Similar + w.Different, Effective: w.Effective()}
	for _, flipped := range noise.FlipPairs(pairs, w, rng.New(noise.Seed(cfg.Noise.Options, cfg.Seed), "eval/noisy-pairs")) {
		if flipped {
			r.Flipped++
		}
	}
	r.Found = float64(r.Flipped) / float64(max(r.Items, 1))
	r.EffectiveFound = r.Found
	return r, nil
}
