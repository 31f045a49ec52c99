package experiment

import (
	"fmt"

	"tercet/internal/config"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
)

// buildDefense makes the defence of cfg for images of that side in pixels, batches
// of the sampler's layout and the loss obj.
func buildDefense(cfg *config.Config, side int, layout string, obj loss.Objective) (adversary.Defense, error) {
	switch o := cfg.Defense.Options.(type) {
	case config.NoDefense:
		return adversary.None{}, nil
	case config.ESTDefense:
		e, err := adversary.ESTDefaults(adversary.Variant(o.Variant))
		if err != nil {
			return nil, err
		}
		e.PGD = crafting(o.PGD, side)
		set(&e.Tolerance, o.PGD.Tolerance)
		return adversary.NewEST(e)
	case config.ACTDefense:
		a, err := adversary.ACTDefaults(adversary.Variant(o.Variant))
		if err != nil {
			return nil, err
		}
		a.PGD = crafting(o.PGD, side)
		set(&a.Tolerance, o.PGD.Tolerance)
		return adversary.NewACT(a)
	case config.MinMaxDefense:
		m, err := adversary.MinMaxDefaults(adversary.Variant(o.Variant))
		if err != nil {
			return nil, err
		}
		m.PGD, m.Anchor = crafting(o.PGD, side), o.Anchor
		set(&m.Tolerance, o.PGD.Tolerance)
		return adversary.NewMinMax(m)
	case config.HMDefense:
		return buildHM(cfg, o, side, layout, obj)
	default:
		return nil, fmt.Errorf("defense %s: no wiring for options %T", cfg.Defense.Name, o)
	}
}

// buildHM makes hardness manipulation. Its triplets are those that the loop mines:
// see minerName.
func buildHM(cfg *config.Config, c config.HMDefense, side int, layout string, obj loss.Objective) (adversary.Defense, error) {
	o, err := adversary.HMDefaults(adversary.Variant(c.Variant), obj.Margin())
	if err != nil {
		return nil, err
	}
	o.Source = minerName(cfg)
	o.Mine = mineOptions(cfg, layout, obj)
	d := &o.Destination
	d.Name = c.Destination.Name
	switch h := c.Destination.Options.(type) {
	case config.SamplerHardness:
	case config.ConstantHardness:
		d.Value = h.Value
	case config.BoostedHardness:
		d.Sampler, d.Xi = h.Sampler, h.Xi
		set(&d.U, h.U)
	case config.GradualHardness:
		set(&d.Gamma, h.Gamma)
		set(&d.U, h.U)
	default:
		return nil, fmt.Errorf("destination %s: no wiring for options %T", d.Name, h)
	}
	o.ICS = adversary.ICSOptions{Lambda: c.ICS.Lambda, Margin: c.ICS.Margin}
	set(&o.Tolerance, c.PGD.Tolerance)
	o.PGD = crafting(c.PGD, side)
	// Triplets that have arrived have no gradient: leaving them out of further
	// passes saves half of them and changes no bit of the weights.
	o.Narrow = o.PGD.Mode == nn.Eval
	return adversary.NewHM(o)
}

// atMost returns cfg with a defence that takes all steps for all triplets: what
// hardness manipulation saves depends on the network, and a plan has none.
func atMost(cfg *config.Config) *config.Config {
	h, ok := cfg.Defense.Options.(config.HMDefense)
	if !ok {
		return cfg
	}
	// No triplet is as hard as 2.
	c := *cfg
	h.Destination = config.Destination{Name: "constant", Options: config.ConstantHardness{Value: 2}}
	h.PGD.Tolerance = new(float64)
	c.Defense.Options = h
	return &c
}

// set replaces a default by what the config says.
func set(to, v *float64) {
	if v != nil {
		*to = *v
	}
}

// smallImages is the side up to which images get the budget of MNIST, in attacks
// and in crafting.
const smallImages = 64

// crafting returns the attack of a training step: from c, with the papers' budget
// for images of that side where c leaves it open.
func crafting(c config.Crafting, side int) adversary.PGD {
	p := adversary.Training()
	p.Norm, p.Start, p.Iterations = adversary.Norm(c.Norm), adversary.Start(c.Start), c.Steps
	p.Eps, p.Step = 8./255, 1./255
	if side <= smallImages {
		p.Eps, p.Step = 77./255, 3./255
	}
	if c.Eps != nil {
		p.Eps = *c.Eps
	}
	if c.Alpha != nil {
		p.Step = *c.Alpha
	}
	if c.Scale == "ball" {
		p.Step = adversary.ScaledStep(p.Eps, c.Steps)
	}
	if p.Norm == adversary.L2 {
		p.Direction = adversary.Normalized
	}
	if c.BatchNorm == "batch" {
		p.Mode = nn.BatchStats
	}
	return p
}
