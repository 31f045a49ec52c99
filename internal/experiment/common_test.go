package experiment

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"tercet/internal/config"
	"tercet/internal/testutil"
	"tercet/internal/train"
)

// tiny is a run of 18 steps on 72 images of 16x16 pixels.
const tiny = testutil.Tiny

func load(t testing.TB, sets ...string) *config.Config {
	t.Helper()
	cfg, err := config.LoadBytes([]byte(tiny), "tiny.yaml", sets)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// create makes the run of tiny, changed by sets, below root.
func create(t testing.TB, root string, sets ...string) *Run {
	t.Helper()
	r, err := Create(root, load(t, sets...))
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

// snapshot returns every file below dir with its content.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if e.IsDir() {
			files[name] = "a folder"
			return nil
		}
		b, err := os.ReadFile(path)
		files[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func quiet(string, int, int) {}
