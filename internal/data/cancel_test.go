package data

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"tercet/internal/testutil"
)

// stops cancels a context when so many items were read.
type stops struct {
	Dataset
	after  int64
	cancel func()
	read   atomic.Int64
}

func (s *stops) Read(i int, dst []float32) error {
	if s.read.Add(1) == s.after {
		s.cancel()
	}
	return s.Dataset.Read(i, dst)
}

// What reads all items stops soon after its context ends, and its result is not kept.
func TestReadingStops(t *testing.T) {
	t.Parallel()
	m := toy(t, 2, 2, 1, 20_000)
	for name, f := range map[string]func(context.Context, Dataset) error{
		"digest":  func(ctx context.Context, ds Dataset) error { _, err := Digest(ctx, ds); return err },
		"summary": func(ctx context.Context, ds Dataset) error { _, err := Summary(ctx, ds); return err },
		"overlap": func(ctx context.Context, ds Dataset) error { _, err := Overlap(ctx, ds, m); return err },
		"items":   func(ctx context.Context, ds Dataset) error { _, err := NewItemSet(ctx, stored{ds}); return err },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		ds := &stops{Dataset: m, after: 100, cancel: cancel}
		if err := f(ctx, ds); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if n := ds.read.Load(); name != "items" && (n < 100 || n > 10_000) { // threads finish their item
			t.Errorf("%s read %d of %d items", name, n, m.Len())
		}
	}
	m = toy(t, 2, 2, 1, 20)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if print, err := m.Fingerprint(ended); err == nil {
		t.Errorf("fingerprint %s of an ended context", print)
	}
	want, err := Digest(t.Context(), m)
	if got := testutil.Fingerprint(t, m); err != nil || got != want {
		t.Errorf("fingerprint %s after an interruption, want %s", got, want)
	}
}

// Opening a folder stops, in memory and decoded later, also where it looks for broken files.
func TestOpenStops(t *testing.T) {
	t.Parallel()
	root := testutil.Tree(t, photos(t, 2))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, o := range map[string]Options{
		"in memory":           {Size: 8},
		"decoded when needed": {Transform: steps(t, "", evalSteps)},
		"without broken":      {Size: 8, Broken: &Broken{}},
	} {
		o.Source = FolderOptions{Root: root}
		if _, _, err := Open(ended, o); !errors.Is(err, context.Canceled) || errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := Open(t.Context(), o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
