package experiment

import (
	"context"
	"fmt"
	"slices"

	"tercet/internal/engine/nn"
	"tercet/internal/train"
)

const stabilitySchema = "tercet.stability/1"

// Defaults of a measurement of stability.
const (
	StabilityTriplets = 40_000
	StabilityRepeats  = 10
)

// StabilityDoc is stability.json, schema tercet.stability/1: how far networks that were
// trained with one image replaced are from the run's.
type StabilityDoc struct {
	Schema  string           `json:"schema"`
	Source  Source           `json:"source"` // the images that are judged on
	Options StabilityOptions `json:"options"`
	Loss    string           `json:"loss"`
	Of      string           `json:"of"` // see LossGap
	// Gamma is the largest change of a loss: a lower estimate of the uniform stability
	// of Definition 1, whose supremum is over all samples, replacements and triplets.
	Gamma float64 `json:"gamma"`
	// Reference says what networks are compared with: "run", whose weights retraining
	// without a replacement has given bit by bit, or "retrained", where it has not.
	Reference string           `json:"reference"`
	Replaced  []ReplacedRecord `json:"replaced"`
	Kinds     []KindSummary    `json:"kinds"`
	Warnings  []string         `json:"warnings,omitempty"`
	Cost      CostRecord       `json:"cost"` // of all retrainings, kept ones too
}

// StabilityOptions are those of StabilityDoc.
type StabilityOptions struct {
	Repeats  int      `json:"repeats"`
	Replace  []string `json:"replace"`
	Images   []int    `json:"images"`
	Triplets int      `json:"triplets"`
	Seed     uint64   `json:"seed"`
	Limit    int      `json:"limit,omitempty"`
}

// ReplacedRecord is what came of one replacement.
type ReplacedRecord struct {
	Replacement
	Uses   int    `json:"uses"` // rows of batches that the image was in
	Status Status `json:"status"`
	// Movement is nil where the retraining collapsed or diverged; Message says how.
	Movement *Movement `json:"movement,omitempty"`
	Message  string    `json:"message,omitempty"`
	Seconds  float64   `json:"seconds"`
}

func (r ReplacedRecord) took() float64 { return r.Seconds }

// KindSummary sums up the replacements of one kind.
type KindSummary struct {
	Kind       string  `json:"kind"`
	N          int     `json:"n"`
	Gamma      float64 `json:"gamma"`     // largest change of a loss
	LossMean   float64 `json:"loss_mean"` // means over the replacements, from here on
	LossP50    float64 `json:"loss_p50"`
	LossP90    float64 `json:"loss_p90"`
	LossP99    float64 `json:"loss_p99"`
	CosineMean float64 `json:"cosine_mean"`
	Recall     float64 `json:"recall@1_change"`
	Neighbours float64 `json:"neighbours_changed"`
	Weights    float64 `json:"weights_share"`
}

// stability measures how far retraining with replaced images leads: with one at a time,
// or with the three of a triplet.
func (r *Run) stability(ctx context.Context, o MeasureOptions, p Progress) (Measurement, error) {
	if slices.Contains(o.Replace, ReplaceTriple) {
		return r.onAverageStability(ctx, o, p)
	}
	return r.uniformStability(ctx, o, p)
}

// finished returns the weights that training has ended with.
func (r *Run) finished() (*train.Checkpoint, *nn.Model, error) {
	if r.Manifest.Status != Finished {
		return nil, nil, fmt.Errorf("%w: %s is %s: retraining can be compared with a finished run alone; `tercet train --resume %s` continues it", ErrNoRun, r.Dir, r.Manifest.Status, r.Dir)
	}
	c, err := r.checkpoint("last")
	if err != nil {
		return nil, nil, err
	}
	m, err := c.LoadModel()
	return c, m, err
}

// uniformStability measures how far retraining with one image replaced leads.
func (r *Run) uniformStability(ctx context.Context, o MeasureOptions, p Progress) (*StabilityDoc, error) {
	c, m, err := r.finished()
	if err != nil {
		return nil, err
	}
	s, err := r.newStudy(o, p)
	if err != nil {
		return nil, err
	}
	kinds, note := s.kinds()
	plan, err := s.plan(ctx, m, kinds, nil)
	if err != nil {
		return nil, err
	}
	if err := s.protectStability(plan); err != nil {
		return nil, err
	}
	d := &StabilityDoc{Schema: stabilitySchema, Loss: s.judges.loss.Name, Of: s.judges.loss.Of, Source: s.source("last", c.State.Step, m.Dim())}
	if note != "" {
		d.Warnings = append(d.Warnings, note)
	}
	d.Options = StabilityOptions{Repeats: len(plan) / len(kinds), Replace: kinds, Triplets: s.o.Triplets, Seed: o.Seed, Limit: o.Limit}
	for _, v := range plan[:d.Options.Repeats] {
		d.Options.Images = append(d.Options.Images, v.Image)
	}
	uses, err := s.uses(c.State.Step)
	if err != nil {
		return nil, err
	}
	t, free, err := s.retraining(ctx, m)
	if err != nil {
		return nil, err
	}
	defer free()
	d.Reference = t.from
	d.Warnings = append(d.Warnings, t.cautions()...)
	if d.Replaced, err = t.moved(ctx, plan); err != nil {
		return nil, err
	}
	for i := range d.Replaced {
		d.Replaced[i].Uses = uses[d.Replaced[i].Image]
	}
	d.sumUp(kinds)
	d.Cost = t.cost
	return d, nil
}

// sumUp fills in the kinds and gamma.
func (d *StabilityDoc) sumUp(kinds []string) {
	for _, kind := range kinds {
		k := KindSummary{Kind: kind}
		for _, v := range d.Replaced {
			if v.Kind != kind {
				continue
			}
			if v.Movement == nil {
				d.Warnings = append(d.Warnings, fmt.Sprintf("retraining with image %d replaced (%s) has %s and does not count: %s", v.Image, kind, v.Status, v.Message))
				continue
			}
			m := v.Movement
			k.N++
			k.Gamma = max(k.Gamma, m.LossMax)
			k.LossMean += m.LossMean
			k.LossP50 += m.LossP50
			k.LossP90 += m.LossP90
			k.LossP99 += m.LossP99
			k.CosineMean += m.CosineMean
			k.Recall += m.Recall
			k.Neighbours += m.Neighbours
			k.Weights += m.WeightsShare
		}
		if n := float64(k.N); n > 0 {
			for _, v := range []*float64{&k.LossMean, &k.LossP50, &k.LossP90, &k.LossP99, &k.CosineMean, &k.Recall, &k.Neighbours, &k.Weights} {
				*v /= n
			}
		}
		d.Kinds = append(d.Kinds, k)
		d.Gamma = max(d.Gamma, k.Gamma)
	}
}
