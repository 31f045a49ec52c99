package run

import (
	"context"
	"errors"
	"testing"

	"tercet/internal/config"
	"tercet/internal/run/tinytest"
	"tercet/internal/train"
)

// create makes the run of tiny, changed by sets, below root.
func create(t testing.TB, root string, sets ...string) *Run {
	t.Helper()
	r, err := Create(root, tinytest.Config(t, sets...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// trained returns a finished run of tiny.
func trained(t testing.TB, root string, sets ...string) *Run {
	t.Helper()
	r := create(t, root, sets...)
	if done, err := r.Train(context.Background(), Watch{}); done || err != nil {
		t.Fatalf("done %v, error %v", done, err)
	}
	return r
}

// interrupted trains r until the given step.
func interrupted(t testing.TB, r *Run, step int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := r.Train(ctx, Watch{Step: func(s *train.State, _ int, _ float64) {
		if s.Step >= step {
			cancel()
		}
	}})
	if !errors.Is(err, train.ErrInterrupted) {
		t.Fatalf("error %v, want an interruption", err)
	}
}

func createFitted(t testing.TB, root, text string, sets ...string) *Run {
	t.Helper()
	cfg, err := config.LoadBytes([]byte(text), "fitted.yaml", sets)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Create(root, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func fitted(t testing.TB, root, text string, sets ...string) *Run {
	t.Helper()
	r := createFitted(t, root, text, sets...)
	if done, err := r.Train(context.Background(), Watch{}); done || err != nil {
		t.Fatalf("%v: done %v, error %v", sets, done, err)
	}
	return r
}
