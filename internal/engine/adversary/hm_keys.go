package adversary

import (
	"slices"

	"tercet/internal/component"
	"tercet/internal/engine/adversary/hardness"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/names"
)

func init() {
	Family.Register(component.Component[Keys]{
		Name: "hm", Doc: "hardness manipulation: triplets perturbed until they are as hard as a destination",
		Defaults: HMKeys{Implementation: "paper", ICS: ICSKeys{Triplet: Structure}, PGD: CraftingDefaults()},
	})
}

// HMKeys are hardness manipulation: triplets of the source are perturbed until they are
// as hard as the destination.
type HMKeys struct {
	Implementation string       `yaml:"implementation" was:"variant" words:"published=robrank" enum:"paper|robrank" doc:"robrank is the authors' code: 1e-6 in every coordinate difference, 0.2 for gamma and u, first loss 2, crafting that ends when the objective no longer changes"`
	Source         *string      `yaml:"source" doc:"sampler of triplets to use instead of the miner; null: use the miner"`
	Destination    Target       `yaml:"destination" doc:"how hard they shall become"`
	ICS            ICSKeys      `yaml:"ics" doc:"intra-class structure loss"`
	PGD            CraftingKeys `yaml:"pgd" doc:"how images are perturbed"`
}

// Target is a target hardness d(a,p) - d(a,n): a component of hardness.Destinations.
type Target struct {
	Name    string        `yaml:"name" choice:"destination" doc:"how hard triplets shall become"`
	Options hardness.Keys `yaml:"-"`
}

// ICSKeys add LAMBDA max(0, d(x,y) - d(x,z) + MARGIN) to the loss, by default the
// intra-class structure loss, with x, y, z = a, a~, p.
type ICSKeys struct {
	Triplet string  `yaml:"triplet" enum:"structure|crafted-positive|positive|crafted-negative|benign|benign-pair" doc:"(x, y, z) of benign a, p, n and perturbed a~, p~, n~: structure (a, a~, p), the paper's; crafted-positive (a, a~, p~); positive (p, p~, a); crafted-negative (a, a~, n~); benign (a, p, n), regular training mixed in; benign-pair (a, p, n~)"`
	Lambda  float64 `yaml:"lambda" check:">=0" doc:"weight; 0 leaves it out, the paper has 0.5 (0.05 on SOP)"`
	Margin  float64 `yaml:"margin" check:">=0" doc:"margin; 0 in the paper"`
}

// New implements Keys.
func (k HMKeys) New(s Setting) (Defense, error) {
	o, err := HMDefaults(Implementation(k.Implementation), s.Margin)
	if err != nil {
		return nil, err
	}
	o.Source, o.Mine = s.Miner, s.Mine
	o.Destination.Name = k.Destination.Name
	k.Destination.Options.Set(&o.Destination)
	o.ICS = ICSOptions(k.ICS)
	given(&o.Tolerance, k.PGD.Tolerance)
	o.PGD = k.PGD.PGD(s.Side)
	// Triplets that have arrived have no gradient: leaving them out of further
	// passes saves half of them and changes no bit of the weights.
	o.Narrow = o.PGD.Mode == nn.Eval
	return NewHM(o)
}

// Check implements component.Checker.
func (k HMKeys) Check() []component.Fault { return append(k.PGD.faults(), k.sourceFaults()...) }

// sourceFaults refuses a source that is no sampler.
func (k HMKeys) sourceFaults() (out []component.Fault) {
	if k.Source != nil && !slices.Contains(mine.Samplers(), *k.Source) {
		out = append(out, component.Faultf("source", "unknown value %q; %s", *k.Source, names.Unknown(*k.Source, mine.Samplers())))
	}
	return out
}

// Fit implements Fitter.
func (k HMKeys) Fit(in Fitting) (out []component.Fault) {
	out = k.PGD.fit(in)
	d, gradual := k.Destination.Options.(hardness.Following)
	if !gradual || !d.AgainstMargin() {
		return out
	}
	o, ok := in.Loss.(loss.AgainstMargin)
	if !ok {
		return append(out, component.Faultf("loss.name", "destination %s compares the loss with the margin: set loss: triplet, or give %s", k.Destination.Name, d.Given()))
	}
	for _, f := range o.AgainstMargin() {
		out = append(out, component.Faultf("loss."+f.Key, "destination %s %s", k.Destination.Name, f.Msg))
	}
	return out
}

// Crafting implements Crafter.
func (k HMKeys) Crafting() CraftingKeys { return k.PGD }

// Samples implements OnTriplets.
func (HMKeys) Samples() bool { return true }

// Sampler implements Sourced.
func (k HMKeys) Sampler() string {
	if k.Source == nil {
		return ""
	}
	return *k.Source
}

// AtMost implements Saving: all steps for all triplets. What hardness manipulation
// saves depends on the network.
func (k HMKeys) AtMost() Keys {
	// No triplet is as hard as 2.
	k.Destination = Target{Name: "constant", Options: hardness.Constant{Value: 2}}
	k.PGD.Tolerance = new(float64)
	return k
}
