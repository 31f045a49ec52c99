package run

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tercet/internal/config"
	"tercet/internal/engine/optim"
	"tercet/internal/fsx"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// ErrExtend is wrapped where a run cannot be made longer as asked.
var ErrExtend = errors.New("the run cannot be extended")

// Longer says how a run is made longer.
type Longer struct {
	Name     string // of the longer run
	Epochs   int    // in all; 0 where Steps counts
	Steps    int
	Schedule string // of optim.Continuations; "" where the schedule does not depend on the length
}

// Extend makes a run that begins where the finished run r has ended and is as long as x says, in
// the folder that r is in. It has copies of r's log and of its last and best checkpoint, and its
// config says of what length it was before. r stays as it is. Killed in the middle, it leaves
// no run, and what it leaves is removed when it is repeated.
//
// Errors wrap ErrExtend, ErrOtherRun where the name is taken, train.ErrCheckpoint or ErrBusy.
func (r *Run) Extend(x Longer) (*Run, error) {
	if err := r.Lock(); err != nil {
		return nil, err
	}
	defer r.Close()
	if err := r.readManifest(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	cfg, err := r.longer(x)
	if err != nil {
		return nil, err
	}
	parent, err := folder(r.Dir)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(parent, x.Name)
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s already exists; give the longer run another name (%s)", ErrOtherRun, dir, option.Name("name"))
	}
	left, err := filepath.Glob(filepath.Join(fsx.QuoteGlob(parent), "."+fsx.QuoteGlob(x.Name)+".tmp-*"))
	if err != nil {
		return nil, err
	}
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return nil, err
		}
	}
	made := filepath.Join(parent, fmt.Sprintf(".%s.tmp-%d-0", x.Name, os.Getpid()))
	out := &Run{Dir: made, Config: cfg, Manifest: r.extended(cfg, x.Schedule)}
	if err := out.copyFrom(r); err != nil {
		os.RemoveAll(made) // err is what the caller hears of
		return nil, err
	}
	if err := os.Rename(made, dir); err != nil {
		return nil, err
	}
	out.Dir = dir
	return out, nil
}

// folder is the one that a run directory is in, also where it is the working directory.
func folder(dir string) (string, error) {
	dir = filepath.Clean(dir)
	if base := filepath.Base(dir); base != "." && base != ".." {
		return filepath.Dir(dir), nil
	}
	dir, err := filepath.Abs(dir)
	return filepath.Dir(dir), err
}

// longer is the config of the longer run.
func (r *Run) longer(x Longer) (*config.Config, error) {
	c, m := r.Config, r.Manifest
	had, want, key, unit := c.Train.Epochs, x.Epochs, "train.epochs", "epochs"
	if c.Train.Steps > 0 {
		had, want, key, unit = c.Train.Steps, x.Steps, "train.steps", "steps"
	}
	refuse := func(format string, args ...any) (*config.Config, error) {
		return nil, fmt.Errorf("%w: %s", ErrExtend, fmt.Sprintf(format, args...))
	}
	switch {
	case c.LearnsMetric():
		return refuse("%s fits a metric to its end, and has no further steps", r.Dir)
	case m.Pruned:
		return refuse("the weights of %s were removed (tercet runs prune)", r.Dir)
	case m.Stopped != nil:
		return refuse("%s stopped early at step %d, since %s; a longer run would stop there, too", r.Dir, m.Stopped.Step, m.Stopped.Reason)
	case m.Status == record.Collapsed || m.Status == record.Diverged:
		return refuse("%s has %s at step %d of %d, and has no last weights to continue from", r.Dir, m.Status, m.Steps, m.Of)
	case m.Status != record.Finished:
		return refuse("%s is %s at step %d of %d; train it to its end first", r.Dir, m.Status, m.Steps, m.Of)
	case want == 0:
		return refuse("the length of %s is in %s (%s: %d): give %s", r.Dir, unit, key, had, option.Name(unit))
	case want <= had:
		return refuse("%s has %d %s already; give more", r.Dir, had, unit)
	}
	if _, follows := c.Optimizer.Schedule.Options.(optim.FollowsScores); follows || c.Train.EarlyStop.Metric != "" {
		extra, err := r.endsBetweenEvaluations()
		if err != nil {
			return nil, err
		}
		if extra {
			return refuse("%s was evaluated at its end, between the evaluations of train.eval_every: %d, and schedule plateau or train.early_stop has counted it; a longer run would not have it: train one from its first step", r.Dir, c.Train.EvalEvery)
		}
	}
	before, perEpoch := c.Optimizer.Schedule.Before, max(1, m.Of/had)
	if wire.PlainSchedule(c, m.Of, perEpoch).Follows(r.planned(want)) || before != nil {
		if x.Schedule == "" {
			return refuse("the learning rate of schedule %s follows the length of the run: say how it continues, %s %s", c.Optimizer.Schedule.Name, option.Name("schedule"), strings.Join(optim.Continuations(), "|"))
		}
		before = append(before[:len(before):len(before)], strconv.Itoa(had)+" "+x.Schedule)
	} else if x.Schedule == optim.Restart {
		before = append(before, strconv.Itoa(had)+" "+x.Schedule)
	}
	text, err := c.Resolved()
	if err != nil {
		return nil, err
	}
	sets := []string{"name=" + strconv.Quote(x.Name), key + "=" + strconv.Itoa(want)}
	if before != nil {
		sets = append(sets, "optimizer.schedule.extended=["+strings.Join(before, ", ")+"]")
	}
	cfg, err := config.LoadBytes(text, r.Path("config.yaml"), sets)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExtend, err)
	}
	return cfg, nil
}

// endsBetweenEvaluations says whether r has an evaluation at its end that a longer run of its
// config does not have.
func (r *Run) endsBetweenEvaluations() (extra bool, err error) {
	every := r.Config.Train.EvalEvery
	err = train.EachEvent(r.Path("events.jsonl"), func(e *record.Event) {
		if e.Kind == "eval" && e.Step == r.Manifest.Steps {
			extra = every == 0 || math.Mod(e.Epoch, float64(every)) != 0
		}
	})
	return extra, err
}

// EndIsBest says whether the best checkpoint of r is of an evaluation at its end that a longer
// run of its config does not have: the longer run keeps it until a later one is better.
func (r *Run) EndIsBest() (bool, error) {
	if b := r.Manifest.Best; b == nil || b.Step != r.Manifest.Steps {
		return false, nil
	}
	return r.endsBetweenEvaluations()
}

// planned is how many steps r would have if its length was another one.
func (r *Run) planned(length int) int {
	if had := r.Config.Train.Epochs; had > 0 {
		return r.Manifest.Of / had * length
	}
	return length
}

// extended is the manifest of the longer run at its beginning.
func (r *Run) extended(cfg *config.Config, schedule string) record.Manifest {
	m := r.Manifest
	m.Name, m.Config, m.Status = cfg.Name, cfg.Hash(), record.Interrupted
	m.Of = r.planned(max(cfg.Train.Epochs, cfg.Train.Steps))
	m.Extended = append(m.Extended[:len(m.Extended):len(m.Extended)], record.Extension{Run: r.Manifest.Name, Config: r.Manifest.Config, Step: m.Steps, Schedule: schedule})
	return m
}

// copyFrom fills the directory of r, which it makes, with what it continues of another run.
func (r *Run) copyFrom(of *Run) error {
	if err := os.Mkdir(r.Dir, 0o755); err != nil {
		return err
	}
	if err := r.makeCheckpoints(); err != nil {
		return err
	}
	for _, name := range []string{"last", "best"} {
		c, err := of.readCheckpoint(name)
		if name == "best" && errors.Is(err, fs.ErrNotExist) && of.Manifest.Best == nil {
			continue
		}
		if err != nil {
			return err
		}
		if name == "last" && c.State.Step != of.Manifest.Steps {
			return fmt.Errorf("%w: %s was saved at step %d, but the run ended at step %d", train.ErrCheckpoint, of.Last(), c.State.Step, of.Manifest.Steps)
		}
		if err := c.WriteAs(r.CheckpointPath(name), r.Manifest.Config); err != nil {
			return err
		}
	}
	if err := fsx.Copy(of.Path("events.jsonl"), r.Path("events.jsonl")); err != nil {
		return err
	}
	text, err := r.Config.Resolved()
	if err != nil {
		return err
	}
	if err := fsx.WriteFile(r.Path("config.yaml"), text, 0o644); err != nil {
		return err
	}
	return r.SaveManifest()
}
