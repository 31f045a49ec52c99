package run

import (
	"context"
	"errors"
	"math"
	"time"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/run/points"
	"tercet/internal/text"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// errFitInterrupted ends a fit that was canceled. It writes no checkpoint: begun
// again, the fit comes to the same bits, which it would not from where it was.
var errFitInterrupted = fitInterrupted{}

type fitInterrupted struct{}

func (fitInterrupted) Error() string {
	return "interrupted; a fit has no checkpoint before its end; it starts again and ends with the same bits"
}

// Is says that to callers it is an interruption as any.
func (fitInterrupted) Is(target error) bool { return target == train.ErrInterrupted }

// fitMetric is Train of a run whose model is a fitted metric, once the run is locked.
func (r *Run) fitMetric(ctx context.Context, w Watch) error {
	if r.From != "" {
		if err := r.restore(); err != nil {
			return err
		}
		if r.From != Start { // a fit has no checkpoint but of its end
			r.Manifest.Status = record.Finished
			return r.SaveManifest()
		}
	}
	log, err := train.OpenLog(r.Path("events.jsonl"), -1) // without what a killed process has logged
	if err != nil {
		return err
	}
	f := &fitting{run: r, log: log, watch: w, start: time.Now(), said: time.Now()}
	if err := f.prepare(ctx); err != nil {
		log.Close()
		if interrupted := canceled(ctx, err); interrupted != nil {
			r.record(interrupted)
			r.SaveManifest() // the caller hears of the interruption
			return interrupted
		}
		r.unprepared(err)
		return err
	}
	f.by = buildOn(&r.Manifest, 0)
	r.Manifest.Status, r.Manifest.Message = record.Running, ""
	if err := r.SaveManifest(); err != nil {
		log.Close()
		return err
	}
	err = f.fit(ctx)
	if interrupted := canceled(ctx, err); interrupted != nil {
		err = interrupted
	}
	if e := log.Close(); err == nil && e != nil {
		err = e
	}
	r.Manifest.Seconds = time.Since(f.start).Seconds() // what was before is not gone on with
	r.record(err)
	if e := r.SaveManifest(); err == nil && e != nil {
		err = e
	}
	return err
}

// canceled returns the error of an interruption where err is one, else nil.
func canceled(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return errFitInterrupted
	}
	return nil
}

// fitting is a fit under way.
type fitting struct {
	run   *Run
	log   *train.Log
	watch Watch
	start time.Time
	said  time.Time // when an evaluation was told of
	by    record.Build

	*points.Prepared
}

// prepare opens the data, fits the features and makes the problems.
func (f *fitting) prepare(ctx context.Context) error {
	r, cfg := f.run, f.run.Config
	sets, err := r.data(ctx)
	if err != nil {
		return err
	}
	if err := r.SameData(ctx, sets); err != nil {
		return err
	}
	if r.Manifest.Data, err = r.recordData(ctx, sets); err != nil {
		return err
	}
	f.watch.note("data: %s", sets)
	if sets.LeftOut != "" {
		f.watch.note("warning: data: %s", sets.LeftOut)
	}
	if sets.Noise != nil {
		f.watch.note("noise on the training %s: %s", wire.NoiseOn(cfg), noise.Words(*sets.Noise))
	}
	if f.Prepared, err = points.Prepare(ctx, cfg, sets.Seen()); err != nil {
		return err
	}
	f.Task.Watch = f.evaluated
	d := f.Model.Dim()
	r.Manifest.Model = record.Model{Name: f.Model.Spec().Name, Embedding: d, Parameters: d * (d + 1) / 2}
	r.Manifest.Steps, r.Manifest.Of = 0, 0
	r.Manifest.Cost = record.Cost{Forward: int64(f.Task.Items)}
	f.watch.note("features: %d of each image, in the ball of radius %g", d, f.Task.Radius)
	f.watch.note("triplets: %.4g of %s as positives", f.Problems.Triplets(), text.Plural(len(f.Problems.List), "class", "classes"))
	if n := f.Problems.Skipped; n > 0 {
		f.watch.note("%s of one item: never the positives", text.Plural(n, "class", "classes"))
	}
	return nil
}

// event logs an event and tells it.
func (f *fitting) event(kind string, step int, objective, gradNorm *float64, metrics map[string]float64) error {
	e := &record.Event{Kind: kind, Step: step, Loss: objective, GradNorm: gradNorm, Metrics: metrics,
		Forward: f.run.Manifest.Cost.Forward, Seconds: time.Since(f.start).Seconds()}
	if kind == "start" {
		e.Version, e.Kernel, e.CPU = f.by.Version, f.by.Kernel, f.by.CPU
	}
	if err := f.log.Write(e); err != nil {
		return err
	}
	if f.watch.Event != nil {
		f.watch.Event(e)
	}
	return f.log.Flush()
}

// fit finds w and writes the checkpoints.
func (f *fitting) fit(ctx context.Context) error {
	if err := f.event("start", 0, nil, nil, nil); err != nil {
		return err
	}
	fit, err := f.solve(ctx)
	if err != nil {
		return err
	}
	for i, v := range fit.Theta {
		if !finite(v) {
			return &train.NonFiniteError{Step: fit.Iterations, Tensor: "svec(w)", Index: i, Cause: "numbers overflow; lower metric.c, raise metric.sigma or lower model.radius"}
		}
	}
	if !finite(fit.Objective) || !finite(fit.GradNorm) {
		return &train.NonFiniteError{Step: fit.steps(), Tensor: "risk", Index: 0, Cause: "numbers overflow; lower metric.c, metric.zeta or model.radius, or raise metric.sigma"}
	}
	if err := f.embed(fit); err != nil {
		return err
	}
	metrics := map[string]float64{"risk": fit.Risk, "negative_mass": fit.NegativeMass}
	if fit.Certificate != nil {
		metrics["certificate"] = *fit.Certificate
	}
	if err := f.event("end", fit.steps(), &fit.Objective, &fit.GradNorm, metrics); err != nil {
		return err
	}
	if err := f.log.Sync(); err != nil {
		return err
	}
	m := &f.run.Manifest
	m.Steps, m.Of = fit.steps(), fit.steps()
	m.Checkpoint = m.Steps
	if err := f.run.locked(); err != nil {
		return err
	}
	state := train.State{Step: fit.steps(), Cost: m.Cost}
	for _, path := range []string{f.run.BestPath(), f.run.Last()} {
		if err := writeFit(path, f.Model, fit, state, m.Config); err != nil {
			return err
		}
	}
	return nil
}

// solve runs the algorithm of the config.
func (f *fitting) solve(ctx context.Context) (*MetricFit, error) {
	c := f.run.Config.Metric
	theta, reached, err := c.Options.Fit(ctx, f.Task)
	if err != nil {
		return nil, InMetric(err)
	}
	f.watch.note("%s", reached.Words)
	return &MetricFit{
		Dim: f.Model.Dim(), Theta: theta, Positive: f.Problems.Names, Triplets: f.Problems.Triplets(),
		Algorithm: c.Algorithm, Reached: reached,
	}, nil
}

// InMetric says where in the config a mistake that an algorithm found is.
func InMetric(err error) error {
	var k *mahalanobis.KeyError
	if !errors.As(err, &k) {
		return err
	}
	if k.Key == "" {
		return wire.InConfig("metric", k.Err)
	}
	return wire.InConfig("metric."+k.Key, k.Err)
}

// wordy is how long a fit continues without a progress message.
const wordy = 5 * time.Second

// evaluated logs an evaluation of the risk, and tells of some.
func (f *fitting) evaluated(n int, objective, gradNorm float64) {
	if finite(objective) && finite(gradNorm) { // a search may try steps that are not
		_ = f.event("step", n, &objective, &gradNorm, nil) // a log that cannot be written fails at the fit's end
	}
	if time.Since(f.said) > wordy {
		f.said = time.Now()
		f.watch.note("evaluation %d: objective %.6f, gradient %.2g", n, objective, gradNorm)
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// embed gives the network the positive semidefinite part of w.
func (f *fitting) embed(fit *MetricFit) error {
	l, negative, err := mahalanobis.Factor(fit.Theta, fit.Dim)
	fit.NegativeMass = negative
	if err != nil { // w is finite and of its size: it has no eigenvalue above 0
		fit.OnePoint = true
		l = make([]float64, fit.Dim*fit.Dim)
		f.watch.note("warning: no eigenvalue of w is above 0: the network puts all images into one point; eval also evaluates h_w itself")
	} else if negative > 0 {
		f.watch.note("%.2g %% of w, by the size of its eigenvalues, is below 0 and left out of the embedding", 100*negative)
	}
	return f.Model.SetMetric(l)
}
