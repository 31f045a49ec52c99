package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/engine/nn"
	"tercet/internal/metric"
	"tercet/internal/rng"
	"tercet/internal/train"
)

// Watch is told how a run goes on. Its functions may be nil.
type Watch struct {
	Step  func(s *train.State, of int, loss float64)
	Event func(*train.Event)
	Note  func(format string, args ...any)
}

func (w Watch) note(format string, args ...any) {
	if w.Note != nil {
		w.Note(format, args...)
	}
}

// Train runs or continues r, whose directory it locks. A finished run returns at
// once with done true. The manifest says afterwards how it ended.
func (r *Run) Train(ctx context.Context, w Watch) (done bool, err error) {
	if r.Manifest.Status == Finished {
		return true, nil
	}
	if err := r.Lock(); err != nil {
		return false, err
	}
	defer r.Close()
	t, loader, err := r.prepare(w)
	if err != nil {
		return false, err
	}
	defer loader.Close()
	log, err := train.OpenLog(r.Path("events.jsonl"), t.State.Step)
	if err != nil {
		return false, err
	}
	r.attach(t, log, w)

	before, start := r.Manifest.Seconds, time.Now()
	r.Manifest.Status, r.Manifest.Message = Running, ""
	if err := r.SaveManifest(); err != nil {
		return false, err
	}
	kind := "start"
	if t.State.Step > 0 {
		kind = "resume"
		w.note("resuming %s at step %d of %d", r.Dir, t.State.Step, t.Steps)
	}
	if err := log.Write(&train.Event{Kind: kind, Step: t.State.Step, Coverage: r.coverage}); err != nil {
		return false, err
	}
	err = t.Run(ctx)
	if e := log.Close(); err == nil && e != nil {
		err = e
	}
	r.Manifest.Seconds = before + time.Since(start).Seconds()
	r.record(t, err)
	if e := r.SaveManifest(); err == nil && e != nil {
		err = e
	}
	return false, err
}

// record puts how the run ended into the manifest.
func (r *Run) record(t *train.Trainer, err error) {
	m := &r.Manifest
	m.Steps, m.Of, m.Cost = t.State.Step, t.Steps, t.State.Cost
	if t.State.Best != nil {
		m.Best = &Best{t.Stop.Metric, *t.State.Best, t.State.BestStep}
	}
	var collapse *train.CollapseError
	var finite *train.NonFiniteError
	switch {
	case err == nil:
		m.Status = Finished
	case errors.Is(err, train.ErrInterrupted):
		m.Status = Interrupted
	case errors.As(err, &collapse):
		m.Status = Collapsed
	case errors.As(err, &finite):
		m.Status = Diverged
	default:
		m.Status = Failed
	}
	if err != nil {
		m.Message = err.Error()
	}
}

// prepare opens the data and builds the trainer at the run's position.
func (r *Run) prepare(w Watch) (*train.Trainer, *data.Loader, error) {
	cfg := r.Config
	sets, err := OpenData(cfg)
	if err != nil {
		return nil, nil, err
	}
	if err := r.sameData(sets); err != nil {
		return nil, nil, err
	}
	r.Manifest.Data = sets.record(cfg)
	t, err := assemble(cfg, sets)
	if err != nil {
		return nil, nil, err
	}
	r.coverage = data.Cover(t.sampler, sets.Train, 0)
	w.note("data: %s", sets)
	w.note("sampler %s, %d batches an epoch: %s", cfg.Batch.Sampler, t.sampler.Steps(), r.coverage)
	spec := t.model.Spec()
	r.Manifest.Model = ModelRecord{spec.Name, spec.Embedding, t.model.ParamCount()}
	r.Manifest.Of = t.Steps

	c, err := train.ReadCheckpoint(r.Last())
	switch {
	case err == nil:
		if c.Config != cfg.Hash() {
			return nil, nil, fmt.Errorf("%w: %s belongs to another config", ErrOtherRun, r.Last())
		}
		if err := c.Resume(t.Trainer); err != nil {
			return nil, nil, err
		}
	case errors.Is(err, os.ErrNotExist): // a fresh run
	default:
		return nil, nil, fmt.Errorf("%w; remove it to train from the start", err)
	}
	transform, err := augment(cfg, sets.Train)
	if err != nil {
		return nil, nil, err
	}
	per := t.StepsPerEpoch
	loader := data.NewLoader(sets.Train, t.sampler, transform, cfg.Seed, t.State.Step/per, t.State.Step%per, cfg.Batch.Prefetch)
	t.Batches = loader
	hash := cfg.Hash()
	t.Save = func(best bool) error {
		path := r.Last()
		if best {
			path = r.BestPath()
		}
		if r.log != nil {
			if err := r.log.Sync(); err != nil {
				return err
			}
		}
		return t.WriteCheckpoint(path, spec, hash)
	}
	t.Evaluate = evaluator(cfg, t, sets)
	return t.Trainer, loader, nil
}

// attach connects the trainer's events to the log and to w.
func (r *Run) attach(t *train.Trainer, log *train.Log, w Watch) {
	r.log = log
	t.Log = func(e *train.Event) error {
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

// assembled is a trainer with the parts that its interfaces hide.
type assembled struct {
	*train.Trainer
	model   *nn.Model
	sampler data.Sampler
}

// assemble builds all components of cfg but the loader.
func assemble(cfg *config.Config, sets *Sets) (*assembled, error) {
	sampler, err := buildSampler(cfg, sets.Train)
	if err != nil {
		return nil, err
	}
	model, err := buildModel(cfg, sets.Train)
	if err != nil {
		return nil, err
	}
	t := &train.Trainer{Options: trainOptions(cfg, sampler.Steps()), Model: model, Mined: rng.New(cfg.Seed, "mine")}
	if t.Objective, err = buildObjective(cfg); err != nil {
		return nil, err
	}
	if t.Miner, err = buildMiner(cfg, sampler.Layout(), t.Objective); err != nil {
		return nil, err
	}
	if t.Defense, err = buildDefense(cfg); err != nil {
		return nil, err
	}
	if t.Optimizer, err = buildOptimizer(cfg, model.Params()); err != nil {
		return nil, err
	}
	schedule, err := buildSchedule(cfg, t.Steps, sampler.Steps())
	if err != nil {
		return nil, err
	}
	t.Schedule = schedule.LR
	return &assembled{t, model, sampler}, nil
}

// evaluator returns what is measured during training: recall@1 and MAP@R on the
// validation set, or, where none is held out, on the test set.
func evaluator(cfg *config.Config, t *assembled, sets *Sets) func(context.Context) (map[string]float64, error) {
	ds := sets.Validation
	if ds == nil {
		ds = sets.Test
	}
	if ds == nil {
		return nil
	}
	return func(ctx context.Context) (map[string]float64, error) {
		part, err := spread(ds, cfg.Train.EvalSamples)
		if err != nil {
			return nil, err
		}
		z, err := embed(ctx, t.model, part, cfg.Eval.Batch, func(int, int) {})
		if err != nil {
			return nil, err
		}
		ret, err := metric.Retrieve(ctx, z.Data, z.Rows(), z.Cols(), part.Labels(), metric.RetrievalOptions{
			K: []int{1}, Intervals: metric.Intervals{Resamples: -1},
		})
		if err != nil {
			return nil, fmt.Errorf("evaluation at step %d: %w", t.State.Step, err)
		}
		out := map[string]float64{}
		for _, key := range []string{"recall@1", "map@r"} {
			v, _ := ret.Scores.Get(key)
			out[key] = v.Value
		}
		return out, nil
	}
}
