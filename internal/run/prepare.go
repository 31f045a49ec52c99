package run

import (
	"context"
	"errors"
	"fmt"

	"tercet/internal/config"
	"tercet/internal/data/batch"
	"tercet/internal/engine/kernel"
	"tercet/internal/fsx"
	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/text"
	"tercet/internal/train"
	pretrained "tercet/internal/weights"
	"tercet/internal/wire"
)

// prepare opens the data and builds the trainer at the run's position.
func (r *Run) prepare(ctx context.Context, w Watch) (*wire.Assembled, *batch.Loader, error) {
	t, err := r.trainer(ctx)
	if err != nil {
		return nil, nil, err
	}
	cfg, sets := r.Config, t.Sets
	if r.Manifest.Data, err = r.recordData(ctx, sets); err != nil {
		return nil, nil, err
	}
	if err := r.sameWeights(t.Weights); err != nil {
		return nil, nil, err
	}
	if t.Start != nil {
		r.Manifest.Start = t.Start
		w.note("weights: %s", pretrained.Words(t.Start))
		if pretrained.Unnormalized(t.Start, t.Model.Spec()) {
			w.note("warning: weights: torchvision's are of pixels that were normalized, and this network takes them as they are; model.mean_std=imagenet normalizes them")
		}
	}
	seen := sets.Seen()
	r.coverage = batch.Cover(t.Sampler, seen, 0)
	r.announce(t, w)
	if r.Manifest.Selection, err = monitor(cfg, t, sets, w); err != nil {
		return nil, nil, err
	}
	spec := t.Model.Spec()
	r.Manifest.Model = record.Model{Name: spec.Name, Embedding: spec.Embedding, Parameters: t.Model.ParamCount()}
	r.Manifest.Of = t.Steps

	resumed, err := r.resume(t, w)
	if err != nil {
		return nil, nil, err
	}
	transform, err := wire.Augment(cfg, seen)
	if err != nil {
		return nil, nil, err
	}
	t.Cover = func(epoch int) any { return batch.Cover(t.Sampler, seen, epoch) }
	if err := r.lead(t, resumed); err != nil {
		return nil, nil, err
	}
	loader := r.loader(t, transform)
	t.Save = r.checkpoint(t)
	return t, loader, nil
}

// announce tells w what the run is trained on.
func (r *Run) announce(t *wire.Assembled, w Watch) {
	cfg, sets := r.Config, t.Sets
	w.note("data: %s", sets)
	for _, line := range t.Device.Words() {
		w.note("%s", line)
	}
	if sets.LeftOut != "" {
		w.note("warning: data: %s", sets.LeftOut)
	}
	if sets.Noise != nil {
		w.note("noise on the training %s: %s", wire.NoiseOn(cfg), noise.Words(*sets.Noise))
	}
	if sets.Graph != nil {
		w.note("pair graph: %s", wire.DescribeGraph(sets.Graph))
	}
	if sets.Triplets != nil {
		w.note("triplets: %s", wire.DescribeTriplets(sets.Triplets))
	}
	if t.Weights != nil {
		w.note("weights of the triplets: %s", wire.WeightsWords(t.Weights))
	}
	w.note("sampler %s, %d batches an epoch: %s", cfg.Batch.Sampler, t.Sampler.Steps(), r.coverage)
	if m := t.Memory; m != nil && m.From >= t.Steps-1 {
		w.note("warning: loss.memory.warmup is %s, and the run has %d: nothing is compared with earlier batches", text.Plural(m.From, "step", "steps"), t.Steps)
	}
}

// resume puts t where the run's checkpoint is, and reports whether there is one.
func (r *Run) resume(t *wire.Assembled, w Watch) (resumed bool, err error) {
	c, err := r.toResume()
	if err != nil {
		return false, err
	}
	if c != nil {
		if err := c.Resume(t.Trainer); err != nil {
			return false, r.unusable(fmt.Errorf("%s: %w", r.Last(), err))
		}
		if r.unsealed = !c.Sealed; r.unsealed {
			w.note("note: %s is of an older version and has no digest: damage to it shows only where it makes the file unreadable", r.Last())
		}
	}
	switch was, now := latestBuild(&r.Manifest).Kernel, kernel.Setting(); {
	case t.State.Step > 0 && was != now:
		w.note("note: resumed with other kernels (%[2]s, was %[1]s): results will not be bit-identical", was, now)
	case t.State.Step > 0 && kernel.Measures():
		w.note("note: convolutions were measured again: last bits may differ (%s=measure)", kernel.EnvWinograd)
	}
	return c != nil, nil
}

// checkpoint writes the last checkpoint, or the best one.
func (r *Run) checkpoint(t *wire.Assembled) func(best bool) error {
	spec, hash := t.Model.Spec(), r.Manifest.Config
	return func(best bool) error {
		if err := r.locked(); err != nil {
			return err
		}
		path, previous := r.Last(), r.Previous()
		if best {
			path, previous = r.BestPath(), ""
		}
		if r.log != nil {
			if err := r.log.Sync(); err != nil {
				return err
			}
		}
		return t.WriteCheckpoint(path, previous, spec, hash)
	}
}

// beginning is the config by which the network is built. A checkpoint has all weights:
// the file that they once came from is not read again.
func (r *Run) beginning() *config.Config {
	c := *r.Config
	if r.hadCheckpoint() && r.From != Start {
		c.Model.Weights = ""
	}
	if r.Device != "" {
		c.Train.Device = r.Device
	}
	return &c
}

// openLog opens the run's log at t's position. What says that the run has ended is
// taken out of it, since the run continues.
func (r *Run) openLog(t *wire.Assembled, w Watch) (*train.Log, error) {
	step, without := t.State.Step, []string{"end"}
	if step == 0 {
		step, r.recorded = -1, nil // its start is logged again
	}
	if !t.State.Stopped {
		without = append(without, "stop")
	}
	log, err := train.OpenRecordedLog(r.Path("events.jsonl"), r.recorded, step, without...)
	if errors.Is(err, fsx.ErrNotRegular) {
		return nil, fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case log.Changed != "" && log.Aside == "":
		w.note("note: events.jsonl is missing: the events up to step %d are lost", t.State.Step)
	case log.Changed != "":
		w.note("note: events.jsonl was changed since the run wrote it: %s; what is there stays, and the log as it was is %s", log.Changed, log.Aside)
	}
	if log.Lost > 0 {
		w.note("note: %s of events.jsonl could not be read and left out; the log as it was is %s", text.Plural(log.Lost, "line", "lines"), log.Aside)
	}
	r.attach(t, log, w)
	return log, nil
}

// attach connects the trainer's events to the log and to w.
func (r *Run) attach(t *wire.Assembled, log *train.Log, w Watch) {
	r.log = log
	t.Log = func(e *record.Event) error {
		if err := log.Write(e); err != nil {
			return err
		}
		if w.Event != nil {
			w.Event(e)
		}
		return log.Flush()
	}
	if w.Step != nil {
		t.Progress = func(s *train.State, loss float64) { w.Step(s, t.Steps, loss) }
	}
}
