package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"tercet/internal/config"
	"tercet/internal/option"
	"tercet/internal/par"
	"tercet/internal/ranks"
	"tercet/internal/scheduler"
	"tercet/internal/tune"
	"tercet/internal/wire"
)

// Variants returns the configs that cfg's sweep and search stand for: the sweep in the order
// of the file, and for each of its configs the trials. A config with neither is its own only
// variant. Successive halving is refused: its trials are known only while it runs.
func Variants(cfg *config.Config) ([]*config.Config, error) {
	if len(cfg.Search.Space) == 0 {
		return expand(cfg, []tune.Trial{{}})
	}
	if cfg.Search.Method != "random" {
		return nil, &config.Error{Key: "search.method", Msg: fmt.Sprintf("%s is for tercet tune, which chooses the runs as it goes; write %s search.space=null to train without a search", cfg.Search.Method, option.Name("set"))}
	}
	trials, err := tune.Trials(cfg)
	if err != nil {
		return nil, err
	}
	return expand(cfg, trials)
}

// Configs are the configs of cfg's sweep, without its search.
func Configs(cfg *config.Config) ([]*config.Config, error) {
	return expand(cfg, []tune.Trial{{}})
}

func expand(cfg *config.Config, trials []tune.Trial) ([]*config.Config, error) {
	list, err := cfg.Sweep()
	if err != nil {
		return nil, err
	}
	var out []*config.Config
	for _, v := range list {
		for _, t := range trials {
			one := v
			if len(t.Sets) > 0 {
				one = config.Variant{Name: strings.TrimPrefix(v.Name+"_"+t.Name(), "_"), Sets: slices.Concat(v.Sets, t.Sets)}
			}
			c, err := cfg.Variant(one)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// Share selects the variants of a task.
func Share(variants []*config.Config, t scheduler.Task) []*config.Config {
	var out []*config.Config
	for k, v := range variants {
		if t.Has(k) {
			out = append(out, v)
		}
	}
	return out
}

// SweepOptions say how a sweep is run.
type SweepOptions struct {
	// Jobs is how many runs are trained at once, each on one thread; with less than
	// 2 one after the other, each on all threads. It changes no result.
	Jobs int
	// Watch, where set, returns what watches variant i. Runs that are trained at once
	// call theirs at the same time.
	Watch func(i int) Watch

	Alter func(i int) wire.Alteration // of variant i's data; nil for none

	Team *ranks.Team // that trains each run; nil for this process alone. Jobs is 1 then
}

// Ended is how one variant of a sweep ended.
type Ended struct {
	Variant int  // its index
	Run     *Run // nil where its directory could not be used
	Done    bool // it was finished before
	Err     error
}

// Sweep trains the variants under root and tells each how they ended, in the order
// in which they do, on the caller's goroutine. What each returns ends the sweep:
// runs in training continue to their end, no other begins. A sweep whose ctx is
// canceled writes the checkpoints of the runs in training and returns ctx's cause
// where others were left to begin. Runs that read the same source share it.
func Sweep(ctx context.Context, root string, variants []*config.Config, o SweepOptions, each func(Ended) error) error {
	jobs := max(1, min(o.Jobs, len(variants)))
	if jobs > 1 {
		defer par.SetThreads(par.Threads())
		par.SetThreads(1)
	}
	sources := wire.NewSources(variants, jobs)
	ends := make(chan sweptRun)
	var stop error
	var fault any
	for next, running := 0, 0; ; {
		for ; running < jobs && next < len(variants) && stop == nil && fault == nil && ctx.Err() == nil; next++ {
			running++
			go func(i int) { ends <- trainVariant(ctx, root, variants[i], i, o, sources) }(next)
		}
		switch {
		case running > 0:
		case fault != nil:
			panic(fault)
		case stop == nil && next < len(variants):
			return context.Cause(ctx)
		default:
			return stop
		}
		e := <-ends
		running--
		sources.Release(e.Variant)
		if e.fault != nil {
			fault = e.fault
			continue
		}
		if err := each(e.Ended); err != nil && stop == nil {
			stop = err
		}
	}
}

// sweptRun is Ended, or what a run panicked with.
type sweptRun struct {
	Ended
	fault any
}

// trainVariant trains variant i. A panic must not take the other runs with it: it
// is raised again once they have ended.
func trainVariant(ctx context.Context, root string, cfg *config.Config, i int, o SweepOptions, sources *wire.Sources) (e sweptRun) {
	e.Variant = i
	defer func() {
		if v := recover(); v != nil {
			e.fault = fmt.Sprintf("%s: %v\n%s", cfg.Name, v, debug.Stack())
		}
	}()
	open, alter := sources.Opener(i), wire.Alteration(nil)
	if o.Alter != nil {
		alter = o.Alter(i)
	}
	var w Watch
	if o.Watch != nil {
		w = o.Watch(i)
	}
	if e.Run, e.Err = createChecked(ctx, root, cfg, open, alter); e.Err != nil {
		return e
	}
	defer e.Run.Close()
	e.Run.Team = o.Team
	if e.Done, e.Err = e.Run.Train(ctx, w); e.Run.withdraw() {
		e.Run = nil
	}
	return e
}

// createChecked is Create of a run whose data open reads and alter changes. It makes
// no directory for a run that cannot take its first step.
func createChecked(ctx context.Context, root string, cfg *config.Config, open wire.Opener, alter wire.Alteration) (*Run, error) {
	var checked *Checked
	dir := filepath.Join(root, cfg.Name)
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		if checked, err = Precheck(ctx, cfg, open, alter); err != nil {
			return nil, err
		}
	}
	r, err := Create(root, cfg)
	if err != nil {
		return nil, err
	}
	r.open, r.Alter, r.checked = open, alter, checked
	return r, nil
}
