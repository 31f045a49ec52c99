package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
	"tercet/internal/train"
	"tercet/internal/wire"
)

func variants(t *testing.T, sets ...string) []*config.Config {
	t.Helper()
	all, err := Variants(tinytest.Config(t, sets...))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// bytesOf returns the checkpoints of a variant's run under root.
func bytesOf(t *testing.T, root string, cfg *config.Config) [2]string {
	t.Helper()
	return checkpoints(t, &Run{Dir: filepath.Join(root, cfg.Name)})
}

func TestRunsTrainedAtOnceHaveTheBitsOfRunsAlone(t *testing.T) {
	defer par.SetThreads(0)
	for name, sets := range map[string][]string{
		"cnn": {"sweep={seed: [0, 1], loss.margin: [0.1, 0.3]}", "data.split.validation=0.25", "data.augment.crop_padding=2"},
		"mlp": {"sweep={model.width: [4, 8, 16, 32], data.glyphs.seed: [0, 1]}", "model.name=mlp", "model.embedding=8", "noise={kind: sln, rate: 0.2}",
			"miner=distance-weighted"},
		"hm":    {"sweep.seed=[0, 1, 2]", "defense=hm", "defense.pgd={steps: 2, start: random}", "defense.ics.lambda=0.5"},
		"lenet": {"sweep.seed=[0, 1, 2]", "model={name: lenet, embedding: 8}", "train.collapse.enabled=true", "train.collapse.window=2"},
	} {
		t.Run(name, func(t *testing.T) {
			all := variants(t, sets...)
			alone, together := t.TempDir(), t.TempDir()
			par.SetThreads(2)
			for _, cfg := range all {
				r, err := Create(alone, cfg)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := r.Train(context.Background(), Watch{}); err != nil {
					t.Fatal(err)
				}
			}
			var mu sync.Mutex
			threads := map[int]int{}
			o := SweepOptions{Jobs: 3, Watch: func(i int) Watch {
				return Watch{Step: func(*train.State, int, float64) {
					mu.Lock()
					threads[i] = par.Threads()
					mu.Unlock()
				}}
			}}
			ended := map[int]bool{}
			err := Sweep(context.Background(), together, all, o, func(e Ended) error {
				ended[e.Variant] = true
				return e.Err
			})
			if err != nil || len(ended) != len(all) {
				t.Fatalf("%d of %d ended, error %v", len(ended), len(all), err)
			}
			if par.Threads() != 2 {
				t.Errorf("%d threads afterwards", par.Threads())
			}
			for i, cfg := range all {
				if threads[i] != 1 {
					t.Errorf("%s: on %d threads", cfg.Name, threads[i])
				}
				if bytesOf(t, alone, cfg) != bytesOf(t, together, cfg) {
					t.Errorf("%s: other bytes", cfg.Name)
				}
			}
		})
	}
}

// Of four runs, two at a time, the second fails while the first is in training.
func TestARunThatFailsLetsThoseInTrainingEnd(t *testing.T) {
	root := t.TempDir()
	all := variants(t, "sweep.seed=[0, 1, 2, 3]")
	testutil.Write(t, filepath.Join(root, "notes"), "")
	if err := os.MkdirAll(filepath.Join(root, all[1].Name), 0o755); err != nil {
		t.Fatal(err)
	}
	testutil.Write(t, filepath.Join(root, all[1].Name, "mine.txt"), "")
	failed := make(chan struct{})
	o := SweepOptions{Jobs: 2, Watch: func(int) Watch {
		return Watch{Step: func(*train.State, int, float64) { <-failed }}
	}}
	var ends []int
	err := Sweep(context.Background(), root, all, o, func(e Ended) error {
		ends = append(ends, e.Variant)
		if e.Err != nil {
			close(failed)
		}
		return e.Err
	})
	if !errors.Is(err, ErrOtherRun) || !slices.Equal(ends, []int{1, 0}) {
		t.Errorf("ended %v, error %v", ends, err)
	}
	r, err := Open(filepath.Join(root, all[0].Name))
	if err != nil || r.Manifest.Status != record.Finished {
		t.Errorf("the one in training: %v, error %v", r.Manifest.Status, err)
	}
	for _, cfg := range all[2:] {
		if _, err := os.Stat(filepath.Join(root, cfg.Name)); err == nil {
			t.Errorf("%s was begun", cfg.Name)
		}
	}
}

func TestAnInterruptedSweepGoesOnToTheSameBits(t *testing.T) {
	root, undisturbed := t.TempDir(), t.TempDir()
	all := variants(t, "sweep.seed=[0, 1, 2, 3, 4]")
	each := func(e Ended) error { return e.Err }
	if err := Sweep(context.Background(), undisturbed, all, SweepOptions{}, each); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	var both sync.WaitGroup
	both.Add(2)
	o := SweepOptions{Jobs: 2, Watch: func(int) Watch {
		return Watch{Step: func(s *train.State, _ int, _ float64) {
			if s.Step == 5 { // of the one, and of the other
				both.Done()
				both.Wait()
				cancel(cause)
			}
		}}
	}}
	steps := map[int]int{}
	err := Sweep(ctx, root, all, o, func(e Ended) error {
		if !errors.Is(e.Err, train.ErrInterrupted) || e.Run.Manifest.Status != record.Interrupted {
			t.Errorf("%s: error %v", e.Run.Dir, e.Err)
		}
		steps[e.Variant] = e.Run.Manifest.Steps
		return nil
	})
	if !errors.Is(err, cause) || len(steps) != 2 || steps[0] < 5 || steps[0] > 6 || steps[1] < 5 || steps[1] > 6 {
		t.Fatalf("steps %v, error %v", steps, err)
	}
	if err := Sweep(ctx, root, all, o, func(e Ended) error { t.Error("begun though canceled"); return nil }); !errors.Is(err, cause) {
		t.Errorf("canceled before: error %v", err)
	}
	if err := Sweep(context.Background(), root, all, SweepOptions{Jobs: 3}, each); err != nil {
		t.Fatal(err)
	}
	for _, cfg := range all {
		if bytesOf(t, root, cfg) != bytesOf(t, undisturbed, cfg) {
			t.Errorf("%s: other bytes", cfg.Name)
		}
	}
}

func TestBusyAndLostRunsStopNoOthers(t *testing.T) {
	root := t.TempDir()
	all := variants(t, "sweep.optimizer.lr=[1e-3, 1e30, 1e-2, 1e-4]", "train.epochs=1")
	busy := filepath.Join(root, all[2].Name)
	r, err := Create(root, all[2]) // another open file: another holder of the lock
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := testutil.Snapshot(t, busy)
	ends := make([]string, len(all))
	err = Sweep(context.Background(), root, all, SweepOptions{Jobs: 2}, func(e Ended) error {
		var finite *train.NonFiniteError
		switch {
		case errors.Is(e.Err, ErrBusy):
			ends[e.Variant] = "busy"
		case errors.As(e.Err, &finite):
			ends[e.Variant] = "diverged"
		case e.Err == nil:
			ends[e.Variant] = string(e.Run.Manifest.Status)
		}
		return nil
	})
	if want := []string{"finished", "diverged", "busy", "finished"}; err != nil || !slices.Equal(ends, want) {
		t.Errorf("%v, error %v", ends, err)
	}
	if after := testutil.Snapshot(t, busy); fmt.Sprint(before) != fmt.Sprint(after) {
		t.Error("the busy run's directory has changed")
	}
}

func TestAPanicOfOneRunLetsTheOthersEnd(t *testing.T) {
	root := t.TempDir()
	all := variants(t, "sweep.seed=[0, 1, 2]")
	gone := make(chan struct{})
	o := SweepOptions{Jobs: 2, Watch: func(i int) Watch {
		return Watch{Step: func(s *train.State, _ int, _ float64) {
			switch {
			case i > 0:
				<-gone
			case s.Step == 2:
				close(gone)
				panic("boom")
			}
		}}
	}}
	defer func() {
		if v := recover(); !strings.Contains(fmt.Sprint(v), "boom") || !strings.Contains(fmt.Sprint(v), "sweep_jobs_test.go") {
			t.Errorf("raised %v", v)
		}
		r, err := Open(filepath.Join(root, all[1].Name))
		if err != nil || r.Manifest.Status != record.Finished {
			t.Errorf("the other one: error %v", err)
		}
	}()
	err := Sweep(context.Background(), root, all, o, func(e Ended) error { return e.Err })
	t.Errorf("no panic, error %v", err)
}

func TestRunsOfASweepShareWhatTheyRead(t *testing.T) {
	all := variants(t, "sweep={data.glyphs.seed: [0, 1], seed: [0, 1, 2]}") // 0 0 0 1 1 1
	s := wire.NewSources(all, 2)
	get := func(i int) data.Dataset {
		t.Helper()
		sets, err := wire.OpenWith(t.Context(), all[i], s.Opener(i), nil)
		if err != nil {
			t.Fatal(err)
		}
		return sets.Train
	}
	first := get(0)
	if get(1) != first {
		t.Error("two runs on the same data opened them twice")
	}
	s.Release(0)
	s.Release(1)
	if get(2) != first {
		t.Error("closed though a later run needs it")
	}
	second := get(3)
	if second == first || testutil.Fingerprint(t, second) == testutil.Fingerprint(t, first) {
		t.Error("runs on other data share")
	}
	s.Release(2)
	if len(s.Sets) != 1 {
		t.Errorf("%d sources open, no later run needs the first", len(s.Sets))
	}
	s.Release(3)
	s.Release(4) // was finished before: never opened
	if get(5) != second {
		t.Error("closed though a later run needs it")
	}
	s.Release(5)
	if len(s.Sets) != 0 {
		t.Errorf("%d sources open at the end", len(s.Sets))
	}
}

// With more data than runs at once, the idle ones that are needed last are closed.
func TestOpenSourcesAreBounded(t *testing.T) {
	all := variants(t, "sweep={seed: [0, 1], data.glyphs.seed: [0, 1, 2, 3]}") // 0 1 2 3 0 1 2 3
	s := wire.NewSources(all, 2)
	for i := range all {
		if _, _, err := s.Opener(i)(t.Context(), wire.DataOptions(all[i])); err != nil {
			t.Fatal(err)
		}
		if len(s.Sets) > 2 {
			t.Errorf("%d sources open at run %d", len(s.Sets), i)
		}
		s.Release(i)
	}
	if len(s.Sets) != 0 {
		t.Errorf("%d sources open at the end", len(s.Sets))
	}
	// 0 1 2: 2 makes room of 1, which is needed after 0.
	s = wire.NewSources(all, 2)
	for i := range 3 {
		if _, _, err := s.Opener(i)(t.Context(), wire.DataOptions(all[i])); err != nil {
			t.Fatal(err)
		}
		s.Release(i)
	}
	if s.Sets[s.Keys[0]] == nil || s.Sets[s.Keys[1]] != nil || s.Sets[s.Keys[2]] == nil {
		t.Error("not the one that is needed last was closed")
	}
}

// What could not be read is read again by the next run: the files may be there by
// then.
func TestASourceThatFailedIsNotKept(t *testing.T) {
	files := t.TempDir()
	all, err := Variants(tinytest.VectorsConfig(t, "data=npy", "data.root="+files, "data.train.vectors=x.npy", "data.train.labels=y.npy",
		"data.split=class", "model=linear", "model.embedding=4", "data.size=0", "sweep.seed=[0, 1]"))
	if err != nil {
		t.Fatal(err)
	}
	s := wire.NewSources(all, 2)
	if _, err := wire.OpenWith(t.Context(), all[0], s.Opener(0), nil); !errors.Is(err, data.ErrMissing) {
		t.Fatalf("error %v", err)
	}
	s.Release(0)
	tinytest.Blobs(t, files, 8, 6, 4, 0)
	if _, err := wire.OpenWith(t.Context(), all[1], s.Opener(1), nil); err != nil {
		t.Error(err)
	}
}
