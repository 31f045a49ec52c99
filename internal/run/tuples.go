package run

import (
	"fmt"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/noise"
)

// tuples are the pairs of a run that trains on given ones, by items of Train; nil
// elsewhere.
type tuples struct {
	Pairs func(epoch int) []data.Pair
	truth []int32 // the items' true labels
}

// given draws what cfg's sampler gives in its first epoch, describes it in s, and
// returns the sampler. ok is false where the sampler gives no tuples.
func (s *Sets) given(cfg *config.Config) (sampler data.Sampler, t *tuples, ok bool, err error) {
	o := data.TupleOptions{DropLast: cfg.Batch.DropLast, Items: s.Train.Len(), Seed: cfg.Seed}
	switch b := cfg.Batch.Options.(type) {
	case config.PairGraph:
		o.Size, o.Redraw = b.Size, b.Redraw
		t, err = s.graph(cfg, b)
		if err != nil {
			return nil, nil, true, err
		}
		sampler, err = data.NewPairSampler(t.Pairs, o)
		return sampler, t, true, err
	case config.TripletList:
		o.Size, o.Redraw = b.Size, b.Redraw
		draw, err := s.List(cfg, b)
		if err != nil {
			return nil, nil, true, err
		}
		sampler, err = data.NewTripletSampler(draw, o)
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

// graph draws the pair graph of epoch 0 and returns the draws of all.
func (s *Sets) graph(cfg *config.Config, b config.PairGraph) (*tuples, error) {
	truth, seen, classes := s.Labels()
	o := noise.GraphOptions{Scenario: b.Scenario, Pairs: b.Pairs, Negatives: b.Negatives, Order: b.Order, Seed: cfg.Seed}
	if b.Scenario == noise.Full {
		o.Pairs = 0 // all
	}
	n, noisy := cfg.Noise.Options.(config.PairNoise)
	if noisy {
		var err error
		if o.PairNoise, err = pairQ(n); err != nil {
			return nil, err
		}
		o.Seed = seedOf(cfg, n.Seed)
	}
	first, report, err := noise.Graph(truth, seen, classes, o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", data.ErrUnfit, err)
	}
	s.Graph = &report
	if noisy {
		r := noise.OfGraph(report)
		s.Noise = &r
	}
	draw := func(epoch int) []data.Pair {
		if epoch == 0 || !b.Redraw {
			return first
		}
		o := o
		o.Draw = uint64(epoch)
		pairs, _, _ := noise.Graph(truth, seen, classes, o) // the sampler refuses none
		return pairs
	}
	return &tuples{draw, truth}, nil
}

// List draws the triplets of epoch 0 and returns the draws of all.
func (s *Sets) List(cfg *config.Config, b config.TripletList) (func(epoch int) []data.Triplet, error) {
	truth, seen, classes := s.Labels()
	draw := func(epoch int) ([]data.Triplet, noise.TripletReport, error) {
		return noise.Triplets(truth, seen, classes, b.Triplets, 0, cfg.Seed, uint64(epoch))
	}
	noisy := true
	switch n := cfg.Noise.Options.(type) {
	case config.TripletNoise:
		draw = func(epoch int) ([]data.Triplet, noise.TripletReport, error) {
			return noise.Triplets(truth, seen, classes, b.Triplets, n.Rate, seedOf(cfg, n.Seed), uint64(epoch))
		}
	case config.PairNoise:
		q, err := pairQ(n)
		if err != nil {
			return nil, err
		}
		draw = func(epoch int) ([]data.Triplet, noise.TripletReport, error) {
			return noise.PairTriplets(truth, classes, b.Triplets, noise.PLNEffective(q), seedOf(cfg, n.Seed), uint64(epoch))
		}
	default:
		noisy = false
	}
	first, report, err := draw(0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", data.ErrUnfit, err)
	}
	s.Triplets = &report
	if noisy {
		r := noise.OfTriplets(report)
		s.Noise = &r
	}
	return func(epoch int) []data.Triplet {
		if epoch == 0 || !b.Redraw {
			return first
		}
		more, _, _ := draw(epoch)
		return more
	}, nil
}
