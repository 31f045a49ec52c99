package evaluate

import (
	"context"
	"fmt"

	"tercet/internal/data"
	"tercet/internal/noise"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/wire"
)

// NoiseRate estimates how many of the labels, pairs or triplets that r is trained on are
// wrong: by image pairs that occur with both labels, if pairs are given, and by the
// losses under the run's network. limit is the largest number of images whose labels are
// evaluated; 0 takes all.
func NoiseRate(ctx context.Context, r *run.Run, checkpoint string, limit int, say progress.Say) (*record.NoiseRate, error) {
	c, m, sets, err := r.Loaded(ctx, checkpoint)
	if err != nil {
		return nil, err
	}
	t, err := wire.Assemble(r.Config, sets)
	if err != nil {
		return nil, err
	}
	t.Model, t.Model = m, m
	ds := sets.Seen()
	print, err := sets.Train.Fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	d := &record.NoiseRate{Schema: record.NoiseSchema, Failed: map[string]string{}, Source: record.Source{
		Run: r.Dir, Config: r.Manifest.Config, Checkpoint: checkpoint, Step: c.State.Step, Set: "train", Items: ds.Len(),
		Classes: data.Distinct(ds.Labels()), Dim: m.Dim(), Fingerprint: print,
	}}
	var losses []float64
	embedded := say.Of("embed")
	switch {
	case t.Tuples != nil:
		d.Of = record.OfPairs
		losses, err = pairLosses(ctx, t, r.Config.Eval.Batch, embedded)
	case r.Config.Noise.Kind == noise.PairLabel:
		return nil, fmt.Errorf("%w: cannot estimate the noise rate: its triplets have a wrong positive or a wrong negative, and the loss does not show which", data.ErrUnfit)
	case r.Config.Noise.Kind == noise.TripletFlip:
		d.Of = record.OfTriplets
		losses, err = tripletLosses(ctx, t, r.Config, embedded)
	default:
		d.Of = record.OfLabels
		losses, err = labelLosses(ctx, t, r.Config, limit, embedded)
	}
	if err != nil {
		return nil, err
	}
	if err := estimateRate(d, t, losses, r.Config.Seed); err != nil {
		return nil, err
	}
	deriveRate(d)
	d.Truth = truthOf(d.Of, sets)
	return d, nil
}

// estimateRate fills in what the methods say; the first that finds noise counts.
func estimateRate(d *record.NoiseRate, t *wire.Assembled, losses []float64, seed uint64) error {
	var found []record.NoiseEstimate
	try := func(method string, e record.NoiseEstimate, err error) {
		if err != nil {
			d.Failed[method] = err.Error()
			return
		}
		found = append(found, e)
	}
	if t.Tuples != nil {
		e, err := noise.FromContradictions(t.Tuples.Pairs(0))
		try(noise.Contradictions, e, err)
	}
	e, err := noise.FromLosses(losses, seed)
	try(noise.LossMixture, e, err)
	if len(found) == 0 {
		for _, method := range []string{noise.LossMixture, noise.Contradictions} {
			if why := d.Failed[method]; why != "" {
				return fmt.Errorf("%w: cannot estimate the noise rate: %s", data.ErrUnfit, why)
			}
		}
	}
	// Labels that are wrong contradict nothing: without contradictions losses say more.
	if len(found) == 2 && found[0].CI95[0] <= 0 {
		found[0], found[1] = found[1], found[0]
	}
	d.Estimate, d.Others = found[0], found[1:]
	return nil
}

// deriveRate fills in what follows from the estimate.
func deriveRate(d *record.NoiseRate) {
	switch d.Of {
	case record.OfPairs:
		d.Effective = &d.Estimate.P
	case record.OfLabels:
		p := noise.SLNEffective(noise.SLNFromRate(d.Estimate.P, d.Source.Classes))
		d.Effective = &p
	}
}

// truthOf is the noise that a run's config puts on, nil where it puts on none.
func truthOf(of string, s *wire.Sets) *record.NoiseTruth {
	n := s.Noise
	if n == nil {
		return nil
	}
	if of == record.OfPairs && s.Graph != nil {
		return &record.NoiseTruth{Kind: n.Kind, Wanted: n.Effective, Found: s.Graph.Effective}
	}
	return &record.NoiseTruth{Kind: n.Kind, Wanted: n.Wanted, Found: n.Found}
}
