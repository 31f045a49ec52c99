package generalize

import (
	"context"
	"fmt"
	"slices"

	"tercet/internal/engine/nn"
	"tercet/internal/names"
	"tercet/internal/option"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/train"
)

// Defaults of a measurement of stability.
const (
	StabilityTriplets = 40_000
	StabilityRepeats  = 10
)

// StabilityDoc is the document of a measurement of stability.
type StabilityDoc struct{ record.Stability }

// Stability measures how far retraining with replaced images leads: with one at a time,
// or with the three of a triplet. An interrupted measurement resumes where it was. Errors
// are those of Gap.
func Stability(ctx context.Context, r *run.Run, o ReplaceOptions, p progress.Progress) (Measurement, error) {
	if err := ofNetwork(r, ", not a network"); err != nil {
		return nil, err
	}
	if slices.Contains(o.Replace, ReplaceTriple) {
		return onAverageStability(ctx, r, o, p)
	}
	return uniformStability(ctx, r, o, p)
}

// finished returns the weights that training has ended with.
func finished(r *run.Run) (*train.Checkpoint, *nn.Model, error) {
	if r.Manifest.Status != record.Finished {
		return nil, nil, fmt.Errorf("%w: %s is %s: retraining can be compared with a finished run alone; `tercet train %s %s` continues it", run.ErrNoRun, r.Dir, r.Manifest.Status, option.Name("resume"), r.Dir)
	}
	c, err := r.Checkpoint("last")
	if err != nil {
		return nil, nil, err
	}
	m, err := c.LoadModel()
	return c, m, err
}

// uniformStability measures how far retraining with one image replaced leads.
func uniformStability(ctx context.Context, r *run.Run, o ReplaceOptions, p progress.Progress) (*StabilityDoc, error) {
	c, m, err := finished(r)
	if err != nil {
		return nil, err
	}
	s, err := newStudy(ctx, r, o, p)
	if err != nil {
		return nil, err
	}
	kinds, note := s.kinds()
	plan, err := s.plan(ctx, m, kinds, nil)
	if err != nil {
		return nil, err
	}
	if err := s.keepStability(plan); err != nil {
		return nil, err
	}
	d := &StabilityDoc{record.Stability{Schema: record.StabilitySchema, Loss: s.probe.loss.Name, Of: s.probe.loss.Of, Source: s.source(names.Last, c.State.Step, m.Dim())}}
	if note != "" {
		d.Warnings = append(d.Warnings, note)
	}
	d.Options = record.StabilityOptions{Repeats: len(plan) / len(kinds), Replace: kinds, Triplets: s.o.Triplets, Seed: o.Seed, Limit: o.Limit}
	for _, v := range plan[:d.Options.Repeats] {
		if v.Image != noImage {
			d.Options.Images = append(d.Options.Images, v.Image)
		}
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
		if at := d.Replaced[i].Image; at != noImage {
			d.Replaced[i].Uses = uses[at]
		}
	}
	d.sumUp(kinds)
	d.compareControls()
	d.Cost = t.cost
	return d, nil
}

// sumUp fills in the kinds and gamma.
func (d *StabilityDoc) sumUp(kinds []string) {
	for _, kind := range kinds {
		k := record.KindSummary{Kind: kind}
		for _, v := range d.Replaced {
			if v.Kind != kind {
				continue
			}
			if v.Movement == nil {
				d.Warnings = append(d.Warnings, fmt.Sprintf("retraining with %s has %s and does not count: %s", what(v.Replacement), v.Status, v.Message))
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
			k.Neighbors += m.Neighbors
			k.Weights += m.WeightsShare
		}
		if n := float64(k.N); n > 0 {
			for _, v := range []*float64{&k.LossMean, &k.LossP50, &k.LossP90, &k.LossP99, &k.CosineMean, &k.Recall, &k.Neighbors, &k.Weights} {
				*v /= n
			}
		}
		d.Kinds = append(d.Kinds, k)
		if kind != ReplaceUlp { // which replaces no sample
			d.Gamma = max(d.Gamma, k.Gamma)
		}
	}
}

// what says what a retraining has changed.
func what(p record.Replacement) string {
	if p.Kind == ReplaceUlp {
		return fmt.Sprintf("weight %d moved by one ulp", p.By)
	}
	return fmt.Sprintf("image %d replaced (%s)", p.Image, p.Kind)
}
