package config

import (
	"slices"
	"strings"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/mine"
)

// defenseRules holds what a defense asks of the rest.
func (c *Config) defenseRules(fail func(key, format string, args ...any)) {
	if _, crafts := c.Defense.Options.(adversary.Crafter); crafts && c.Data.Options.Traits().Vectors {
		fail("defense.name", "%s perturbs pixels in [0, 1]; data %s are vectors", c.Defense.Name, c.Data.Name)
	}
	_, triplets := c.Defense.Options.(adversary.OnTriplets)
	if triplets && !slices.Contains(mine.Samplers(), c.Miner.Name) && c.Defense.Sampler() == "" {
		fail("miner.name", "defense %s needs one triplet for each anchor: %s", c.Defense.Name, strings.Join(mine.Samplers(), ", "))
	}
	if _, replays := c.Defense.Options.(adversary.Replaying); replays && c.Train.Accumulate > 1 {
		fail("train.accumulate", "defense %s trains on a batch several times in a row, with a step after each: set train.accumulate to 1", c.Defense.Name)
	}
	if o, ok := c.Defense.Options.(adversary.Fitter); ok {
		for _, f := range o.Fit(adversary.Fitting{Normalized: c.Model.Normalize, Loss: c.Loss.Options, Shards: c.Train.Shards, HeadOnly: c.Train.HeadOnly.N > 0, OnDevice: c.Train.onDevice()}) {
			fail(f.Key, "%s", f.Msg)
		}
	}
}

// Sampler is the sampler of triplets that the defense puts in place of the miner; ""
// for none.
func (d Defense) Sampler() string {
	if s, ok := d.Options.(adversary.Sourced); ok {
		return s.Sampler()
	}
	return ""
}
