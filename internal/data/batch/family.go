package batch

import (
	"tercet/internal/component"
	"tercet/internal/data"
)

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

// ByLabels is implemented by the keys of samplers over the labels of a dataset.
type ByLabels interface {
	// New returns the sampler. An error wraps ErrUnfit where ds has too few samples or
	// classes for it.
	New(ds data.Dataset, o Options) (Sampler, error)
}

// Options are what samplers by labels have in common.
type Options struct {
	Seed     uint64
	DropLast bool // leave out a short last batch
}

// Repeating is implemented by the keys of samplers whose batches may contain a single
// class.
type Repeating interface{ Repeating() bool }

// OfClasses is implemented by the keys of samplers that fill a batch with several images
// of several classes.
type OfClasses interface{ ClassesPerBatch() int }
