package generalize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
	"tercet/internal/wire"
)

// gapOptions are those of tests.
var gapOptions = GapOptions{Options: Options{Set: "test", Triplets: 4000, Seed: 3}, Checkpoint: "last", Bootstrap: 120}

// measured makes the measurement that o is of.
func measured(ctx context.Context, r *run.Run, o any, p progress.Progress) (Measurement, error) {
	switch o := o.(type) {
	case GapOptions:
		return Gap(ctx, r, o, p.Say)
	case InfluenceOptions:
		return Influence(ctx, r, o, p)
	}
	return Stability(ctx, r, o.(ReplaceOptions), p)
}

func measuredAs[T Measurement](t testing.TB, r *run.Run, o any) T {
	t.Helper()
	m, err := measured(context.Background(), r, o, progress.Progress{Say: tinytest.Quiet, Note: func(string, ...any) {}})
	if err != nil {
		t.Fatal(err)
	}
	return m.(T)
}

// The means are those over all triplets of a set, by plain loops over them, within what
// drawing allows.
func TestGapByAllTriplets(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), "loss={name: triplet, margin: 0.3, distance: squared}", "model.normalize=true")
	d := measuredAs[*GapDoc](t, r, gapOptions)
	for set, got := range map[string][2]float64{"train": {d.Loss.Train.Value, d.Error.Train.Value}, "test": {d.Loss.Test.Value, d.Error.Test.Value}} {
		e, err := r.Embed(context.Background(), "last", set, 0, tinytest.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		labels := e.Data.Labels()
		var ts []loss.Triplet
		for a := range labels {
			for p := range labels {
				for n := range labels {
					if a != p && labels[a] == labels[p] && labels[a] != labels[n] {
						ts = append(ts, loss.Triplet{A: int32(a), P: int32(p), N: int32(n)})
					}
				}
			}
		}
		sum, wrong := 0.0, 0.0 // classes are of one size, so all triplets are alike
		for _, x := range ts {
			var ap, an float64
			for k := range e.Vectors.Cols() {
				a := float64(e.Vectors.Row(int(x.A))[k])
				p, n := a-float64(e.Vectors.Row(int(x.P))[k]), a-float64(e.Vectors.Row(int(x.N))[k])
				ap, an = ap+p*p, an+n*n
			}
			sum += max(0, 0.3+ap-an)
			if ap >= an {
				wrong++
			}
		}
		for c, want := range []float64{sum / float64(len(ts)), wrong / float64(len(ts))} {
			if math.Abs(got[c]-want) > 5*0.5/math.Sqrt(4000) {
				t.Errorf("%s, column %d: %v, want %v", set, c, got[c], want)
			}
		}
	}
	if g := d.Loss.Gap; math.Abs(g.Value-(d.Loss.Test.Value-d.Loss.Train.Value)) > 1e-15 || g.CI95 == nil || g.CI95[0] > g.Value || g.CI95[1] < g.Value {
		t.Errorf("gap %+v", g)
	}
	if d.Resampled != byClasses {
		t.Errorf("unseen test classes, but %s are drawn anew", d.Resampled)
	}
	if d.Loss.Largest > *d.Loss.Sup || math.Abs(*d.Loss.Sup-4.3) > 1e-12 {
		t.Errorf("largest %v, sup %v", d.Loss.Largest, *d.Loss.Sup)
	}
	par.SetThreads(1)
	again := measuredAs[*GapDoc](t, r, gapOptions)
	par.SetThreads(0)
	again.Cost = d.Cost
	if !record.SameJSON(d, again) {
		t.Error("threads change the gap")
	}
	if same := measuredAs[*GapDoc](t, runtest.Trained(t, t.TempDir(), "data.split={kind: fraction, train: 0.5}", "train.epochs=1"), gapOptions); same.Resampled != byImages {
		t.Errorf("the same classes, but %s are drawn anew", same.Resampled)
	}
}

func TestGapRefuses(t *testing.T) {
	root := t.TempDir()
	untrained := runtest.Create(t, root, "name=untrained")
	if _, err := measured(context.Background(), untrained, gapOptions, progress.Progress{Say: tinytest.Quiet}); err == nil || !strings.Contains(err.Error(), "has the run been trained") {
		t.Errorf("untrained: error %v", err)
	}
	r := runtest.Trained(t, root, "train.epochs=1")
	o := gapOptions
	o.Set = "train"
	if _, err := measured(context.Background(), r, o, progress.Progress{Say: tinytest.Quiet}); !errors.Is(err, data.ErrUnfit) {
		t.Errorf("train against train: error %v", err)
	}
	o.Set = "validation"
	if _, err := measured(context.Background(), r, o, progress.Progress{Say: tinytest.Quiet}); !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), "no validation set") {
		t.Errorf("no validation set: error %v", err)
	}
	files := t.TempDir()
	tinytest.Blobs(t, files, 8, 6, 4, 0)
	v, err := run.Create(root, tinytest.VectorsConfig(t, "name=blobs", "data=npy", "data.root="+files, "data.train.vectors=x.npy", "data.train.labels=y.npy", "data.test.vectors=x.npy", "data.test.labels=y.npy",
		"data.split=class", "model=linear", "model.embedding=4", "data.size=0", "train.epochs=1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Train(context.Background(), run.Watch{}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(files); err != nil {
		t.Fatal(err)
	}
	if _, err := measured(context.Background(), v, gapOptions, progress.Progress{Say: tinytest.Quiet}); !errors.Is(err, data.ErrMissing) {
		t.Errorf("data that are gone: error %v", err)
	}
	v.Config.Model.Name = "mahalanobis"
	v.Config.Model.Options = nn.MahalanobisKeys{}
	if _, err := measured(context.Background(), v, gapOptions, progress.Progress{Say: tinytest.Quiet}); err == nil || !strings.Contains(err.Error(), "mahalanobis") {
		t.Errorf("a linear metric: error %v", err)
	}
}

// data.split.seed chooses the images that limit_per_class leaves, those of fewer among
// those of more, and that skip_per_class leaves out.
func TestSubsetsBySplitSeed(t *testing.T) {
	files := t.TempDir()
	tinytest.Blobs(t, files, 4, 9, 4, 0)
	first := func(limit, seed int, more ...string) map[float32]bool {
		t.Helper()
		sets, err := wire.OpenData(t.Context(), tinytest.VectorsConfig(t, append([]string{"data=npy", "data.root=" + files, "data.train.vectors=x.npy", "data.train.labels=y.npy", "data.test.vectors=x.npy", "data.test.labels=y.npy",
			"model=linear", "model.embedding=4", "data.size=0", fmt.Sprintf("data.limit_per_class=%d", limit), fmt.Sprintf("data.split.seed=%d", seed)}, more...)...))
		if err != nil {
			t.Fatal(err)
		}
		out := map[float32]bool{}
		x := make([]float32, 4)
		for i := range sets.Train.Len() {
			if err := sets.Train.Read(i, x); err != nil {
				t.Fatal(err)
			}
			out[x[0]] = true
		}
		if len(out) != 4*limit {
			t.Fatalf("%d images of 4 classes with %d each", len(out), limit)
		}
		return out
	}
	small, large, other := first(2, 0), first(4, 0), first(2, 1)
	for v := range first(5, 0, "data.skip_per_class=4") {
		if large[v] {
			t.Error("an image is in the limit and beyond the skip")
		}
	}
	_, err := wire.OpenData(t.Context(), tinytest.VectorsConfig(t, "data=npy", "data.root="+files, "data.train.vectors=x.npy", "data.train.labels=y.npy", "data.test.vectors=x.npy", "data.test.labels=y.npy",
		"model=linear", "model.embedding=4", "data.size=0", "data.skip_per_class=9"))
	if !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), "data.skip_per_class: 9 leaves nothing of class 0, which has 9") {
		t.Errorf("a skip of all: error %v", err)
	}
	same := 0
	for v := range small {
		if !large[v] {
			t.Error("an image of the small subset is not in the large one")
		}
		if other[v] {
			same++
		}
	}
	if same == len(small) {
		t.Error("another seed has the same subset")
	}
}
