package config

import "reflect"

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
	Search    Search    `yaml:"search" doc:"what tercet tune searches, and how"`

	src *source // what it was built from, for origins, sweeps and resolving
}

// Sections are the keys of the first level, in the order of Config.
func Sections() []string {
	var out []string
	for f := range reflect.TypeFor[Config]().Fields() {
		if key := f.Tag.Get("yaml"); key != "" {
			out = append(out, key)
		}
	}
	return out
}

// Axis is one swept key and its values, each written as YAML on one line.
type Axis struct {
	Key    string
	Values []string

	at origin
}

// Axes are a config's sweep in the order of the file.
type Axes []Axis
