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

// robustRules holds what the weights of triplet-robust ask of each other.
func (c *Config) robustRules(fail func(key, format string, args ...any)) {
	o, ok := c.Loss.Options.(RobustLoss)
	if !ok {
		return
	}
	switch {
	case o.Beta.Given != o.Gamma.Given:
		fail("loss.beta", "beta and gamma go together: set both to numbers or both to auto")
	case o.Beta.Given && o.Rho != nil:
		fail("loss.rho", "is another way to say what beta and gamma say: set rho to null, or beta and gamma to auto")
	case o.Beta.Given && o.Beta.N+o.Gamma.N <= 1:
		fail("loss.beta", "beta + gamma is %s: at 1 triplets say nothing, and below 1 the opposite of what they seem to; it must be above 1", number(o.Beta.N+o.Gamma.N))
	case o.NoiseFrom != "" && (o.Beta.Given || o.Rho != nil):
		fail("loss.noise_from", "is read for beta and gamma that are auto; remove it, or their numbers and rho")
	case o.known():
	case c.Noise.Kind == "confusion" || c.Noise.Kind == "pair-flip":
		fail("loss.beta", "auto does not follow from noise %s: set beta and gamma, or noise_from", c.Noise.Kind)
	}
	if (o.Form == "backward" || o.Form == "odd") && !c.Model.Normalize {
		fail("loss.form", "%s has no lowest value on embeddings of any length: set model.normalize: true, or another form", o.Form)
	}
}

// known says whether the weights do not follow from the noise in force.
func (o RobustLoss) known() bool { return o.Beta.Given || o.Rho != nil || o.NoiseFrom != "" }
