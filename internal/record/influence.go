package record

import "tercet/internal/lists"

// Influence is influence.json, schema tercet.influence/1: how far single training images
// move a network in some steps from a checkpoint on, trained once with the image and once
// with another one of its class in its place.
type Influence struct {
	Schema   string            `json:"schema" doc:"the name and number of the schema"`
	Source   Source            `json:"source" doc:"the images on which networks are compared, and the checkpoint"`
	Options  InfluenceOptions  `json:"options" doc:"the options of the command, with defaults filled in"`
	Loss     string            `json:"loss" doc:"name of the loss"`
	Of       string            `json:"of" doc:"'triplets' or 'pairs'"`
	Images   []InfluenceRecord `json:"images" doc:"the replaced images, largest movement first"`
	Drifted  Movement          `json:"drifted" doc:"how far the same steps move the network without a replacement"`
	Warnings []string          `json:"warnings,omitempty" doc:"what limits the meaning of the numbers"`
	Cost     CostRecord        `json:"cost" doc:"passes through the network, and the time"`
}

// InfluenceOptions are those of Influence.
type InfluenceOptions struct {
	Steps    int    `json:"steps" doc:"number of optimizer steps after the checkpoint"`
	Repeats  int    `json:"repeats" doc:"number of replaced images"`
	Replace  string `json:"replace" doc:"kind of replacement"`
	Triplets int    `json:"triplets" doc:"number of triplets on which networks are compared"`
	Seed     uint64 `json:"seed" doc:"random seed"`
	Limit    int    `json:"limit,omitempty" doc:"largest number of images of a set; 0 is all"`
}

// InfluenceRecord is what came of one image.
type InfluenceRecord struct {
	Replacement
	Uses     int      `json:"uses" doc:"how often a batch contained the image"`
	Movement Movement `json:"movement" doc:"how far apart the networks trained with and without the image are"`
}

func (Influence) kind() kind {
	return kind{schemas: []string{InfluenceSchema}, made: "influence"}
}

// From is the images that networks are compared on.
func (d Influence) From() Source { return d.Source }

// Covers is that of Stability. Other steps use other images.
func (d Influence) Covers(there Influence) []string {
	if other := otherThan(there.Options.Steps, d.Options.Steps, "steps"); other != nil {
		return other
	}
	plans := func(list []InfluenceRecord) []Replacement {
		return lists.Map(list, func(v InfluenceRecord) Replacement { return v.Replacement })
	}
	return fewerReplaced(there.Source, d.Source, there.Options.Triplets, d.Options.Triplets, there.Options.Seed, d.Options.Seed, plans(there.Images), plans(d.Images))
}

// Retrained is result.json of a retraining. Where its key, what the result depends on,
// is another one now, it is made again.
type Retrained[K comparable, R any] struct {
	Key    K    `json:"key"`
	Record R    `json:"record"`
	Cost   Cost `json:"cost"`
	// Seconds is set where the record does not say what the training took.
	Seconds float64 `json:"seconds,omitempty"`
	// Same says of a retraining without replacement that it gave the run's bits.
	Same bool `json:"same,omitempty"`
}

// RetrainKey is what the result of one replacement depends on.
type RetrainKey struct {
	Config   string      `json:"config"` // hash of the retrained config
	Version  string      `json:"version"`
	Base     string      `json:"base"` // weights that it is compared with, and kernels
	Train    string      `json:"train"`
	Probe    string      `json:"judges"`
	Triplets int         `json:"triplets"`
	Seed     uint64      `json:"seed"`
	Replaced Replacement `json:"replaced"`
	Movement int         `json:"movement,omitempty"` // the form that Movement has
}

// InfluenceKey is what a kept influence depends on.
type InfluenceKey struct {
	RetrainKey
	Step  int `json:"step"`
	Steps int `json:"steps"`
}

// KeptInfluence is a file of RUN/stability/influence.
type KeptInfluence struct {
	Key      InfluenceKey `json:"key"`
	Movement Movement     `json:"movement"`
	Cost     CostRecord   `json:"cost"`
}
