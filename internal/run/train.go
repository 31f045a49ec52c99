package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"tercet/internal/data/batch"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/train"
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
	if done, err := r.enter(w); done || err != nil {
		return done, err
	}
	if r.Config.LearnsMetric() {
		return false, r.fitMetric(ctx, w)
	}
	return false, r.train(ctx, w)
}

// enter makes the locked directory one in which training can continue, unless the run is done or
// lost: another process may have worked on it since r was opened.
func (r *Run) enter(w Watch) (done bool, err error) {
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
	return false, r.makeCheckpoints()
}

// train trains a network from the run's last checkpoint to its end.
func (r *Run) train(ctx context.Context, w Watch) (err error) {
	r.recorded = r.Manifest.Log
	if r.From != "" {
		if err := r.restore(); err != nil {
			return err
		}
	}
	t, loader, err := r.prepare(ctx, w)
	if err != nil {
		r.unprepared(err)
		return err
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
		return err
	}
	before, start := r.Manifest.Seconds, time.Now()
	seconds := func() float64 { return before + time.Since(start).Seconds() }
	if err := r.underway(ctx, t, log, seconds, w); err != nil {
		return err
	}
	if err = t.Run(ctx); err == nil && t.Tuples != nil {
		err = t.WithAverage(func() error { return r.evaluatePairs(ctx, t) })
	}
	if e := log.Close(); err == nil && e != nil {
		err = e
	}
	err = r.session.end(err)
	r.progress(t, seconds())
	r.record(err)
	if e := r.SaveManifest(); err == nil && e != nil {
		err = e
	}
	return err
}

// underway writes that the run is in training into the manifest and the log, and makes each last
// checkpoint one that the manifest knows.
func (r *Run) underway(ctx context.Context, t *wire.Assembled, log *train.Log, seconds func() float64, w Watch) error {
	r.waited = r.Manifest.Waited
	by := buildOn(&r.Manifest, t.State.Step)
	r.progress(t, r.Manifest.Seconds)
	r.Manifest.Status, r.Manifest.Message, r.Manifest.Log = record.Running, "", nil
	if t.State.Step > 0 {
		r.Manifest.Log = log.Record(t.State.Step)
	}
	if err := r.SaveManifest(); err != nil {
		return err
	}
	if err := r.keep(t); err != nil { // killed before it came to that
		return err
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
		r.progress(t, seconds())
		return r.SaveManifest()
	}
	kind := "start"
	if t.State.Step > 0 {
		kind = "resume"
		w.note("resuming %s at step %d of %d", r.Dir, t.State.Step, t.Steps)
	}
	if err := log.Write(&record.Event{Kind: kind, Step: t.State.Step, Epoch: float64(t.State.Step) / float64(max(t.StepsPerEpoch, 1)), Coverage: r.coverage, Version: by.Version, Kernel: by.Kernel, CPU: by.CPU, Note: log.Changed}); err != nil {
		return err
	}
	return log.Flush()
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
