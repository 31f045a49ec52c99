package run

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/component"
	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// checkpoints returns the bytes of the two checkpoints.
func checkpoints(t *testing.T, r *Run) [2]string {
	return [2]string{testutil.Read(t, r.Last()), testutil.Read(t, r.BestPath())}
}

func TestInterruptionsAndThreadsChangeNoBit(t *testing.T) {
	for name, sets := range map[string][]string{
		"none":  {"data.augment.crop_padding=2", "data.split.validation=0.25", "miner=distance-weighted"},
		"hm":    {"defense=hm", "defense.pgd.steps=2", "defense.ics.lambda=0.5"},
		"est":   {"defense=est", "defense.pgd.steps=2"},
		"act":   {"defense=act", "defense.pgd={steps: 2, batchnorm: batch}"},
		"min":   {"defense=minmax", "defense.pgd={steps: 1, norm: l2, eps: 1}"},
		"noise": {"noise={kind: sln, rate: 0.3}", "data.split.validation=0.25", "loss=triplet-capped", "miner=semihard"},
		"pairs": {"noise=sln", "miner=semihard", "loss={name: triplet-threshold, pairing: pairs}", "batch={sampler: m-per-class, classes: 4, per_class: 3}"},
		"boost": {"defense=hm", "defense.pgd={steps: 2, start: random}", "defense.destination.name=boost"},
	} {
		t.Run(name, func(t *testing.T) { interruptionsAndThreads(t, sets) })
	}
}

func interruptionsAndThreads(t *testing.T, sets []string) {
	defer par.SetThreads(0)
	par.SetThreads(1)
	want := checkpoints(t, trained(t, t.TempDir(), sets...))
	for _, n := range []int{2, 33}[:testutil.Trials(1, 2)] {
		par.SetThreads(n)
		if got := checkpoints(t, trained(t, t.TempDir(), sets...)); got != want {
			t.Errorf("%d threads give other bytes than one", n)
		}
	}
	r := create(t, t.TempDir(), sets...)
	for i, step := range []int{1, 5, 6, 11} { // in and at the ends of epochs of 6
		par.SetThreads([]int{1, 33, 3, 2}[i])
		interrupted(t, r, step)
		if r.Manifest.Status != record.Interrupted || r.Manifest.Steps != step {
			t.Fatalf("manifest %+v, want step %d", r.Manifest, step)
		}
		var err error
		if r, err = Open(r.Dir); err != nil {
			t.Fatal(err)
		}
	}
	par.SetThreads(1)
	if _, err := r.Train(context.Background(), Watch{}); err != nil {
		t.Fatal(err)
	}
	if got := checkpoints(t, r); got != want {
		t.Error("an interrupted run ends in other bytes")
	}
}

// What a kill leaves: a checkpoint behind the log, a half-written line. Damage
// in the middle of the log costs the lines after it, not the run.
func TestResumeWithADamagedLog(t *testing.T) {
	want := checkpoints(t, trained(t, t.TempDir()))
	for name, damage := range map[string]func(string) string{
		"half a line": func(s string) string { return s[:len(s)-9] },
		"beyond the checkpoint": func(s string) string {
			return s + `{"event":"step","step":9}` + "\n" + `{"event":"st`
		},
		"rubbish":   func(s string) string { return "\x00\xff{]\n" + s },
		"no log":    func(string) string { return "" },
		"not lines": func(string) string { return strings.Repeat("x", 1<<17) },
	} {
		t.Run(name, func(t *testing.T) {
			r := create(t, t.TempDir())
			interrupted(t, r, 7)
			testutil.Write(t, r.Path("events.jsonl"), damage(testutil.Read(t, r.Path("events.jsonl"))))
			if _, err := r.Train(context.Background(), Watch{}); err != nil {
				t.Fatal(err)
			}
			if checkpoints(t, r) != want {
				t.Error("other bytes")
			}
			events, err := train.ReadEvents(r.Path("events.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			last := 0
			for _, e := range events {
				if e.Step < last {
					t.Errorf("%s at step %d comes after step %d", e.Kind, e.Step, last)
				}
				last = e.Step
			}
			if last != 18 || events[len(events)-1].Kind != "end" {
				t.Errorf("the log ends with %+v", events[len(events)-1])
			}
		})
	}
}

func TestBadCheckpointsStopAResumeAndStay(t *testing.T) {
	root := t.TempDir()
	r := create(t, root)
	interrupted(t, r, 7)
	good := testutil.Read(t, r.Last())
	other := trained(t, root, "name=other", "seed=1")
	for _, tc := range []struct {
		name, content string
		kind          error
		want          string
	}{
		{"truncated", good[:len(good)/2], train.ErrCheckpoint, "what can be used is checkpoints/previous.safetensors at step 4"},
		{"empty", "", train.ErrCheckpoint, "last.safetensors"},
		{"another config", testutil.Read(t, other.Last()), ErrOtherRun, "belongs to another config"},
	} {
		testutil.Write(t, r.Last(), tc.content)
		before := testutil.Snapshot(t, r.Dir)
		_, err := r.Train(context.Background(), Watch{})
		if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v", tc.name, err)
		}
		if d := cmp.Diff(before, testutil.Snapshot(t, r.Dir)); d != "" {
			t.Errorf("%s: %s", tc.name, d)
		}
		if _, err := r.Embed(context.Background(), "last", "test", 0, tinytest.Quiet); err == nil {
			t.Errorf("%s: embedded", tc.name)
		}
	}
	r.From = Start
	if _, err := r.Train(context.Background(), Watch{}); err != nil {
		t.Errorf("from the start: %v", err)
	}
}

func TestDataThatChangedUnderARun(t *testing.T) {
	root := t.TempDir()
	files := filepath.Join(root, "data")
	vectors := func(shift float32) {
		tinytest.Blobs(t, files, 8, 6, 4, shift)
	}
	vectors(0)
	sets := []string{"data=npy", "data.root=" + files, "data.train.vectors=x.npy", "data.train.labels=y.npy",
		"data.split=class", "model=linear", "model.embedding=4", "data.size=0"}
	cfg := tinytest.VectorsConfig(t, sets...)
	r, err := Create(root, cfg)
	if err != nil {
		t.Fatal(err)
	}
	interrupted(t, r, 2)
	vectors(0.5)
	before := testutil.Snapshot(t, r.Dir)
	for name, try := range map[string]func() error{
		"train": func() error { _, err := r.Train(context.Background(), Watch{}); return err },
		"embed": func() error { _, err := r.Embed(context.Background(), "last", "test", 0, tinytest.Quiet); return err },
	} {
		if err := try(); !errors.Is(err, data.ErrFormat) || !strings.Contains(err.Error(), "have changed since the run began") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if d := cmp.Diff(before, testutil.Snapshot(t, r.Dir)); d != "" {
		t.Error(d)
	}
	vectors(0)
	if _, err := r.Train(context.Background(), Watch{}); err != nil {
		t.Error(err)
	}
}

// At a rate of 1e30 a step leaves weights that are huge, at 1e39 infinite ones.
func TestCheckpointsHoldFiniteWeights(t *testing.T) {
	for rate, want := range map[string]bool{"1e30": true, "1e39": false} {
		r := create(t, t.TempDir(), "optimizer.lr="+rate, "train.checkpoint_every=1 step")
		_, err := r.Train(context.Background(), Watch{})
		var finite *train.NonFiniteError
		if !errors.As(err, &finite) {
			t.Fatalf("rate %s: error %v", rate, err)
		}
		c, err := train.ReadCheckpoint(r.Last())
		if got := err == nil; got != want {
			t.Fatalf("rate %s: checkpoint %v, error %v", rate, got, err)
		}
		if !want {
			continue
		}
		m, err := c.LoadModel()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Params() {
			if i, ok := kernel.AllFinite(p.Value.Data); !ok {
				t.Errorf("rate %s: %s is %v at %d", rate, p.Name, p.Value.Data[i], i)
			}
		}
	}
}

// Overflow is divergence, wherever it shows first: a sweep continues after it.
func TestDefendedRunsDiverge(t *testing.T) {
	for _, name := range []string{"est", "act", "minmax", "hm"} {
		r := create(t, t.TempDir(), "optimizer.lr=1e18", "defense.name="+name, "defense.pgd.steps=2")
		_, err := r.Train(context.Background(), Watch{})
		var finite *train.NonFiniteError
		if !errors.As(err, &finite) || r.Manifest.Status != record.Diverged {
			t.Errorf("%s: status %s, error %v", name, r.Manifest.Status, err)
		}
	}
}

func TestADivergedRunIsNotRepeated(t *testing.T) {
	r := create(t, t.TempDir(), "optimizer.lr=1e30")
	_, err := r.Train(context.Background(), Watch{})
	var finite *train.NonFiniteError
	if !errors.As(err, &finite) || r.Manifest.Status != record.Diverged || r.Manifest.Message != err.Error() {
		t.Fatalf("error %v, manifest %+v", err, r.Manifest)
	}
	before := testutil.Snapshot(t, r.Dir)
	var lost *LostError
	if _, err := r.Train(context.Background(), Watch{}); !errors.As(err, &lost) || lost.Status != record.Diverged {
		t.Fatalf("error %v", err)
	}
	if d := cmp.Diff(before, testutil.Snapshot(t, r.Dir)); d != "" {
		t.Error(d)
	}
	// Another program may fare better: it tries.
	r.Manifest.Builds[0].Kernel = "another"
	if err := r.SaveManifest(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Train(context.Background(), Watch{}); !errors.As(err, &finite) {
		t.Errorf("error %v", err)
	}
}

func TestACollapsedRunStops(t *testing.T) {
	// A limit that every batch is beyond, after a window of 10 steps.
	r := create(t, t.TempDir(), "train.collapse={enabled: true, window: 1, cosine: 1e-9, rank: 1000}", "train.epochs=4")
	_, err := r.Train(context.Background(), Watch{})
	var collapse *train.CollapseError
	if !errors.As(err, &collapse) || r.Manifest.Status != record.Collapsed {
		t.Fatalf("error %v, manifest %+v", err, r.Manifest)
	}
	if _, err := r.Extend(Longer{Name: "longer", Epochs: 90}); !errors.Is(err, ErrExtend) || !strings.Contains(err.Error(), "has no last weights to continue from") {
		t.Errorf("longer: %v", err)
	}
	events, err := train.ReadEvents(r.Path("events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if last := events[len(events)-1]; last.Kind != "stop" || !strings.Contains(last.Note, "has collapsed") {
		t.Errorf("the log ends with %+v", last)
	}
}

// Every key of train.collapse reaches the monitor.
func TestTheActiveFractionStopsARun(t *testing.T) {
	r := create(t, t.TempDir(), "train.collapse={window: 1, active: 1}", "train.epochs=4", "loss.margin=0")
	_, err := r.Train(context.Background(), Watch{})
	var collapse *train.CollapseError
	if !errors.As(err, &collapse) || !collapse.Idle || r.Manifest.Status != record.Collapsed {
		t.Fatalf("error %v, manifest %+v", err, r.Manifest)
	}
}

// What only a component can refuse is a mistake in the config, by its section.
func TestComponentsRefuseByKey(t *testing.T) {
	for set, want := range map[string]string{
		"model={name: mlp, width: 65536}":                       "model: ",
		"optimizer.schedule={name: cosine, warmup: 1000 steps}": "optimizer.schedule: ",
	} {
		_, err := MakePlan(t.Context(), tinytest.Config(t, set))
		var e *config.Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v", set, err)
		}
	}
	_, err := MakePlan(t.Context(), tinytest.Config(t, "train.early_stop={metric: retrieval.foo, on: test}"))
	if err == nil || !strings.Contains(err.Error(), `no score "foo"`) {
		t.Errorf("a score that is not there: error %v", err)
	}
	_, err = MakePlan(t.Context(), tinytest.Config(t, "batch.pairs=1000"))
	if !errors.Is(err, data.ErrUnfit) {
		t.Errorf("more pairs than samples: error %v", err)
	}
}

// Lengths that no run reaches do not wrap round.
func TestSpansBeyondCounting(t *testing.T) {
	o := wire.TrainOptions(tinytest.Config(t, "train.checkpoint_every=1e300 minutes"), 9)
	if o.CheckpointAfter <= 0 {
		t.Errorf("checkpoint after %v", o.CheckpointAfter)
	}
	if n := (component.Span{N: 1e300, Unit: "epochs"}).Steps(9); n != component.MaxSteps {
		t.Errorf("%d steps", n)
	}
	if n := (component.Span{N: 2.5, Unit: "epochs"}).Steps(9); n != 23 {
		t.Errorf("2.5 epochs of 9 steps are %d", n)
	}
	r := trained(t, t.TempDir(), "eval.batch=1000000", "train.epochs=1")
	if r.Manifest.Status != record.Finished {
		t.Errorf("manifest %+v", r.Manifest)
	}
}

// A run on pairs that was interrupted ends in the bits of one that was not, with one
// thread or three.
func TestPairRunsResumeBitIdentical(t *testing.T) {
	for _, sets := range [][]string{
		tinytest.PairsText("noise={kind: pln, q: 0.4}"),
		tinytest.PairsText("batch.redraw=true", "loss=cosine", "batch.scenario=s1"),
	} {
		whole := trained(t, t.TempDir(), sets...)
		par.SetThreads(3)
		r := create(t, t.TempDir(), sets...)
		interrupted(t, r, 4)
		if _, err := r.Train(t.Context(), Watch{}); err != nil {
			t.Fatal(err)
		}
		par.SetThreads(1)
		one := trained(t, t.TempDir(), sets...)
		par.SetThreads(0)
		for _, other := range []*Run{r, one} {
			if testutil.Read(t, whole.Last()) != testutil.Read(t, other.Last()) {
				t.Errorf("%v: the weights differ", sets)
			}
		}
		if c, err := train.ReadCheckpoint(r.Last()); err != nil || c.State.Step != 6 {
			t.Errorf("%+v, %v", c, err)
		}
	}
}

// Checkpoints by the clock leave out ends of epochs that follow each other closely, but
// never that of a run that ends or is stopped; the bits are the same.
func TestEpochsOfMillisecondsShareCheckpoints(t *testing.T) {
	at := time.Now()
	a := &wire.Assembled{Trainer: &train.Trainer{Options: train.Options{Steps: 9, CheckpointAfter: time.Minute}}}
	a.State.Step = 3
	ctx, cancel := context.WithCancel(t.Context())
	if !spare(ctx, a, at) || spare(ctx, a, at.Add(-6*time.Second)) {
		t.Error("within five seconds of the last one, no other")
	}
	if a.CheckpointAfter = 0; spare(ctx, a, at) {
		t.Error("checkpoints by steps are left out")
	}
	a.CheckpointAfter = time.Minute
	if a.State.Step = 9; spare(ctx, a, at) {
		t.Error("the last checkpoint is left out")
	}
	a.State.Step, a.State.Stopped = 3, true
	if spare(ctx, a, at) {
		t.Error("that of a run that stopped early is left out")
	}
	a.State.Stopped = false
	if cancel(); spare(ctx, a, at) {
		t.Error("that of an interrupted run is left out")
	}
	clock := tinytest.PairsText("train.checkpoint_every=5 minutes", "train.epochs=4")
	r := create(t, t.TempDir(), clock...)
	interrupted(t, r, 5)
	if _, err := r.Train(t.Context(), Watch{}); err != nil {
		t.Fatal(err)
	}
	if whole := trained(t, t.TempDir(), clock...); testutil.Read(t, whole.Last()) != testutil.Read(t, r.Last()) {
		t.Error("other bits")
	}
}
