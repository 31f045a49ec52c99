package generalize

import (
	"context"
	"errors"
	"time"

	"tercet/internal/config"
	"tercet/internal/data/batch"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// errStopped is an interruption of training on, of which no checkpoint is written.
var errStopped = errors.New("interrupted")

// goOn trains from w's checkpoint on with altered data, and returns the network and what
// the steps cost. The learning rate is that of the config's schedule; beyond its end,
// that of its last step.
func (w *goingOn) goOn(ctx context.Context, alter wire.Alteration) (*nn.Model, record.CostRecord, error) {
	var none record.CostRecord
	cfg := onwards(w.run.Config)
	sets, err := wire.OpenWith(ctx, cfg, w.open, alter)
	if err != nil {
		return nil, none, err
	}
	t, err := wire.Assemble(cfg, sets)
	if err != nil {
		return nil, none, err
	}
	if err := w.from.Resume(t.Trainer); err != nil {
		return nil, none, err
	}
	before := t.State.Cost
	rate, last := t.Schedule, t.Steps-1
	t.Schedule = func(step int) float64 { return rate(min(step, last)) }
	w.rate.Store(t.Schedule(t.State.Step))
	t.State.Stopped = false
	t.Steps = t.State.Step + w.steps
	t.Log = func(*record.Event) error { return nil }
	t.Save = func(bool) error { return nil }
	transform, err := wire.Augment(cfg, sets.Seen())
	if err != nil {
		return nil, none, err
	}
	epoch, at := t.Position(t.State.Step)
	loader := batch.NewLoader(sets.Seen(), t.Sampler, transform, cfg.Seed, epoch, at, cfg.Batch.Prefetch)
	defer loader.Close()
	t.Batches = loader
	start := time.Now()
	if err := t.Run(ctx); err != nil {
		if errors.Is(err, train.ErrInterrupted) { // its words are of a checkpoint
			err = errors.Join(errStopped, context.Canceled)
		}
		return nil, none, err
	}
	t.TakeAverage()
	cost := t.State.Cost
	took := record.Cost{Forward: cost.Forward - before.Forward, Backward: cost.Backward - before.Backward}
	return t.Model, record.CostRecord{Cost: took, Seconds: time.Since(start).Seconds()}, nil
}

// onwards is the config of training on: no stop but the end, and nothing that is
// measured on the way.
func onwards(cfg *config.Config) *config.Config {
	c := *cfg
	c.Train.EarlyStop.Patience, c.Train.EarlyStop.Metric, c.Train.EvalEvery = 0, "", 0
	c.Train.Collapse.Enabled = false
	return &c
}
