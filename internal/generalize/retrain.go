package generalize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"tercet/internal/config"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// retraining trains a run again in a folder of its own, once as it was and once for each
// change of its training images. What came of each is kept there; its weights are not.
type retraining struct {
	*study
	dir  string
	from string            // what networks are compared with
	base *nn.Model         // that network
	cost record.CostRecord // of all retrainings, kept ones too

	mu    sync.Mutex
	done  map[int]int // steps of each variant in this session
	steps int         // of all
	of    int
}

func newRetraining(s *study) *retraining {
	return &retraining{study: s, dir: s.run.Path("stability", "retrained")}
}

// retraining begins the retrainings of the run, whose network is m, with the one that
// they are compared with. No other measurement may keep any until free is called.
func (s *study) retraining(ctx context.Context, m *nn.Model) (t *retraining, free func(), err error) {
	if free, err = lockStability(s.run); err != nil {
		return nil, nil, err
	}
	t = newRetraining(s)
	if err = t.reference(ctx, m); err != nil {
		free()
		return nil, nil, err
	}
	return t, free, nil
}

// cautions are what the reference makes of the numbers.
func (t *retraining) cautions() []string {
	if t.from == "run" {
		return nil
	}
	return []string{"retraining as the run was trained gives other bits here (another machine, version or kernel): networks are compared with the retrained one"}
}

// config is that of a retraining: the run's, which is evaluated at its end alone where this
// cannot change its weights.
func (t *retraining) config(name string) *config.Config {
	c := *t.run.Config
	c.Name = name
	if c.Train.EarlyStop.Metric == "" {
		c.Train.EvalEvery = 0
	}
	return &c
}

// unreplaced is the name of the retraining without a replacement.
const unreplaced = "base"

// Stages that progress tells of.
const (
	stageUnreplaced = "retraining steps, unchanged"
	stageReplaced   = "retraining steps"
)

// reference finds what networks are compared with: it trains the run again without a
// replacement, so that a difference is the replacement's and not another machine's. m
// is the run's network.
func (t *retraining) reference(ctx context.Context, m *nn.Model) error {
	c := t.config(unreplaced)
	key := record.RetrainKey{Config: c.Hash(), Version: run.Version, Base: digest(m), Train: t.run.Manifest.Data.Train.Fingerprint}
	path := filepath.Join(t.dir, unreplaced, "result.json")
	var kept record.Retrained[record.RetrainKey, struct{}]
	t.from, t.base = "run", m
	if !run.ReadStored(path, &kept) || kept.Key != key || !kept.Same && !present(filepath.Join(t.dir, unreplaced)) {
		t.p.Note("training again as the run was trained, to compare with")
		kept = record.Retrained[record.RetrainKey, struct{}]{Key: key}
		err := t.sweep(ctx, stageUnreplaced, []*config.Config{c}, nil, func(i int, r *run.Run, err error) error {
			if err != nil {
				return fmt.Errorf("training again without a replacement: %w", err)
			}
			again, err := network(r)
			if err != nil {
				return err
			}
			kept.Cost, kept.Seconds, kept.Same = r.Manifest.Cost, r.Manifest.Seconds, digest(again) == digest(m)
			return record.Write(path, kept)
		})
		if err != nil {
			return err
		}
	}
	t.took(kept.Cost, kept.Seconds)
	if kept.Same {
		return dropWeights(&run.Run{Dir: filepath.Join(t.dir, unreplaced)}) // also what a killed process has left
	}
	t.from = "retrained"
	r, err := run.Open(filepath.Join(t.dir, unreplaced))
	if err != nil {
		return err
	}
	t.base, err = network(r)
	return err
}

// took counts what a retraining took.
func (t *retraining) took(c record.Cost, seconds float64) {
	t.cost.Add(c)
	t.cost.Seconds += seconds
}

// present says whether a retraining has its weights.
func present(dir string) bool {
	_, err := os.Stat((&run.Run{Dir: dir}).Last())
	return err == nil
}

// network is that of the last checkpoint.
func network(r *run.Run) (*nn.Model, error) {
	c, err := r.Checkpoint("last")
	if err != nil {
		return nil, err
	}
	return c.LoadModel()
}

// dropWeights removes the checkpoints, which take most of a run's room.
func dropWeights(r *run.Run) error { return os.RemoveAll(r.Path("checkpoints")) }

// again is one retraining: of which config, on what, and what its result depends on.
type again[K comparable] struct {
	config *config.Config
	key    K
	alter  wire.Alteration
}

// timed is a record of what came of a retraining.
type timed interface {
	Took() float64 // seconds of the training
}

// retrain returns what came of each retraining; what is not kept is trained, and evaluated
// once it has ended, by its run and error. Those of one name are one.
func retrain[K comparable, R timed](ctx context.Context, t *retraining, list []again[K], evaluate func(i int, r *run.Run, err error) (R, error)) ([]R, error) {
	out := make([]R, len(list))
	first := map[string]int{}
	var todo []int
	var configs []*config.Config
	for i, a := range list {
		if _, there := first[a.config.Name]; there {
			continue
		}
		first[a.config.Name] = i
		var kept record.Retrained[K, R]
		if run.ReadStored(filepath.Join(t.dir, a.config.Name, "result.json"), &kept) && kept.Key == a.key {
			out[i] = kept.Record
			t.took(kept.Cost, kept.Record.Took())
			continue
		}
		todo, configs = append(todo, i), append(configs, a.config)
	}
	if n := len(first) - len(todo); n > 0 {
		t.p.Note("retrainings found: %d of %d", n, len(first))
	}
	left := len(todo)
	alter := func(k int) wire.Alteration { return list[todo[k]].alter }
	err := t.sweep(ctx, stageReplaced, configs, alter, func(k int, r *run.Run, err error) error {
		i := todo[k]
		kept := record.Retrained[K, R]{Key: list[i].key}
		if kept.Record, err = evaluate(i, r, err); err != nil {
			return err
		}
		kept.Cost = r.Manifest.Cost
		if err := record.Write(r.Path("result.json"), kept); err != nil {
			return err
		}
		out[i] = kept.Record
		t.took(kept.Cost, kept.Record.Took())
		left--
		return dropWeights(r)
	})
	if err != nil && interruption(err) {
		err = fmt.Errorf("retrainings done: %d of %d: %w; the same command resumes", len(first)-left, len(first), err)
	}
	for i, a := range list {
		out[i] = out[first[a.config.Name]]
	}
	return out, err
}

// interruption says whether err is that of a canceled context.
func interruption(err error) bool {
	return errors.Is(err, train.ErrInterrupted) || errors.Is(err, context.Canceled)
}

// trainedAgain returns the network of a retraining that has ended; nil of one that is
// lost, which status and message tell of.
func trainedAgain(r *run.Run, err error) (m *nn.Model, status record.Status, message string, _ error) {
	var lost *run.LostError
	var collapse *train.CollapseError
	var finite *train.NonFiniteError
	if errors.As(err, &lost) || errors.As(err, &collapse) || errors.As(err, &finite) {
		return nil, r.Manifest.Status, r.Manifest.Message, nil
	}
	if err != nil {
		return nil, "", "", err
	}
	m, err = network(r)
	return m, record.Finished, "", err
}
