package config

import (
	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mahalanobis"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/optim"
)

// part is one choice of a polymorphic section.
type part = component.Component[any]

// families lists every component once: most register themselves in the package that
// they belong to. The first of a family is its default.
var families = map[string][]part{
	"data":  data.Family.Plain(),
	"split": data.Splits.Plain(),
	"noise": {
		of("none", "labels as they are", NoNoise{}, nil),
		of("sln", "each label flips to another class with one probability (symmetric label noise)", SymmetricNoise{Rate: new(0.2)}, nil),
		of("pln", "each label of a pair becomes a fair coin with one probability (pair label noise)", PairNoise{Q: new(0.2)}, nil),
		of("triplet-flip", "positive and negative of a triplet change places with one probability", TripletNoise{Rate: 0.2}, nil),
		of("confusion", "labels change by a matrix of probabilities", ConfusionNoise{}, nil),
		of("pair-flip", "labels become the next class's with one probability", PairFlipNoise{Rate: 0.2}, nil),
	},
	"model":     nn.Family.Plain(),
	"algorithm": mahalanobis.Family.Plain(),
	"sampler": {
		of("class-pairs", "pairs of images of one class, as published", ClassPairs{Pairs: 56}, nil),
		of("class-pairs-distinct", "pairs, no class twice in a batch", ClassPairs{Pairs: 56}, nil),
		of("m-per-class", "some classes, some images of each", MPerClass{Classes: 16, PerClass: 4}, nil),
		of("pair-graph", "a list of pairs, as many similar as different (DIBS)", PairGraph{Scenario: "s2", Pairs: 6000, Negatives: "same-index", Order: "shuffled", Size: 128}, everyTuple),
		of("triplet-list", "a list of random triplets", TripletList{Triplets: 60000, Size: 128}, everyTuple),
	},
	"loss":        loss.Family.Plain(),
	"miner":       mine.Family.Plain(),
	"defense":     adversary.Family.Plain(),
	"destination": adversary.Destinations.Plain(),
	"optimizer":   optim.Family.Plain(),
	"schedule":    optim.Schedules.Plain(),
}

func of(name, doc string, defaults any, preset map[string]any) part {
	return part{Name: name, Doc: doc, Defaults: defaults, Preset: preset}
}

// everyTuple keeps an epoch's last batch: a list is meant to be seen whole.
var everyTuple = map[string]any{"drop_last": false}

// common returns the defaults of the keys that are no component's.
func common() *Config {
	return &Config{
		Name: "run",
		Data: Data{Fit: "stretch", Color: "native"},
		Model: Model{
			Normalize: true,
			Init:      "pytorch",
		},
		Metric: Metric{Loss: "logistic", HuberDelta: 1, Positive: each},
		Batch:  Batch{DropLast: true, Prefetch: 2},
		Optimizer: Optimizer{
			LR:       1e-3,
			Decay:    "l2",
			Schedule: Schedule{Warmup: component.Span{Unit: "steps"}},
		},
		Train: Train{
			Epochs:          10,
			BatchNorm:       "train",
			LogEvery:        20,
			EvalEvery:       1,
			EvalSamples:     2000,
			CheckpointEvery: component.Span{N: 5, Unit: "minutes"},
			EarlyStop:       EarlyStop{Patience: 5, On: "validation"},
			Collapse:        Collapse{Enabled: true, Window: 100, Cosine: 0.99, Rank: 1.5},
		},
		Eval: Eval{
			Ks:        []int{1, 2, 4, 8},
			KMeans:    KMeans{NInit: 10},
			Bootstrap: 1000,
			Baselines: true,
			Batch:     256,
			Pairs:     9000,
		},
	}
}
