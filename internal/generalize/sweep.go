package generalize

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"tercet/internal/config"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// sweep trains configs in t.dir, jobs at once, and tells each of the runs that ended;
// stage names it where progress is told.
// Folders that hold something older are emptied first.
func (t *retraining) sweep(ctx context.Context, stage string, configs []*config.Config, alter func(int) wire.Alteration, each func(i int, r *run.Run, err error) error) error {
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
	return run.Sweep(ctx, t.dir, configs, run.SweepOptions{Jobs: t.o.Jobs, Watch: t.watch(stage), Alter: alter}, func(e run.Ended) error {
		if e.Run == nil {
			return e.Err
		}
		return each(e.Variant, e.Run, e.Err)
	})
}

// clear empties the folder of a retraining whose result is no longer wanted, or that
// cannot continue; one in the middle of its training is left.
func (t *retraining) clear(c *config.Config) error {
	dir := filepath.Join(t.dir, c.Name)
	r, err := run.Open(dir)
	if err == nil && r.Manifest.Config == c.Hash() && r.Manifest.Version == run.Version &&
		!kept(dir) && (r.Manifest.Status != record.Finished || present(dir)) {
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

// watch shows how far all retrainings of a stage together are.
func (t *retraining) watch(stage string) func(i int) run.Watch {
	return func(i int) run.Watch {
		first := true
		return run.Watch{Step: func(s *train.State, of int, _ float64) {
			t.mu.Lock()
			defer t.mu.Unlock()
			if first {
				t.done[i], first = s.Step-1, false
				t.of -= t.done[i]
			}
			t.steps += s.Step - t.done[i]
			t.done[i] = s.Step
			t.p.Say(stage, t.steps, t.of)
		}}
	}
}
