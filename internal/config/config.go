// Package config is the typed schema of an experiment and its strict reader.
//
// A section is a struct whose tags carry everything that is known about a key:
//
//	yaml:"margin"       its name
//	check:">0,<=2"      the values it may take (for a list: each item)
//	enum:"mean|sum"     the words it may take
//	units:"steps,epochs" the units of a Span, the first one for bare numbers
//	oneof:"length"      keys of which a later layer's choice replaces an earlier one's
//	was:"variant"       its former name, still read
//	words:"old=new"     words that it took under that name, split by |
//	doc:"..."           one line for help and the JSON Schema
//
// A section with a field tagged choice:"family" is polymorphic: the value of
// that key names a component of the family, whose own keys are added to the
// section's common ones, and are decoded into the section's Options field.
// Components register themselves in families: see package component.
package config

// Config is one experiment, complete: every key has a value.
type Config struct {
	Name      string    `yaml:"name" doc:"the run's name; its directory is runs/NAME"`
	Seed      uint64    `yaml:"seed" doc:"seed of every random stream of the run"`
	Data      Data      `yaml:"data" doc:"images, labels and how they are split"`
	Noise     Noise     `yaml:"noise" doc:"label noise put on the training data"`
	Model     Model     `yaml:"model" doc:"the embedder"`
	Metric    Metric    `yaml:"metric" doc:"how model mahalanobis is fitted; of no other model"`
	Batch     Batch     `yaml:"batch" doc:"which images come next"`
	Loss      Loss      `yaml:"loss" doc:"the objective"`
	Miner     Miner     `yaml:"miner" doc:"how the tuples of a batch are mined"`
	Defense   Defense   `yaml:"defense" doc:"adversarial training"`
	Optimizer Optimizer `yaml:"optimizer" doc:"how weights are updated"`
	Train     Train     `yaml:"train" doc:"length, logging, checkpoints, stops"`
	Eval      Eval      `yaml:"eval" doc:"what is measured on the test images"`
	Axes      Axes      `yaml:"sweep" doc:"dotted key to a list of values: the product is a list of runs"`

	src *source // what it was built from, for origins, sweeps and resolving
}

// Axis is one swept key and its values, each written as YAML on one line.
type Axis struct {
	Key    string
	Values []string

	at origin
}

// Axes are a config's sweep in the order of the file.
type Axes []Axis
