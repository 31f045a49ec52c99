package wire

import (
	"fmt"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/noise"
)

// addNoise puts the noise of cfg on the labels that are trained on: those of what
// is left of the training set when validation items are held out. Whoever evaluates
// the training set compares with the true ones. Noise of pairs and of triplets comes
// with these, see tuples.
func (s *Sets) addNoise(cfg *config.Config) error {
	o, ok := cfg.Noise.Options.(noise.OnLabels)
	if !ok {
		return nil
	}
	ds := data.Compact(s.Train) // labels flip to classes that are there
	if k := len(ds.Classes()); k < 2 {
		return fmt.Errorf("%w: noise.kind %s: the training items are of %d class, and a label needs another to flip to", data.ErrUnfit, cfg.Noise.Kind, k)
	}
	labels, r, err := o.Relabel(ds.Labels(), len(ds.Classes()), noise.Seed(cfg.Noise.Options, cfg.Seed))
	if err != nil {
		return err
	}
	if s.Noise = &r; r.Flipped == 0 {
		return nil
	}
	s.Noisy, err = data.Relabel(ds, labels, ds.Classes())
	return err
}

// NoiseOn names what the noise of cfg is on.
func NoiseOn(cfg *config.Config) string {
	switch cfg.Noise.Options.(type) {
	case noise.OnPairs:
		if _, triplets := cfg.Batch.Options.(noise.GivesTriplets); triplets {
			return "triplets' pairs"
		}
		return "pairs"
	case noise.OnTriplets:
		return "triplets"
	}
	return "labels"
}
