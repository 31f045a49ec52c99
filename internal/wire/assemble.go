package wire

import (
	"errors"
	"fmt"

	"tercet/internal/component"
	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/batch"
	"tercet/internal/device"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/nn/gpu"
	"tercet/internal/engine/optim"
	"tercet/internal/engine/sharded"
	"tercet/internal/ranks"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/train"
)

// Assembled is a trainer with the parts that its interfaces hide.
type Assembled struct {
	*train.Trainer
	Model   *nn.Model
	Sets    *Sets
	Sampler batch.Sampler
	Tuples  *tuples                      // of a sampler that gives pairs, else nil
	Weights *record.TripletProbabilities // of triplet-robust, else nil
	Start   *record.StartWeights         // of the file that the model begins with, else nil
	Device  device.Info                  // that the model computes on; empty: the processor
}

// Assemble builds all components of cfg but the loader. The error is a *config.Error where a
// key is wrong, wraps data.ErrUnfit where the data do not allow the config, or is that of a
// file of weights or a device.
func Assemble(cfg *config.Config, sets *Sets) (*Assembled, error) {
	if err := pairable(sets.Seen()); err != nil {
		return nil, err
	}
	sampler, tuples, err := TrainingSampler(cfg, sets)
	if err != nil {
		return nil, InConfig("batch", err)
	}
	model, start, err := StartModel(cfg, sets.Train)
	if err != nil {
		return nil, err
	}
	if sets.Begin != nil {
		sets.Begin(model)
	}
	if cfg.Train.BatchNorm == "frozen-affine" {
		model.FreezeBatchNorm()
	}
	on, err := onDevice(cfg, model)
	if err != nil {
		return nil, err
	}
	t := &train.Trainer{Options: TrainOptions(cfg, sampler.Steps()), Model: model, Mined: rng.New(cfg.Seed, "mine")}
	weights, err := RobustWeights(cfg, sets)
	if err != nil {
		return nil, InConfig("loss", err)
	}
	if t.Objective, err = BuildObjective(cfg, weights); err != nil {
		return nil, InConfig("loss", err)
	}
	labels := sets.Seen().Labels()
	if t.Classes, err = beginLoss(cfg, t.Objective, model.Dim(), sets.Seen()); err != nil {
		return nil, InConfig("loss", err)
	}
	layout := sampler.Layout()
	if m := cfg.Loss.Memory; m.Size > 0 {
		t.Memory = &train.Memory{Size: m.Size, From: m.Warmup.Steps(t.StepsPerEpoch)}
		layout = batch.LayoutGeneral
	}
	if t.Miner, err = BuildMiner(cfg, layout, t.Objective, labels); err != nil {
		return nil, InConfig("miner", err)
	}
	if t.Memory != nil {
		if err := boundMemory(t, sampler, labels); err != nil {
			return nil, InConfig("loss.memory.size", err)
		}
	}
	side, _, _ := sets.Train.Shape()
	if t.Defense, err = BuildDefense(cfg, side, sampler.Layout(), t.Objective); err != nil {
		return nil, InConfig("defense", err)
	}
	if d, ok := t.Defense.(adversary.Binding); ok {
		if err := d.Bind(model); err != nil {
			return nil, InConfig("defense", err)
		}
	}
	if t.Optimizer, err = buildOptimizer(cfg, model, t.Objective, t.HeadOnly); err != nil {
		return nil, InConfig("optimizer", err)
	}
	if n := max(t.StepsPerEpoch, 1); cfg.Train.Epochs > component.MaxSteps/n || cfg.Train.Steps > component.MaxSteps {
		return nil, InConfig("train", fmt.Errorf("%d epochs of %d steps, or %d steps, are more than %d steps", cfg.Train.Epochs, n, cfg.Train.Steps, component.MaxSteps))
	}
	schedule, err := buildSchedule(cfg, t.Steps, t.StepsPerEpoch)
	if err != nil {
		return nil, InConfig("optimizer.schedule", err)
	}
	t.Schedule = schedule.LR
	t.Plateau, _ = schedule.Keys.(optim.FollowsScores)
	if cfg.Train.EMA > 0 {
		t.Average = &train.Average{Decay: cfg.Train.EMA}
	}
	a := &Assembled{t, model, sets, sampler, tuples, weights, start, on}
	return a, a.Deal(cfg, nil)
}

// beginLoss draws the parameters of a loss that has some, for the classes that occur in
// ds, whose names it returns.
func beginLoss(cfg *config.Config, obj loss.Objective, dim int, ds data.Dataset) (names []string, err error) {
	p, ok := obj.(loss.Parametric)
	if !ok {
		return nil, nil
	}
	for _, y := range mine.NewLabels(ds.Labels()).Classes() {
		names = append(names, ds.Classes()[y])
	}
	return names, p.Begin(dim, len(names), rng.New(cfg.Seed, "loss"))
}

// Deal makes training that of shards, if cfg has several, and of the ranks that comm
// connects; nil where there is one.
func (a *Assembled) Deal(cfg *config.Config, comm ranks.Comm) error {
	if cfg.Train.Shards == 1 && comm == nil {
		return nil
	}
	statistics := nn.OfBatch
	if cfg.Train.BatchNorm == "shard" {
		statistics = nn.OfShard
	}
	m, err := sharded.New(a.Model, cfg.Train.Shards, statistics, comm)
	if err != nil {
		return InConfig("train.shards", err)
	}
	a.Trainer.Model = m
	return nil
}

// onDevice makes m compute where train.device says.
func onDevice(cfg *config.Config, m *nn.Model) (device.Info, error) {
	i, err := gpu.Open(cfg.Train.Device)
	if err == nil {
		err = gpu.Attach(m)
	}
	if err != nil {
		return i, InConfig("train.device", err)
	}
	return i, nil
}

// InConfig makes what a component refuses a mistake in that section of the
// config, unless it is the data that do not fit.
func InConfig(key string, err error) error {
	if errors.Is(err, data.ErrUnfit) {
		return err
	}
	return &config.Error{Key: key, Msg: err.Error()}
}
