package run

import (
	"fmt"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/fsx"
	"tercet/internal/noise"
)

// disturb puts the noise of cfg on the labels that are trained on: those of what
// is left of the training set when validation items are held out. Whoever evaluates
// the training set compares with the true ones. Noise of pairs and of triplets comes
// with these, see tuples.
func (s *Sets) disturb(cfg *config.Config) error {
	change, seed := labelNoise(cfg)
	if change == nil {
		return nil
	}
	ds := data.Compact(s.Train) // labels flip to classes that are there
	if k := len(ds.Classes()); k < 2 {
		return fmt.Errorf("%w: noise.kind %s: the training items are of %d class, and a label needs another to flip to", data.ErrUnfit, cfg.Noise.Kind, k)
	}
	labels, r, err := change(ds.Labels(), len(ds.Classes()), seed)
	if err != nil {
		return err
	}
	if s.Noise = &r; r.Flipped == 0 {
		return nil
	}
	s.Noisy, err = data.Relabel(ds, labels, ds.Classes())
	return err
}

// changeLabels returns other labels than the true ones of so many classes.
type changeLabels func(truth []int32, classes int, seed uint64) ([]int32, noise.Report, error)

// labelNoise returns the noise of cfg on labels and its seed; nil where it has none.
func labelNoise(cfg *config.Config) (changeLabels, uint64) {
	switch o := cfg.Noise.Options.(type) {
	case config.SymmetricNoise:
		return func(truth []int32, classes int, seed uint64) ([]int32, noise.Report, error) {
			rate, err := symmetricRate(o, classes)
			if err != nil {
				return nil, noise.Report{}, err
			}
			return noise.Labels(truth, classes, rate, seed)
		}, seedOf(cfg, o.Seed)
	case config.ConfusionNoise:
		return func(truth []int32, classes int, seed uint64) ([]int32, noise.Report, error) {
			m, err := readConfusion(o.Matrix, classes)
			if err != nil {
				return nil, noise.Report{}, err
			}
			return noise.ByConfusion(truth, m, seed)
		}, seedOf(cfg, o.Seed)
	case config.PairFlipNoise:
		return func(truth []int32, classes int, seed uint64) ([]int32, noise.Report, error) {
			return noise.Next(truth, classes, o.Rate, seed)
		}, seedOf(cfg, o.Seed)
	}
	return nil, 0
}

func seedOf(cfg *config.Config, own *uint64) uint64 {
	if own != nil {
		return *own
	}
	return cfg.Seed
}

// symmetricQ is the probability that o draws a label of that many classes anew.
func symmetricQ(o config.SymmetricNoise, classes int) (float64, error) {
	switch {
	case o.Rate != nil:
		return noise.SLNFromRate(*o.Rate, classes), nil
	case o.Q != nil:
		return *o.Q, nil
	}
	return noise.SLNFromEffective(*o.Effective)
}

// symmetricRate is the rate at which o changes labels of that many classes.
func symmetricRate(o config.SymmetricNoise, classes int) (float64, error) {
	if o.Rate != nil {
		return *o.Rate, nil
	}
	q, err := symmetricQ(o, classes)
	return noise.SLNRate(q, classes), err
}

// pairQ is the probability that o replaces a pair's label by a fair coin.
func pairQ(o config.PairNoise) (float64, error) {
	if o.Q != nil {
		return *o.Q, nil
	}
	return noise.PLNFromEffective(*o.Effective)
}

func readConfusion(path string, classes int) ([][]float64, error) {
	f, _, err := fsx.OpenRegular(path)
	if err != nil {
		return nil, fmt.Errorf("%w: noise.matrix: %w", data.ErrMissing, err)
	}
	defer f.Close()
	m, err := noise.ReadConfusion(f, path, classes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", data.ErrFormat, err)
	}
	return m, nil
}

// disturbed names what the noise of cfg is on.
func disturbed(cfg *config.Config) string {
	switch cfg.Noise.Options.(type) {
	case config.PairNoise:
		if cfg.Batch.Sampler == "triplet-list" {
			return "triplets' pairs"
		}
		return "pairs"
	case config.TripletNoise:
		return "triplets"
	}
	return "labels"
}
