package config

import (
	"tercet/internal/component"
	"tercet/internal/data"
	_ "tercet/internal/data/annotated" // registers its sources
	"tercet/internal/data/batch"
	_ "tercet/internal/data/sources" // the same
	"tercet/internal/device"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/adversary/hardness"
	"tercet/internal/engine/loss"
	_ "tercet/internal/engine/loss/labeled" // registers its losses
	"tercet/internal/engine/mahalanobis"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/optim"
	"tercet/internal/noise"
)

// part is one choice of a polymorphic section.
type part = component.Component[any]

// families are the choices of the keys with a tag choice. Components register themselves
// in the package that they belong to; the first of a family is its default.
var families = map[string][]part{
	"data":        data.Family.Plain(),
	"split":       data.Splits.Plain(),
	"noise":       noise.Family.Plain(),
	"model":       nn.Family.Plain(),
	"mean_std":    nn.Standards.Plain(),
	"algorithm":   mahalanobis.Family.Plain(),
	"sampler":     batch.Samplers.Plain(),
	"loss":        loss.Family.Plain(),
	"miner":       mine.Family.Plain(),
	"defense":     adversary.Family.Plain(),
	"destination": hardness.Destinations.Plain(),
	"optimizer":   optim.Family.Plain(),
	"schedule":    optim.Schedules.Plain(),
}

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
		Batch:  Batch{Views: 1, DropLast: true, Prefetch: 2},
		Optimizer: Optimizer{
			LR:       1e-3,
			Decay:    "l2",
			Schedule: Schedule{Warmup: component.Span{Unit: "steps"}},
		},
		Train: Train{
			Epochs:          10,
			BatchNorm:       "train",
			Shards:          1,
			Accumulate:      1,
			Device:          device.CPU,
			LogEvery:        20,
			EvalEvery:       1,
			EvalSamples:     2000,
			CheckpointEvery: component.Span{N: 5, Unit: "minutes"},
			EarlyStop:       EarlyStop{Patience: 5, On: "validation"},
			Collapse:        Collapse{Enabled: true, Window: 100, Cosine: 0.99, Rank: 1.5},
		},
		Search: Search{Method: "random", Trials: 20, Eta: 3},
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
