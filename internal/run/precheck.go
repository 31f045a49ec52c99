package run

import (
	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/engine/mahalanobis"
)

// CheckConfig returns what training would refuse of cfg whatever its data hold. It
// reads no file, and takes a config without a sweep.
func CheckConfig(cfg *config.Config) error {
	if cfg.LearnsMetric() {
		_, err := mahalanobis.NewLoss(cfg.Metric.Loss, cfg.Metric.Zeta, cfg.Metric.HuberDelta)
		if err != nil {
			return InConfig("metric.loss", err)
		}
		return nil
	}
	if err := checkStop(cfg); err != nil {
		return err
	}
	objective, err := BuildObjective(cfg, nil)
	if err != nil {
		return InConfig("loss", err)
	}
	layout := cfg.Batch.Options.Layout()
	if _, err := buildMiner(cfg, layout, objective); err != nil {
		return InConfig("miner", err)
	}
	if _, err := buildDefense(cfg, max(cfg.Data.Size, 1), layout, objective); err != nil {
		return InConfig("defense", err)
	}
	if _, err := buildOptimizer(cfg, nil); err != nil {
		return InConfig("optimizer", err)
	}
	return nil
}

// precheck opens the data of a run that has no directory yet, and refuses what its
// first step would be refused for, so that no directory is made for it. The run
// uses the data that it returns.
func precheck(cfg *config.Config, open Opener, alter Alteration) (*Sets, error) {
	if err := CheckConfig(cfg); err != nil {
		return nil, err
	}
	sets, err := OpenWith(cfg, open, alter)
	if err != nil || cfg.LearnsMetric() { // a fit is checked as it begins: its features take time
		return sets, err
	}
	t, err := Assemble(cfg, sets)
	if err != nil {
		return nil, err
	}
	if _, err := monitor(cfg, t, sets, Watch{}); err != nil {
		return nil, err
	}
	_, err = Augment(cfg, sets.Seen())
	return sets, err
}

// data returns the sets of r: those that precheck has opened, once, or else it opens
// them.
func (r *Run) data() (*Sets, error) {
	if s := r.checked; s != nil {
		r.checked = nil
		return s, nil
	}
	open := r.open
	if open == nil {
		open = data.Open
	}
	return OpenWith(r.Config, r.Elsewhere(open), r.Alter)
}
