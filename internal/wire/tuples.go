package wire

import (
	"fmt"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/batch"
	"tercet/internal/noise"
)

// tuples are the pairs of a run that trains on given ones, by items of Train; nil
// elsewhere.
type tuples struct {
	Pairs func(epoch int) []batch.Pair
	Truth []int32 // the items' true labels
}

// given draws what cfg's sampler gives in its first epoch, describes it in s, and
// returns the sampler. ok is false where the sampler gives no tuples.
func (s *Sets) given(cfg *config.Config) (sampler batch.Sampler, t *tuples, ok bool, err error) {
	truth, seen, classes := s.Labels()
	in := noise.Drawing{Truth: truth, Seen: seen, Classes: classes, Noise: cfg.Noise.Options, Seed: cfg.Seed}
	o := batch.TupleOptions{DropLast: cfg.Batch.DropLast, Items: s.Train.Len(), Seed: cfg.Seed}
	switch b := cfg.Batch.Options.(type) {
	case noise.GivesPairs:
		draw, report, err := b.Draw(in)
		if err != nil {
			return nil, nil, true, fmt.Errorf("%w: %w", data.ErrUnfit, err)
		}
		s.Graph = &report
		if _, noisy := in.Noise.(noise.OnPairs); noisy {
			r := noise.OfGraph(report)
			s.Noise = &r
		}
		b.Tuples(&o)
		sampler, err = batch.NewPairSampler(draw, o)
		return sampler, &tuples{draw, truth}, true, err
	case noise.GivesTriplets:
		draw, report, err := b.Draw(in)
		if err != nil {
			return nil, nil, true, fmt.Errorf("%w: %w", data.ErrUnfit, err)
		}
		s.Triplets = &report
		if NoiseOn(cfg) != "labels" {
			r := noise.OfTriplets(report)
			s.Noise = &r
		}
		b.Tuples(&o)
		sampler, err = batch.NewTripletSampler(draw, o)
		return sampler, nil, true, err
	}
	return nil, nil, false, nil
}

// Labels are those of the training items, the true ones and those that are trained on.
func (s *Sets) Labels() (truth, seen []int32, classes int) {
	ds := data.Compact(s.Train)
	truth, seen = ds.Labels(), ds.Labels()
	if s.Noisy != nil {
		seen = s.Noisy.Labels()
	}
	return truth, seen, len(ds.Classes())
}
