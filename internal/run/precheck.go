package run

import (
	"context"
	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/engine/mahalanobis"
	"tercet/internal/engine/optim"
	"tercet/internal/wire"
)

// CheckConfig returns what training would refuse of cfg whatever its data hold. It
// reads no file but that of model.weights, and takes a config without a sweep.
func CheckConfig(cfg *config.Config) error {
	if cfg.LearnsMetric() {
		_, err := mahalanobis.NewLoss(cfg.Metric.Loss, cfg.Metric.Zeta, cfg.Metric.HuberDelta)
		if err != nil {
			return wire.InConfig("metric.loss", err)
		}
		return nil
	}
	if err := checkStop(cfg); err != nil {
		return err
	}
	if err := wire.CheckWeights(cfg); err != nil {
		return err
	}
	objective, err := wire.BuildObjective(cfg, nil)
	if err != nil {
		return wire.InConfig("loss", err)
	}
	layout := cfg.Batch.Options.Layout()
	if _, err := wire.BuildMiner(cfg, layout, objective, nil); err != nil {
		return wire.InConfig("miner", err)
	}
	defense, err := wire.BuildDefense(cfg, max(cfg.Data.Size, 1), layout, objective)
	if err == nil {
		err = wire.CheckBinding(cfg, defense)
	}
	if err != nil {
		return wire.InConfig("defense", err)
	}
	if _, err := optim.New(wire.OptimizerConfig(cfg), nil); err != nil {
		return wire.InConfig("optimizer", err)
	}
	return nil
}

// Checked is what Precheck has made of a config whose run has no directory yet.
type Checked struct {
	sets    *wire.Sets
	trainer *wire.Assembled // nil for a fit
}

// Precheck opens the data of a run that has no directory yet, and refuses what its
// first step would be refused for, so that no directory is made for it. The run
// uses what it returns.
func Precheck(ctx context.Context, cfg *config.Config, open wire.Opener, alter wire.Alteration) (*Checked, error) {
	if err := CheckConfig(cfg); err != nil {
		return nil, err
	}
	sets, err := wire.OpenWith(ctx, cfg, open, alter)
	if err != nil {
		return nil, err
	}
	if cfg.LearnsMetric() { // a fit is checked as it begins: its features take time
		return &Checked{sets: sets}, nil
	}
	t, err := wire.Assemble(cfg, sets)
	if err != nil {
		return nil, err
	}
	if _, err := monitor(cfg, t, sets, Watch{}); err != nil {
		return nil, err
	}
	_, err = wire.Augment(cfg, sets.Seen())
	return &Checked{sets, t}, err
}

// data returns the sets of r: those that Precheck has opened, once, or else it opens
// them.
func (r *Run) data(ctx context.Context) (*wire.Sets, error) {
	if c := r.checked; c != nil {
		r.checked = nil
		return c.sets, nil
	}
	open := r.open
	if open == nil {
		open = data.Open
	}
	return wire.OpenWith(ctx, r.Config, r.Elsewhere(open), r.Alter)
}

// trainer returns the trainer of r at its first step: the one that Precheck has assembled,
// once, or else it assembles one.
func (r *Run) trainer(ctx context.Context) (*wire.Assembled, error) {
	c := r.checked
	sets, err := r.data(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.SameData(ctx, sets); err != nil {
		return nil, err
	}
	if cfg := r.beginning(); c == nil || cfg.Model.Weights != r.Config.Model.Weights || cfg.Train.Device != r.Config.Train.Device {
		return wire.Assemble(cfg, sets)
	}
	return c.trainer, nil
}
