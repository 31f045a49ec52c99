package adversary

import (
	"tercet/internal/component"
	"tercet/internal/engine/mine"
)

func init() {
	for _, name := range mine.Samplers() {
		doc := "hardness of " + name + " triplets"
		if name == "hardest" {
			doc = "hardness of the hardest triplets"
		}
		Destinations.Register(component.Component[DestinationKeys]{Name: name, Doc: doc, Defaults: SamplerHardness{}})
	}
}

// SamplerHardness is the hardness of triplets that a sampler draws from the same clean
// embeddings, anchor by anchor.
type SamplerHardness struct{}

func (SamplerHardness) set(*Destination) {}

func (SamplerHardness) check(Destination) error { return nil }

func (SamplerHardness) sampler(d Destination) string { return d.Name }

func (SamplerHardness) pseudo(Destination, float64) float64 { return 0 }
