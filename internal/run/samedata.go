package run

import (
	"context"
	"fmt"

	"tercet/internal/data"
	"tercet/internal/record"
	"tercet/internal/wire"
)

// SameData refuses to continue a run whose data have changed since it began.
func (r *Run) SameData(ctx context.Context, s *wire.Sets) error {
	old := r.Manifest.Data
	if old.Train.Fingerprint == "" {
		return nil
	}
	now, err := s.Record(ctx, r.Config)
	if err != nil {
		return err
	}
	if old.Validation == nil {
		old.Validation = new(record.Set)
	}
	if now.Validation == nil {
		now.Validation = new(record.Set)
	}
	for _, p := range []struct {
		set       string
		then, now string
	}{
		{"training", old.Train.Fingerprint, now.Train.Fingerprint},
		{"validation", old.Validation.Fingerprint, now.Validation.Fingerprint},
		{"test", old.Test.Fingerprint, now.Test.Fingerprint},
	} {
		if p.then != p.now {
			return fmt.Errorf("%w: the %s data of %s have changed since the run began (fingerprint %.12s, now %.12s); restore them or start a new run", data.ErrFormat, p.set, r.Dir, p.then, p.now)
		}
	}
	return nil
}

// sameWeights records the weights of triplet-robust, and refuses to continue a run
// whose noise_from has changed since it began.
func (r *Run) sameWeights(now *record.TripletProbabilities) error {
	then := r.Manifest.Weights
	if r.Manifest.Steps > 0 && then != nil && now != nil && *then != *now {
		return fmt.Errorf("%w: noise_from: %s says other things than when the run began (w1 %.6g and w2 %.6g, then %.6g and %.6g); restore it or start a new run", data.ErrFormat, now.From, now.W1, now.W2, then.W1, then.W2)
	}
	r.Manifest.Weights = now
	return nil
}
