package config

// onPairs says whether the loss works on pairs.
func (l Loss) onPairs() bool {
	switch o := l.Options.(type) {
	case ContrastiveLoss, CosineLoss:
		return true
	case ThresholdLoss:
		return o.Pairing == "pairs"
	}
	return false
}

// gives says what tuples a sampler gives: "pairs", "triplets", or none, where a
// miner finds them.
func (b Batch) gives() string {
	switch b.Options.(type) {
	case PairGraph:
		return "pairs"
	case TripletList:
		return "triplets"
	}
	return ""
}

// tupleRules holds what losses, samplers, miners and defences ask of each other.
func (c *Config) tupleRules(fail func(key, format string, args ...any)) {
	gives, pairs, sampler := c.Batch.gives(), c.Loss.onPairs(), c.Batch.Sampler
	switch {
	case gives == "pairs" && !pairs && c.Loss.Name == "triplet-threshold":
		fail("loss.pairing", "sampler %s gives pairs: set loss.pairing: pairs", sampler)
	case gives == "pairs" && !pairs:
		fail("loss.name", "sampler %s gives pairs, and %s wants triplets: set loss: contrastive or cosine, or batch.sampler: triplet-list", sampler, c.Loss.Name)
	case gives == "triplets" && c.Loss.Name == "triplet-threshold" && pairs:
		fail("loss.pairing", "sampler %s gives triplets: set loss.pairing: triplets", sampler)
	case gives == "triplets" && pairs:
		fail("loss.name", "sampler %s gives triplets, and %s wants pairs: set loss: triplet or triplet-robust, or batch.sampler: pair-graph", sampler, c.Loss.Name)
	}
	if first := families["miner"][0].name; c.Miner.Name != first {
		switch {
		case gives != "":
			fail("miner.name", "sampler %s gives its %s, so no miner is asked: remove miner", sampler, gives)
		case c.Loss.Name == "contrastive" || c.Loss.Name == "cosine":
			fail("miner.name", "loss %s takes every pair of a batch, so no miner is asked: remove miner", c.Loss.Name)
		}
	}
	switch d := c.Defense.Name; d {
	case "act", "minmax", "hm":
		switch {
		case c.Loss.Name == "contrastive" || c.Loss.Name == "cosine":
			fail("defense.name", "%s perturbs triplets, and loss %s trains on pairs: take defense none or est, or a triplet loss", d, c.Loss.Name)
		case d == "hm" && gives == "triplets":
			fail("defense.name", "hm samples its own triplets from a batch, and sampler %s gives them: take another sampler, or defense act or minmax", sampler)
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
		if c.Batch.gives() != "triplets" {
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
	case c.Batch.gives() != "pairs":
		fail("eval.noisy_pairs", "test pairs are judged where pairs are trained on: set batch.sampler: pair-graph")
	}
}

func set(p *float64) int {
	if p != nil {
		return 1
	}
	return 0
}
