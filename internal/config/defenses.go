package config

import (
	"slices"
	"strings"

	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/names"
)

// NoDefense trains on clean images.
type NoDefense struct{}

// ESTDefense trains on images perturbed to move their own embeddings (embedding
// shift training).
type ESTDefense struct {
	Variant string   `yaml:"variant" enum:"paper|published" doc:"published adds 1e-6 to every coordinate difference, as the authors' code does"`
	PGD     Crafting `yaml:"pgd" doc:"how images are perturbed"`
}

// ACTDefense perturbs positive and negative towards each other (anti-collapse
// triplets).
type ACTDefense struct {
	Variant string   `yaml:"variant" enum:"paper|published" doc:"published adds 1e-6 to every coordinate difference, as the authors' code does"`
	PGD     Crafting `yaml:"pgd" doc:"how images are perturbed"`
}

// MinMaxDefense perturbs triplets to be as hard as they can be.
type MinMaxDefense struct {
	Variant string   `yaml:"variant" enum:"paper|published" doc:"published adds 1e-6 to every coordinate difference, as the authors' code does"`
	Anchor  bool     `yaml:"anchor" doc:"perturb the anchor too"`
	PGD     Crafting `yaml:"pgd" doc:"how images are perturbed"`
}

// HMDefense is hardness manipulation: triplets of the source are perturbed until
// they are as hard as the destination.
type HMDefense struct {
	Variant     string      `yaml:"variant" enum:"paper|published" doc:"published is the authors' code: 1e-6 in every coordinate difference, 0.2 for gamma and u, first loss 2, crafting that ends when the objective stands still"`
	Source      *string     `yaml:"source" doc:"sampler of the triplets, in place of the miner; null takes the miner"`
	Destination Destination `yaml:"destination" doc:"how hard they shall become"`
	ICS         ICS         `yaml:"ics" doc:"intra-class structure loss"`
	PGD         Crafting    `yaml:"pgd" doc:"how images are perturbed"`
}

// Destination is a wanted hardness d(a,p) - d(a,n). Options is SamplerHardness,
// ConstantHardness, BoostedHardness or GradualHardness.
type Destination struct {
	Name    string `yaml:"name" choice:"destination" doc:"how hard triplets shall become"`
	Options any    `yaml:"-"`
}

// SamplerHardness is the hardness of triplets that a sampler draws.
type SamplerHardness struct{}

// ConstantHardness is one number.
type ConstantHardness struct {
	Value float64 `yaml:"value" check:">=-2,<=2" doc:"the hardness; the paper has 0, -gamma/2 and -gamma"`
}

// BoostedHardness is g_B: a sampler's hardness, raised as the loss falls.
type BoostedHardness struct {
	Sampler string   `yaml:"sampler" enum:"random|semihard|softhard|softhard-strict|distance-weighted|hardest" doc:"whose hardness is raised"`
	Xi      float64  `yaml:"xi" check:">=0" doc:"what is added at a loss of 0"`
	U       *float64 `yaml:"u" check:">0" doc:"the loss that counts as 1; null takes the loss's margin"`
}

// GradualHardness is -gamma times a power of the loss of the step before.
type GradualHardness struct {
	Gamma *float64 `yaml:"gamma" check:">=0,<=2" doc:"the easiest destination is -GAMMA; null takes the loss's margin"`
	U     *float64 `yaml:"u" check:">0" doc:"the loss that counts as 1; null takes the loss's margin"`
}

// ICS is the intra-class structure loss LAMBDA max(0, d(a,a~) - d(a,p) + MARGIN).
type ICS struct {
	Lambda float64 `yaml:"lambda" check:">=0" doc:"weight; 0 leaves it out, the paper has 0.5 (0.05 on SOP)"`
	Margin float64 `yaml:"margin" check:">=0" doc:"margin; 0 in the paper"`
}

// Crafting is projected gradient descent on the images of a training step.
type Crafting struct {
	Norm      string   `yaml:"norm" enum:"linf|l2" doc:"the ball"`
	Eps       *float64 `yaml:"eps" check:">=0" doc:"radius, pixels in [0, 1]; null takes 77/255 for images of up to 64 pixels and 8/255 for larger ones"`
	Alpha     *float64 `yaml:"alpha" check:">0" doc:"step size; null takes 3/255 for images of up to 64 pixels and 1/255 for larger ones"`
	Steps     int      `yaml:"steps" check:">=1,<=10000" doc:"eta, gradient steps; a single one has length eps"`
	Scale     string   `yaml:"scale" enum:"fixed|ball" doc:"fixed steps by alpha; ball by 2.5 eps / steps, so that few steps reach the ball's edge too"`
	Start     string   `yaml:"start" enum:"clean|random" doc:"from the clean image, or from a random point of the ball"`
	BatchNorm string   `yaml:"batchnorm" enum:"running|batch" doc:"statistics of batch norm while crafting"`
	Tolerance *float64 `yaml:"tolerance" check:">=0" doc:"end crafting when the objective changes by less; null is the variant's own, 0 takes all steps"`
}

// crafting returns the pgd section of a defence; ok is false where it has none.
func (d Defense) crafting() (c Crafting, ok bool) {
	switch o := d.Options.(type) {
	case ESTDefense:
		return o.PGD, true
	case ACTDefense:
		return o.PGD, true
	case MinMaxDefense:
		return o.PGD, true
	case HMDefense:
		return o.PGD, true
	}
	return c, false
}

// defenseRules holds what a defence asks of the rest.
func (c *Config) defenseRules(fail func(key, format string, args ...any)) {
	p, ok := c.Defense.crafting()
	if !ok {
		return
	}
	if c.Data.Options.Traits().Vectors {
		fail("defense.name", "%s perturbs pixels in [0, 1]; data %s are vectors", c.Defense.Name, c.Data.Name)
	}
	if p.Norm == "linf" && p.Eps != nil && *p.Eps > 1 {
		fail("defense.pgd.eps", "pixels lie in [0, 1]; write 8/255 for 8")
	}
	if p.Eps != nil && *p.Eps == 0 {
		fail("defense.pgd.eps", "is 0: a defence that perturbs nothing; write defense: none")
	}
	if p.Norm == "l2" && p.Eps == nil {
		fail("defense.pgd.eps", "must be set for the l2 ball; the usual budgets are for linf")
	}
	if p.Norm == "l2" && p.Alpha == nil && p.Scale == "fixed" && p.Steps > 1 {
		fail("defense.pgd.alpha", "must be set for the l2 ball, or set defense.pgd.scale: ball")
	}
	if c.Defense.Name != "est" && !slices.Contains(mine.Samplers(), c.Miner.Name) && !c.sourced() {
		fail("miner.name", "defense %s needs one triplet for each anchor: %s", c.Defense.Name, strings.Join(mine.Samplers(), ", "))
	}
	h, ok := c.Defense.Options.(HMDefense)
	if !ok {
		return
	}
	if !c.Model.Normalize {
		fail("defense.name", "hm compares distances of embeddings of length 1: set model.normalize: true")
	}
	if h.Destination.gradual() {
		c.gradualRules(h.Destination.Name, fail)
	}
	if h.Source != nil && !slices.Contains(mine.Samplers(), *h.Source) {
		fail("defense.source", "there is no %q here; %s", *h.Source, names.Unknown(*h.Source, mine.Samplers()))
	}
}

// gradualRules holds what a destination that follows the loss asks of the loss.
func (c *Config) gradualRules(destination string, fail func(key, format string, args ...any)) {
	o, ok := c.Loss.Options.(loss.AgainstMargin)
	if !ok {
		fail("loss.name", "destination %s compares the loss with the margin: set loss: triplet", destination)
		return
	}
	for _, f := range o.AgainstMargin() {
		fail("loss."+f.Key, "destination %s %s", destination, f.Msg)
	}
}

// gradual says whether the destination follows the loss.
func (d Destination) gradual() bool {
	switch d.Options.(type) {
	case BoostedHardness, GradualHardness:
		return true
	}
	return false
}

// sourced says whether the defence names its own sampler.
func (c *Config) sourced() bool {
	h, ok := c.Defense.Options.(HMDefense)
	return ok && h.Source != nil
}
