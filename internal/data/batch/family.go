package batch

import "tercet/internal/component"

// Samplers is the samplers that a config can name; those that give pairs and triplets
// register themselves in package noise.
var Samplers = component.NewFamily[SamplerKeys]("class-pairs", "class-pairs-distinct", "m-per-class", "balanced", "pair-graph", "triplet-list")

// SamplerKeys are the keys of a sampler.
type SamplerKeys interface {
	// Layout returns what the rows of its batches promise; see LayoutPairs.
	Layout() string
	// Rows returns the number of images of a full batch.
	Rows() int
}

// ByLabels is implemented by the keys of samplers that NewSampler makes.
type ByLabels interface{ Set(o *SamplerOptions) }

// Repeating is implemented by the keys of samplers whose batches may be of one class alone.
type Repeating interface{ Repeating() bool }

func init() {
	Samplers.Register(component.Component[SamplerKeys]{Name: "class-pairs", Doc: "pairs of images of one class, as published", Defaults: ClassPairs{Pairs: 56, Repeats: true}})
	Samplers.Register(component.Component[SamplerKeys]{Name: "class-pairs-distinct", Doc: "pairs, no class twice in a batch", Defaults: ClassPairs{Pairs: 56}})
	Samplers.Register(component.Component[SamplerKeys]{Name: "m-per-class", Doc: "some classes, some images of each", Defaults: MPerClass{Classes: 16, PerClass: 4}})
}

// ClassPairs draws pairs of images of one class. The sampler class-pairs lets
// classes repeat within a batch, as published; class-pairs-distinct does not.
type ClassPairs struct {
	Pairs   int  `yaml:"pairs" check:">=1,<=1000000" doc:"pairs in a batch: 2 x PAIRS images"`
	Repeats bool `yaml:"-"` // a class may have several pairs in a batch
}

// Check implements component.Checker.
func (k ClassPairs) Check() []component.Fault {
	if k.Pairs < 2 {
		return []component.Fault{component.Faultf("pairs", "must be at least 2, is %d: one pair has no negative", k.Pairs)}
	}
	return nil
}

// Layout implements SamplerKeys.
func (ClassPairs) Layout() string { return LayoutPairs }

// Repeating implements Repeating.
func (k ClassPairs) Repeating() bool { return k.Repeats }

// Rows implements SamplerKeys.
func (k ClassPairs) Rows() int { return 2 * k.Pairs }

// Set implements ByLabels.
func (k ClassPairs) Set(o *SamplerOptions) { o.Pairs = k.Pairs }

// MPerClass draws classes, then images of each.
type MPerClass struct {
	Classes  int `yaml:"classes" check:">=2,<=1000000" doc:"classes in a batch"`
	PerClass int `yaml:"per_class" check:">=2,<=1000000" doc:"images of each class in a batch"`
}

// Layout implements SamplerKeys.
func (k MPerClass) Layout() string {
	if k.PerClass != 2 {
		return LayoutGeneral
	}
	return LayoutPairs
}

// Rows implements SamplerKeys.
func (k MPerClass) Rows() int { return k.Classes * k.PerClass }

// Set implements ByLabels.
func (k MPerClass) Set(o *SamplerOptions) { o.Classes, o.PerClass = k.Classes, k.PerClass }
