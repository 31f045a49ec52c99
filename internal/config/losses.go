package config

// lossRules holds what a loss asks of the rest.
func (c *Config) lossRules(fail func(key, format string, args ...any)) {
	var alpha, beta float64
	switch o := c.Loss.Options.(type) {
	case CappedLoss:
		alpha, beta = o.Alpha, o.Beta
	case ThresholdLoss:
		alpha, beta = o.Alpha, o.Beta
		switch c.Defense.Name {
		case "act", "minmax", "hm":
			if o.Pairing == "pairs" {
				fail("loss.pairing", "defense %s trains on triplets that it has perturbed: set loss.pairing: triplets", c.Defense.Name)
			}
		}
	default:
		return
	}
	if alpha <= beta {
		fail("loss.alpha", "must be above loss.beta (%s), is %s: negatives have to be farther than positives may be", number(beta), number(alpha))
	}
	if c.Model.Normalize && alpha > 4 {
		fail("loss.alpha", "must be at most 4, is %s: embeddings of length 1 are at most 2 apart, 4 in squared distance; lower it, or set model.normalize: false", number(alpha))
	}
}
