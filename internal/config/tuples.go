package config

import (
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/loss"
)

// gives says what tuples a sampler gives, "" where it gives none.
func (b Batch) gives() loss.Kind {
	switch b.Options.(type) {
	case PairGraph:
		return loss.Pairs
	case TripletList:
		return loss.Triplets
	}
	return ""
}

// samplerFor is a sampler for losses that take tuples of that kind.
func samplerFor(k loss.Kind) string {
	switch k {
	case loss.Pairs:
		return "pair-graph"
	case loss.Triplets:
		return "triplet-list"
	}
	return families["sampler"][0].Name
}

// tupleRules holds what losses, samplers, miners and defences ask of each other.
func (c *Config) tupleRules(fail func(key, format string, args ...any)) {
	gives, takes, sampler := c.Batch.gives(), c.Loss.Options.Takes(), c.Batch.Sampler
	if gives != "" && takes != gives {
		if key, value, ok := c.Loss.For(gives); ok {
			fail("loss."+key, "sampler %s gives %s: set loss.%s: %s", sampler, gives, key, value)
		} else {
			fail("loss.name", "sampler %s gives %s, and %s wants %s: set loss: %s, or batch.sampler: %s", sampler, gives, c.Loss.Name, takes, losses(gives), samplerFor(takes))
		}
	}
	if first := families["miner"][0].Name; c.Miner.Name != first {
		switch {
		case gives != "":
			fail("miner.name", "sampler %s gives its %s, so no miner is asked: remove miner", sampler, gives)
		case takes != loss.Triplets:
			fail("miner.name", "loss %s takes every pair of a batch, so no miner is asked: remove miner", c.Loss.Name)
		}
	}
	if o, ok := c.Defense.Options.(adversary.OnTriplets); ok {
		d := c.Defense.Name
		switch {
		case takes != loss.Triplets:
			if key, value, ok := c.Loss.For(loss.Triplets); ok {
				fail("loss."+key, "defense %s trains on triplets that it has perturbed: set loss.%s: %s", d, key, value)
			} else {
				fail("defense.name", "%s perturbs triplets, and loss %s trains on pairs: take defense none or est, or a triplet loss", d, c.Loss.Name)
			}
		case o.Samples() && gives == loss.Triplets:
			fail("defense.name", "%s samples its own triplets from a batch, and sampler %s gives them: take another sampler, or defense act or minmax", d, sampler)
		}
	}
	b, ok := c.Batch.Options.(PairGraph)
	switch {
	case !ok || b.Scenario == "full":
	case b.Pairs%2 != 0:
		fail("batch.pairs", "must be even, half similar and half different, is %d", b.Pairs)
	case b.Pairs == 0:
		fail("batch.pairs", "must be set for scenario %s: it takes so many pairs", b.Scenario)
	}
}

// noiseRules holds what noise asks of the rest.
func (c *Config) noiseRules(fail func(key, format string, args ...any)) {
	exactly := func(ok bool, names string) {
		if !ok {
			fail("noise.kind", "set exactly one of %s", names)
		}
	}
	switch o := c.Noise.Options.(type) {
	case SymmetricNoise:
		exactly(set(o.Rate)+set(o.Q)+set(o.Effective) == 1, "noise.rate, noise.q and noise.effective")
	case PairNoise:
		exactly(set(o.Q)+set(o.Effective) == 1, "noise.q and noise.effective")
		if c.Batch.gives() == "" {
			fail("noise.kind", "pln disturbs the labels of given pairs: set batch.sampler: pair-graph, or triplet-list, whose triplets are two pairs each, or take sln, which disturbs those of images")
		}
	case TripletNoise:
		if c.Batch.gives() != loss.Triplets {
			fail("noise.kind", "triplet-flip exchanges positive and negative of given triplets: set batch.sampler: triplet-list, or take sln, which disturbs labels")
		}
	case ConfusionNoise:
		if o.Matrix == "" {
			fail("noise.matrix", "must be set: a CSV file of K rows of K probabilities")
		}
	}
	switch {
	case !c.Eval.NoisyPairs:
	case c.Noise.Kind != "pln":
		fail("eval.noisy_pairs", "puts the noise of pairs on test pairs too, and there is none: set noise.kind: pln")
	case c.Batch.gives() != loss.Pairs:
		fail("eval.noisy_pairs", "test pairs are judged where pairs are trained on: set batch.sampler: pair-graph")
	}
}

func set(p *float64) int {
	if p != nil {
		return 1
	}
	return 0
}
