package runtest

import (
	"context"
	"errors"
	"testing"

	"tercet/internal/config"
	"tercet/internal/run"
	"tercet/internal/run/tinytest"
	"tercet/internal/train"
)

// Create makes the run of the tiny config, changed by sets, below root.
func Create(t testing.TB, root string, sets ...string) *run.Run {
	t.Helper()
	return begun(t, root, tinytest.Config(t, sets...))
}

func begun(t testing.TB, root string, cfg *config.Config) *run.Run {
	t.Helper()
	r, err := run.Create(root, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// Trained returns a finished run of the tiny config, changed by sets.
func Trained(t testing.TB, root string, sets ...string) *run.Run {
	t.Helper()
	return finished(t, Create(t, root, sets...))
}

func finished(t testing.TB, r *run.Run) *run.Run {
	t.Helper()
	if done, err := r.Train(context.Background(), run.Watch{}); done || err != nil {
		t.Fatalf("done %v, error %v", done, err)
	}
	return r
}

// Fitted returns a finished run of the config in text, changed by sets.
func Fitted(t testing.TB, root, text string, sets ...string) *run.Run {
	t.Helper()
	return finished(t, CreateFitted(t, root, text, sets...))
}

// CreateFitted makes the run of the config in text, changed by sets.
func CreateFitted(t testing.TB, root, text string, sets ...string) *run.Run {
	t.Helper()
	cfg, err := config.LoadBytes([]byte(text), "fitted.yaml", sets)
	if err != nil {
		t.Fatal(err)
	}
	return begun(t, root, cfg)
}

// Interrupted trains r until the given step.
func Interrupted(t testing.TB, r *run.Run, step int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := r.Train(ctx, run.Watch{Step: func(s *train.State, _ int, _ float64) {
		if s.Step >= step {
			cancel()
		}
	}})
	if !errors.Is(err, train.ErrInterrupted) {
		t.Fatalf("error %v, want an interruption", err)
	}
}
