package adversary

import (
	"tercet/internal/component"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
)

// Family is the defenses that a config can name. A defense registers itself in its
// file.
var Family = component.NewFamily[Keys]("none", "est", "act", "minmax", "hm", "free", "noise", "ibp")

// Keys are the keys of a defense in a config, and what the rest of the program asks
// about the defense before it has one. What only some can answer are the interfaces
// below.
type Keys interface {
	// New returns the defense, or an error naming the key that is wrong.
	New(s Setting) (Defense, error)
}

// Setting is what a defense needs of the rest of an experiment.
type Setting struct {
	Side   int          // of the images in pixels
	Margin float64      // of the loss
	Miner  string       // whose triplets are perturbed
	Mine   mine.Options // of miners that the defense runs itself
}

// Crafter is implemented by the keys of defenses that perturb images.
type Crafter interface{ Crafting() CraftingKeys }

// OnTriplets is implemented by the keys of defenses that perturb triplets, one for
// each anchor.
type OnTriplets interface {
	// Samples says whether the defense samples its triplets itself, so that it cannot
	// take given ones.
	Samples() bool
}

// Sourced is implemented by the keys of defenses that may name a sampler of triplets
// in place of the miner; "" where they do not.
type Sourced interface{ Sampler() string }

// Replaying is implemented by the keys of defenses that train on a batch several times in
// a row.
type Replaying interface{ Times() int }

// Saving is implemented by the keys of defenses whose cost depends on the network.
type Saving interface {
	// AtMost returns the defense of the same options that saves nothing.
	AtMost() Keys
}

// Fitter is implemented by the keys of defenses that ask something of the rest of an
// experiment. Keys of the faults are whole, such as "loss.name".
type Fitter interface {
	Fit(in Fitting) []component.Fault
}

// Fitting is what defenses may ask of the rest.
type Fitting struct {
	Normalized bool // embeddings have length 1
	Loss       loss.Options
	Shards     int  // that a batch is dealt to
	HeadOnly   bool // the last layer is trained alone at first
	OnDevice   bool // another device than the processor computes the network
}

func init() {
	Family.Register(component.Component[Keys]{Name: "none", Doc: "clean images", Defaults: NoKeys{}})
}

// NoKeys trains on clean images.
type NoKeys struct{}

// New implements Keys.
func (NoKeys) New(Setting) (Defense, error) { return None{}, nil }
