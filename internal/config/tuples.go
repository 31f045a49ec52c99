package config

import (
	"strings"

	"tercet/internal/data/batch"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/loss"
	"tercet/internal/noise"
)

// Gives says what tuples the sampler gives, "" where it gives none.
func (b Batch) Gives() loss.Kind { return kindOf(b.Options) }

func kindOf(k batch.SamplerKeys) loss.Kind {
	switch k.Layout() {
	case batch.LayoutGivenPairs:
		return loss.Pairs
	case batch.LayoutGivenTriplets:
		return loss.Triplets
	}
	return ""
}

// samplerFor is a sampler for losses that take tuples of that kind.
func samplerFor(k loss.Kind) string {
	all := batch.Samplers.All()
	for _, c := range all {
		if kindOf(c.Defaults) == k {
			return c.Name
		}
	}
	return all[0].Name
}

// tupleRules holds what losses, samplers, miners and defenses ask of each other.
func (c *Config) tupleRules(fail func(key, format string, args ...any)) {
	gives, takes, sampler := c.Batch.Gives(), c.Loss.Options.Takes(), c.Batch.Sampler
	if gives != "" && takes != gives {
		if key, value, ok := c.Loss.For(gives); ok {
			fail("loss."+key, "sampler %s gives %s: set loss.%s: %s", sampler, gives, key, value)
		} else {
			fail("loss.name", "sampler %s gives %s, and %s needs %s: set loss: %s, or batch.sampler: %s", sampler, gives, c.Loss.Name, takes, losses(gives), samplerFor(takes))
		}
	}
	if first := families["miner"][0].Name; c.Miner.Name != first {
		switch {
		case gives != "":
			fail("miner.name", "sampler %s gives its %s, so no miner is used: remove miner", sampler, gives)
		case takes != loss.Triplets:
			fail("miner.name", "loss %s takes %s, so no miner is used: remove miner", c.Loss.Name, everything(takes))
		}
	}
	key, instead, labels := "", "", false
	if l, ok := c.Loss.Options.(loss.WithLabels); ok {
		key, instead, labels = l.WithLabels()
	}
	if labels && gives == takes {
		fail("loss."+key, "needs the labels of images, and sampler %s gives %s without: set loss.%s: %s, or batch.sampler: %s", sampler, gives, key, instead, samplerFor(""))
	}
	if o, ok := c.Defense.Options.(adversary.OnTriplets); ok {
		d := c.Defense.Name
		switch {
		case takes != loss.Triplets:
			if key, value, ok := c.Loss.For(loss.Triplets); ok {
				fail("loss."+key, "defense %s trains on triplets that it has perturbed: set loss.%s: %s", d, key, value)
			} else {
				fail("defense.name", "%s perturbs triplets, but loss %s trains on %s: use defense none or est, or a triplet loss", d, c.Loss.Name, strings.TrimPrefix(string(takes), "all "))
			}
		case labels:
			fail("loss."+key, "needs the labels of images, and defense %s trains on its own triplets: set loss.%s: %s", d, key, instead)
		case o.Samples() && gives == loss.Triplets:
			fail("defense.name", "%s samples its own triplets from a batch, but sampler %s gives them: use another sampler, or defense act or minmax", d, sampler)
		}
	}
}

// everything is what losses take that need no miner.
func everything(k loss.Kind) string {
	if k == loss.Labels {
		return "the labels of a batch"
	}
	return "every pair of a batch"
}

// noiseRules holds what noise asks of the rest.
func (c *Config) noiseRules(fail func(key, format string, args ...any)) {
	gives := c.Batch.Gives()
	if o, ok := c.Noise.Options.(noise.Fitter); ok {
		report("noise.", o.Fit(gives == loss.Pairs, gives == loss.Triplets), fail)
	}
	_, pairs := c.Noise.Options.(noise.OnPairs)
	switch {
	case !c.Eval.NoisyPairs:
	case !pairs:
		fail("eval.noisy_pairs", "puts the noise of pairs on test pairs too, and there is none: set noise.kind: pln")
	case gives != loss.Pairs:
		fail("eval.noisy_pairs", "test pairs are evaluated where pairs are trained on: set batch.sampler: pair-graph")
	}
}
