package experiment

import (
	"context"
	"fmt"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/noise"
	"tercet/internal/stat"
	"tercet/internal/theory"
)

const pairsSchema = "tercet.pairs/1"

// PairsDoc is pairs.json, schema tercet.pairs/1: how a run on a pair graph tells pairs
// at its end. Errors are fractions of the pairs.
type PairsDoc struct {
	Schema     string         `json:"schema"`
	Rule       PairRuleRecord `json:"rule"`
	Parameters int            `json:"parameters"`
	Steps      int            `json:"steps"`
	// Train are the pairs of the last epoch by the labels that were trained on,
	// TrainClean the same ones by true labels, Test pairs of test images.
	Train      PairScore  `json:"train"`
	TrainClean PairScore  `json:"train_clean"`
	Test       *PairScore `json:"test,omitempty"`
	// TestNoise is the rate at which labels of Test were flipped, where they were.
	TestNoise *noise.Report `json:"test_noise,omitempty"`
	Noise     *noise.Report `json:"noise,omitempty"` // of the first epoch
	// FloorDuplicates is the share of Train that any function of two images gets wrong:
	// of couples that are labelled both ways, the lesser label.
	FloorDuplicates float64        `json:"floor_duplicates"`
	Theorem         *TheoremRecord `json:"theorem,omitempty"` // with pair noise on a dense or full graph
}

// PairRuleRecord is what a pair is told by.
type PairRuleRecord struct {
	Score string  `json:"score"` // "distance": similar below At; "cosine" and "cosine-of-cosine": above
	At    float64 `json:"at"`
	Text  string  `json:"text"`
}

// PairScore is the error of one set of pairs.
type PairScore struct {
	Pairs          int        `json:"pairs"`
	Wrong          int        `json:"wrong"`
	WrongSimilar   int        `json:"wrong_similar"`   // of them, those that are similar and were told different
	WrongDifferent int        `json:"wrong_different"` // the reverse
	Error          float64    `json:"error"`
	CI95           [2]float64 `json:"ci95"` // Wilson's interval
	Loss           float64    `json:"loss"`
}

// TheoremRecord is what Theorem 1 of DIBS says for this many classes, images of each
// and this noise.
type TheoremRecord struct {
	Classes  int     `json:"classes"`
	PerClass int     `json:"per_class"`
	P        float64 `json:"p"`
	theory.DIBSBounds
}

// pairSet are pairs and the images that they join.
type pairSet struct {
	ds    data.Dataset // of the images in the pairs, in their order
	pairs []loss.Pair  // rows of ds
}

// newPairSet gathers the images of pairs of ds.
func newPairSet(ds data.Dataset, pairs []data.Pair) (*pairSet, error) {
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
	s := &pairSet{pairs: make([]loss.Pair, len(pairs))}
	for k, p := range pairs {
		s.pairs[k] = loss.Pair{I: row[p.I], J: row[p.J], Similar: p.Similar}
	}
	var err error
	s.ds, err = data.Subset(ds, items)
	return s, err
}

// embed returns the embeddings of the set's images.
func (s *pairSet) embed(ctx context.Context, m *nn.Model, batch int) (*array.Array, error) {
	return embed(ctx, m, s.ds, batch, func(int, int) {})
}

// score compares what rule says of pairs of rows of z with their labels.
func score(rule loss.PairRule, obj loss.Objective, z *array.Array, pairs []loss.Pair) (PairScore, error) {
	p := PairScore{Pairs: len(pairs)}
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

// pairRule is the rule of a loss that tells pairs.
func pairRule(o loss.Options) (loss.PairRule, error) {
	p, ok := o.(loss.PairPredictor)
	if !ok {
		return loss.PairRule{}, fmt.Errorf("the loss says of no pair whether it is similar")
	}
	return p.PairRule(), nil
}

func ruleRecord(r loss.PairRule) PairRuleRecord {
	out := PairRuleRecord{Score: "distance", At: r.At, Text: r.String()}
	switch {
	case r.Paper:
		out.Score = "cosine-of-cosine"
	case r.Cosine:
		out.Score = "cosine"
	}
	return out
}

// judging returns the pairs of held-out images by which cfg judges a run on pairs, nil
// where it asks for none, and the noise that it puts on them.
func judging(cfg *config.Config, ds data.Dataset) (*pairSet, *noise.Report, error) {
	if ds == nil || cfg.Eval.Pairs == 0 {
		return nil, nil, nil
	}
	c := data.Compact(ds)
	pairs, err := noise.TestPairs(c.Labels(), len(c.Classes()), cfg.Eval.Pairs, cfg.Seed)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: eval.pairs: %w", data.ErrUnfit, err)
	}
	var report *noise.Report
	if cfg.Eval.NoisyPairs {
		if report, err = flipPairs(cfg, pairs); err != nil {
			return nil, nil, err
		}
	}
	s, err := newPairSet(ds, pairs)
	return s, report, err
}
