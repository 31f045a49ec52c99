package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"tercet/internal/config"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/nn"
	"tercet/internal/train"
)

// retraining trains a run again in a folder of its own, once as it was and once for each
// replacement. What came of each is kept there; its weights are not.
type retraining struct {
	*study
	dir  string
	from string    // what networks are compared with
	base *standing // its network
	cost adversary.Cost

	mu    sync.Mutex
	done  map[int]int // steps of each variant in this session
	steps int         // of all
	of    int
}

// retrainKey is what a kept result depends on. Where any of it has changed, the result
// is made anew.
type retrainKey struct {
	Config   string      `json:"config"` // hash of the retrained config
	Version  string      `json:"version"`
	Base     string      `json:"base"` // weights that it is compared with, and kernels
	Train    string      `json:"train"`
	Judges   string      `json:"judges"`
	Triplets int         `json:"triplets"`
	Seed     uint64      `json:"seed"`
	Replaced Replacement `json:"replaced"`
}

// retrained is result.json of a retraining.
type retrained struct {
	Key    retrainKey     `json:"key"`
	Record ReplacedRecord `json:"record"`
	Cost   adversary.Cost `json:"cost"`
	// Same says of a retraining without replacement that it gave the run's bits.
	Same bool `json:"same,omitempty"`
}

// config is that of a retraining: the run's, which is judged at its end alone where this
// cannot change its weights.
func (t *retraining) config(name string) *config.Config {
	c := *t.run.Config
	c.Name = name
	if c.Train.EarlyStop.Patience == 0 {
		c.Train.EvalEvery = 0
	}
	return &c
}

func (t *retraining) key(c *config.Config, base *nn.Model, p Replacement) retrainKey {
	return retrainKey{
		Config: c.Hash(), Version: Version, Base: digest(base), Train: t.run.Manifest.Data.Train.Fingerprint,
		Judges: t.judges.ds.Fingerprint(), Triplets: t.o.Triplets, Seed: t.o.Seed, Replaced: p,
	}
}

// unreplaced is the name of the retraining without a replacement.
const unreplaced = "base"

// reference finds what networks are compared with: it trains the run again without a
// replacement, so that a difference is the replacement's and not another machine's. m
// is the run's network.
func (t *retraining) reference(ctx context.Context, m *nn.Model) error {
	c := t.config(unreplaced)
	key := t.key(c, m, Replacement{})
	key.Judges, key.Triplets, key.Seed = "", 0, 0 // the weights do not depend on them
	path := filepath.Join(t.dir, unreplaced, "result.json")
	var kept retrained
	t.from = "run"
	base := m
	if !stored(path, &kept) || kept.Key != key || !kept.Same && !present(filepath.Join(t.dir, unreplaced)) {
		t.p.Note("training again as the run was trained, to compare with")
		kept = retrained{Key: key}
		err := t.sweep(ctx, []*config.Config{c}, nil, func(i int, r *Run, err error) error {
			if err != nil {
				return fmt.Errorf("training again without a replacement: %w", err)
			}
			again, err := r.network()
			if err != nil {
				return err
			}
			kept.Cost, kept.Same = r.Manifest.Cost, digest(again) == digest(m)
			if err := WriteJSON(path, kept); err != nil {
				return err
			}
			if kept.Same {
				return r.dropWeights()
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !kept.Same {
		r, err := Open(filepath.Join(t.dir, unreplaced))
		if err != nil {
			return err
		}
		if base, err = r.network(); err != nil {
			return err
		}
		t.from = "retrained"
	}
	t.cost.Add(kept.Cost)
	var err error
	t.base, err = t.judges.stand(ctx, base, func(done, total int) { t.p.Say("embed", done, total) })
	return err
}

// present says whether a retraining has its weights.
func present(dir string) bool {
	_, err := os.Stat((&Run{Dir: dir}).Last())
	return err == nil
}

// network is that of the last checkpoint.
func (r *Run) network() (*nn.Model, error) {
	c, err := r.checkpoint("last")
	if err != nil {
		return nil, err
	}
	return c.LoadModel()
}

// dropWeights removes the checkpoints, which take most of a run's room.
func (r *Run) dropWeights() error { return os.RemoveAll(r.Path("checkpoints")) }

// all returns what came of each replacement; what is not kept is trained.
func (t *retraining) all(ctx context.Context, plan []Replacement) ([]ReplacedRecord, error) {
	out := make([]ReplacedRecord, len(plan))
	var todo []int
	var configs []*config.Config
	for i, p := range plan {
		c := t.config(p.name())
		var kept retrained
		if stored(filepath.Join(t.dir, c.Name, "result.json"), &kept) && kept.Key == t.key(c, t.base.model, p) {
			out[i] = kept.Record
			t.cost.Add(kept.Cost)
			continue
		}
		todo, configs = append(todo, i), append(configs, c)
	}
	if n := len(plan) - len(todo); n > 0 {
		t.p.Note("%d of %d retrainings are there", n, len(plan))
	}
	left := len(todo)
	alter := func(k int) alteration { p := plan[todo[k]]; return p.alter(t.pooled(p)) }
	err := t.sweep(ctx, configs, alter, func(k int, r *Run, err error) error {
		p := plan[todo[k]]
		kept := retrained{Key: t.key(configs[k], t.base.model, p), Record: ReplacedRecord{Replacement: p}}
		if kept.Record.Movement, err = t.judge(ctx, r, err, &kept.Record); err != nil {
			return err
		}
		kept.Record.Seconds, kept.Cost = r.Manifest.Seconds, r.Manifest.Cost
		if err := WriteJSON(r.Path("result.json"), kept); err != nil {
			return err
		}
		out[todo[k]] = kept.Record
		t.cost.Add(kept.Cost)
		left--
		return r.dropWeights()
	})
	if err != nil && interruption(err) {
		err = fmt.Errorf("%d of %d retrainings are done: %w; the same command goes on", len(plan)-left, len(plan), err)
	}
	return out, err
}

// interruption says whether err is that of a cancelled context.
func interruption(err error) bool {
	return errors.Is(err, train.ErrInterrupted) || errors.Is(err, context.Canceled)
}

// judge compares a retrained network with the base. A retraining that is lost has no
// movement.
func (t *retraining) judge(ctx context.Context, r *Run, err error, into *ReplacedRecord) (*Movement, error) {
	var lost *LostError
	var collapse *train.CollapseError
	var finite *train.NonFiniteError
	if errors.As(err, &lost) || errors.As(err, &collapse) || errors.As(err, &finite) {
		into.Status, into.Message = r.Manifest.Status, r.Manifest.Message
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	into.Status = Finished
	m, err := r.network()
	if err != nil {
		return nil, err
	}
	now, err := t.judges.stand(ctx, m, func(int, int) {})
	if err != nil {
		return nil, err
	}
	moved := t.judges.compare(t.base, now)
	return &moved, nil
}

// sweep trains configs in t.dir, jobs at once, and tells each of the runs that ended.
// Folders that hold something older are emptied first.
func (t *retraining) sweep(ctx context.Context, configs []*config.Config, alter func(int) alteration, each func(i int, r *Run, err error) error) error {
	if len(configs) == 0 {
		return nil
	}
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return fmt.Errorf("retraining: %w", err)
	}
	for _, c := range configs {
		if err := t.clear(c); err != nil {
			return err
		}
	}
	t.mu.Lock()
	t.done, t.steps, t.of = map[int]int{}, 0, len(configs)*t.run.Manifest.Of
	t.mu.Unlock()
	return Sweep(ctx, t.dir, configs, SweepOptions{Jobs: t.o.Jobs, Watch: t.watch, alter: alter}, func(e Ended) error {
		if e.Run == nil {
			return e.Err
		}
		return each(e.Variant, e.Run, e.Err)
	})
}

// clear empties the folder of a retraining whose result is no longer wanted, or that
// cannot go on; one in the middle of its training is left.
func (t *retraining) clear(c *config.Config) error {
	dir := filepath.Join(t.dir, c.Name)
	r, err := Open(dir)
	if err == nil && r.Manifest.Config == c.Hash() && r.Manifest.Version == Version &&
		!kept(dir) && (r.Manifest.Status != Finished || present(dir)) {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("retraining: %w", err)
	}
	return nil
}

// kept says whether a retraining has left a result.
func kept(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "result.json"))
	return err == nil
}

// watch shows how far all retrainings together are.
func (t *retraining) watch(i int) Watch {
	first := true
	return Watch{Step: func(s *train.State, of int, _ float64) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if first {
			t.done[i], first = s.Step-1, false
			t.of -= t.done[i]
		}
		t.steps += s.Step - t.done[i]
		t.done[i] = s.Step
		t.p.Say("retraining", t.steps, t.of)
	}}
}
