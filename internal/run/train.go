package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

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

// Watch is told how a run continues. Its functions may be nil.
type Watch struct {
	Step  func(s *train.State, of int, loss float64)
	Event func(*record.Event)
	Note  func(format string, args ...any)
}

func (w Watch) note(format string, args ...any) {
	if w.Note != nil {
		w.Note(format, args...)
	}
}

// Train runs or continues r, whose directory it locks. A finished run returns at
// once with done true, a run that was lost with a *LostError. The manifest says
// afterwards how it ended.
func (r *Run) Train(ctx context.Context, w Watch) (done bool, err error) {
	if done, err := r.complete(); done || err != nil {
		return done, err
	}
	if err := r.Lock(); err != nil {
		return false, err
	}
	defer r.Close()
	// Another process may have gone on with the run since r was opened.
	if err := r.readManifest(); err != nil && !os.IsNotExist(err) {
		return false, fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	if done, err := r.complete(); done || err != nil {
		return done, err
	}
	if err := r.lost(); err != nil {
		return false, err
	}
	if m := &r.Manifest; m.Status == record.Finished && r.From == "" {
		w.note("note: the manifest says finished, but the run is at step %d of %d: resuming", m.Steps, m.Of)
	}
	r.tidy()
	if err := r.makeCheckpoints(); err != nil {
		return false, err
	}
	if r.Config.LearnsMetric() {
		return false, r.fitMetric(ctx, w)
	}
	r.recorded = r.Manifest.Log
	if r.From != "" {
		if err := r.restore(); err != nil {
			return false, err
		}
	}
	t, loader, err := r.prepare(w)
	if err != nil {
		r.unprepared(err)
		return false, err
	}
	defer loader.Close()
	defer func() { err = r.session.end(err) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if r.session != nil {
		t.Meet = func(err error) error {
			if err = r.session.meet(err); errors.Is(err, context.Canceled) {
				cancel() // another rank was to stop
			}
			return err
		}
	}
	log, err := r.openLog(t, w)
	if err != nil {
		return false, err
	}
	before, start := r.Manifest.Seconds, time.Now()
	r.waited = r.Manifest.Waited
	by := buildOn(&r.Manifest, t.State.Step)
	r.progress(t, before)
	r.Manifest.Status, r.Manifest.Message, r.Manifest.Log = record.Running, "", nil
	if t.State.Step > 0 {
		r.Manifest.Log = log.Record(t.State.Step)
	}
	if err := r.SaveManifest(); err != nil {
		return false, err
	}
	if err := r.keep(t); err != nil { // killed before it came to that
		return false, err
	}
	save, saved := t.Save, time.Now()
	t.Save = func(best bool) error {
		if !best && spare(ctx, t, saved) {
			return nil
		}
		if err := save(best); err != nil || best {
			return err
		}
		if err := r.keep(t); err != nil {
			return err
		}
		saved = time.Now()
		r.Manifest.Checkpoint, r.Manifest.Log = t.State.Step, log.Record(t.State.Step)
		r.progress(t, before+time.Since(start).Seconds())
		return r.SaveManifest()
	}
	kind := "start"
	if t.State.Step > 0 {
		kind = "resume"
		w.note("resuming %s at step %d of %d", r.Dir, t.State.Step, t.Steps)
	}
	if err := log.Write(&record.Event{Kind: kind, Step: t.State.Step, Epoch: float64(t.State.Step) / float64(max(t.StepsPerEpoch, 1)), Coverage: r.coverage, Version: by.Version, Kernel: by.Kernel, CPU: by.CPU, Note: log.Changed}); err != nil {
		return false, err
	}
	if err := log.Flush(); err != nil {
		return false, err
	}
	if err = t.Run(ctx); err == nil && t.Tuples != nil {
		err = t.WithAverage(func() error { return r.evaluatePairs(ctx, t) })
	}
	if e := log.Close(); err == nil && e != nil {
		err = e
	}
	err = r.session.end(err)
	r.progress(t, before+time.Since(start).Seconds())
	r.record(err)
	if e := r.SaveManifest(); err == nil && e != nil {
		err = e
	}
	return false, err
}

// shortest is the time between two checkpoints at ends of epochs. Small networks have
// many epochs a second, and a checkpoint waits for the disk.
const shortest = 5 * time.Second

// spare says whether the checkpoint of an epoch's end may be left out: where the config
// asks for checkpoints by the clock, the last one is young and the run continues.
func spare(ctx context.Context, t *wire.Assembled, saved time.Time) bool {
	ends := t.State.Step == t.Steps || t.State.Stopped || ctx.Err() != nil || t.Keeps()
	return !ends && time.Since(saved) < min(shortest, t.CheckpointAfter)
}

// keep gives the last checkpoint a second name that stays, where the config asks for one at
// this step.
func (r *Run) keep(t *wire.Assembled) error {
	if !t.Keeps() {
		return nil
	}
	return fsx.Keep(r.Last(), r.Path("checkpoints", fmt.Sprintf(KeptCheckpoints, strconv.Itoa(t.State.Step))))
}

// KeptCheckpoints is the name of checkpoints that train.keep_every keeps, with a place for
// the step, or for the * of a glob.
const KeptCheckpoints = "step-%s.safetensors"

// progress puts how far the run has come into the manifest.
func (r *Run) progress(t *wire.Assembled, seconds float64) {
	m := &r.Manifest
	m.Steps, m.Of, m.Cost, m.Crafted, m.Seconds = t.State.Step, t.Steps, t.State.Cost, t.State.Crafted, seconds
	if l, ok := t.Batches.(*batch.Loader); ok && r.Config.Data.Transform.Given() {
		m.Waited = r.waited + l.Waited().Seconds()
	}
	if t.State.Best != nil {
		m.Best = &record.Best{Metric: t.Stop.Metric, Value: *t.State.Best, Step: t.State.BestStep}
	}
	if t.StoppedEarly() {
		m.Stopped = &record.Stop{Step: t.State.Step, Reason: t.StopReason()}
	}
}

// record puts how the run ended into the manifest.
func (r *Run) record(err error) {
	m := &r.Manifest
	var collapse *train.CollapseError
	var finite *train.NonFiniteError
	switch {
	case err == nil:
		// Killed between the last checkpoint and the manifest, the run wrote no other.
		m.Status, m.Checkpoint = record.Finished, m.Steps
	case errors.Is(err, train.ErrInterrupted):
		m.Status = record.Interrupted
	case errors.As(err, &collapse):
		m.Status = record.Collapsed
	case errors.As(err, &finite):
		m.Status = record.Diverged
	default:
		m.Status = record.Failed
	}
	if err != nil {
		m.Message = err.Error()
	}
	if r.unsealed && (m.Status == record.Collapsed || m.Status == record.Diverged) {
		m.Status = record.Failed
		m.Message += "; it may come from damage to the checkpoint that training resumed from, which is of an older version and has no digest"
	}
}

// prepare opens the data and builds the trainer at the run's position.
func (r *Run) prepare(w Watch) (*wire.Assembled, *batch.Loader, error) {
	cfg := r.Config
	sets, err := r.data()
	if err != nil {
		return nil, nil, err
	}
	if err := r.SameData(sets); err != nil {
		return nil, nil, err
	}
	r.Manifest.Data = r.recordData(sets)
	t, err := wire.Assemble(r.beginning(), sets)
	if err != nil {
		return nil, nil, err
	}
	r.Manifest.Data = r.recordData(sets) // now with what the sampler gives
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
	if r.Manifest.Selection, err = monitor(cfg, t, sets, w); err != nil {
		return nil, nil, err
	}
	spec := t.Model.Spec()
	r.Manifest.Model = record.Model{Name: spec.Name, Embedding: spec.Embedding, Parameters: t.Model.ParamCount()}
	r.Manifest.Of = t.Steps

	c, err := r.toResume()
	if err != nil {
		return nil, nil, err
	}
	if c != nil {
		if err := c.Resume(t.Trainer); err != nil {
			return nil, nil, r.unusable(fmt.Errorf("%s: %w", r.Last(), err))
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
	transform, err := wire.Augment(cfg, seen)
	if err != nil {
		return nil, nil, err
	}
	t.Cover = func(epoch int) any { return batch.Cover(t.Sampler, seen, epoch) }
	if err := r.lead(t, c != nil); err != nil {
		return nil, nil, err
	}
	loader := r.loader(t, transform)
	hash := r.Manifest.Config
	t.Save = func(best bool) error {
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
	return t, loader, nil
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
		w.note("note: events.jsonl is not there: the events up to step %d are lost", t.State.Step)
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
