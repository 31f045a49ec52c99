package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/record"
	"tercet/internal/safetensors"
	"tercet/internal/testutil"
	"tercet/internal/train"
)

// A longer run has the bytes of a run of its config that was trained from the first step,
// also if it was killed on the way.
func TestALongerRunIsTheWholeOne(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		x    Longer
		sets []string
	}{
		"constant": {Longer{Epochs: 4}, []string{"train.epochs=2"}},
		"restart":  {Longer{Epochs: 4, Schedule: "restart"}, []string{"train.epochs=2", "optimizer.schedule=cosine"}},
		"stopping": {Longer{Epochs: 4}, []string{"train.epochs=2", "train.eval_every=2", "data.split.validation=0.5", "train.early_stop.metric=retrieval.recall@1"}},
		"stretch":  {Longer{Steps: 9, Schedule: "stretch"}, []string{"train.epochs=0", "train.steps=6", "train.eval_every=0", "optimizer.schedule=cosine"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := trained(t, t.TempDir(), tc.sets...)
			before := testutil.Read(t, first.Path("manifest.json"))
			tc.x.Name = "longer"
			r, err := first.Extend(tc.x)
			if err != nil {
				t.Fatal(err)
			}
			if m := r.Manifest; m.Status != record.Interrupted || len(m.Extended) != 1 || m.Extended[0].Step != first.Manifest.Steps || m.Extended[0].Config != first.Manifest.Config {
				t.Errorf("%+v", m)
			}
			if testutil.Read(t, first.Path("manifest.json")) != before {
				t.Error("the shorter run was changed")
			}
			killed(t, r, first.Manifest.Steps+1)
			again, _ := resumed(t, r.Dir, "")
			whole, err := Create(t.TempDir(), again.Config)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := whole.Train(context.Background(), Watch{}); err != nil {
				t.Fatal(err)
			}
			if !sameTensors(t, again.Last(), whole.Last()) {
				t.Error("the last checkpoint has other weights than that of the whole run")
			}
			if tc.x.Epochs > 0 && testutil.Read(t, again.Last()) != testutil.Read(t, whole.Last()) {
				t.Error("the last checkpoint is not that of the whole run")
			}
			if again.Manifest.Of != whole.Manifest.Of || again.Manifest.Steps != whole.Manifest.Of {
				t.Errorf("%d steps of %d, want %d", again.Manifest.Steps, again.Manifest.Of, whole.Manifest.Of)
			}
		})
	}
}

func TestExtendRefuses(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	r := trained(t, root, "train.epochs=2", "optimizer.schedule=cosine")
	half := create(t, t.TempDir(), "train.epochs=2")
	interrupted(t, half, 2)
	early := trained(t, t.TempDir(), "train.epochs=2", "train.eval_every=3", "data.split.validation=0.5", "train.early_stop.metric=retrieval.recall@1")
	for want, tc := range map[string]struct {
		of *Run
		x  Longer
	}{
		"say how it continues":      {r, Longer{Name: "x", Epochs: 4}},
		"has 2 epochs already":      {r, Longer{Name: "x", Epochs: 2, Schedule: "keep"}},
		"is in epochs":              {r, Longer{Name: "x", Steps: 900, Schedule: "keep"}},
		"train it to its end first": {half, Longer{Name: "x", Epochs: 4}},
		"evaluated at its end":      {early, Longer{Name: "x", Epochs: 4}},
		"name":                      {r, Longer{Name: "a/b", Epochs: 4, Schedule: "keep"}},
	} {
		if _, err := tc.of.Extend(tc.x); !errors.Is(err, ErrExtend) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if _, err := r.Extend(Longer{Name: filepath.Base(r.Dir), Epochs: 4, Schedule: "keep"}); !errors.Is(err, ErrOtherRun) {
		t.Error(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 {
		t.Errorf("refusals left %v %v", entries, err)
	}
}

// Only a run that is evaluated at its end alone has a best checkpoint that a longer one has not.
func TestBestAtTheEnd(t *testing.T) {
	t.Parallel()
	for every, want := range map[string]bool{"train.eval_every=0": true, "train.eval_every=1": false} {
		r := trained(t, t.TempDir(), "train.epochs=1", every)
		if got, err := r.EndIsBest(); err != nil || got != want || r.Manifest.Best.Step != r.Manifest.Steps {
			t.Errorf("%s: %v, %v, best %+v", every, got, err, r.Manifest.Best)
		}
	}
}

// Every checkpoint that the config asks for stays, whatever else is written.
func TestKeptCheckpoints(t *testing.T) {
	t.Parallel()
	r := create(t, t.TempDir(), "train.epochs=2", "train.keep_every=2 steps")
	killed(t, r, 3)
	r, _ = resumed(t, r.Dir, "")
	for step := 2; step <= r.Manifest.Steps; step += 2 {
		c, err := train.ReadCheckpoint(r.Path("checkpoints", fmt.Sprintf(KeptCheckpoints, strconv.Itoa(step))))
		if err != nil || c.State.Step != step {
			t.Errorf("step %d: %v", step, err)
		}
	}
	for name, want := range map[string]string{"step-2": "", "step-3": "there are step-2, step-4", "step-02": "unknown checkpoint", "previous": "unknown checkpoint"} {
		c, err := r.Checkpoint(name)
		if want == "" && (err != nil || c.State.Step != 2) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if e, err := r.Embed(context.Background(), "step-2", "test", 0, func(string, int, int) {}); err != nil || e.Source.Step != 2 || e.Source.Checkpoint != "step-2" {
		t.Errorf("%+v %v", e, err)
	}
	if err := os.Rename(r.CheckpointPath("step-4"), r.CheckpointPath("step-6")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Checkpoint("step-6"); !errors.Is(err, train.ErrCheckpoint) || !strings.Contains(err.Error(), "was saved at step 4") {
		t.Error(err)
	}
	if plain := trained(t, t.TempDir(), "train.epochs=2"); !sameTensors(t, plain.Last(), r.Last()) {
		t.Error("what stays changes the weights")
	}
}

// A run that is the working directory is lengthened beside it.
func TestExtendHere(t *testing.T) {
	r := trained(t, t.TempDir(), "train.epochs=2")
	t.Chdir(r.Dir)
	here, err := Open(".")
	if err != nil {
		t.Fatal(err)
	}
	longer, err := here.Extend(Longer{Name: "longer", Epochs: 4})
	if want := filepath.Join(filepath.Dir(r.Dir), "longer"); err != nil || longer.Dir != want {
		t.Fatalf("%v, want it in %s", err, want)
	}
}

func sameTensors(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := safetensors.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := safetensors.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(x.Tensors, y.Tensors)
}
