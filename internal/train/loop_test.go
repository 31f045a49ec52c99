package train

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"tercet/internal/data"
	"tercet/internal/data/batch"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/optim"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// blobs is a small set of 8x8 images: each class a fixed random pattern plus
// noise.
func blobs(t testing.TB, classes, each int) *data.Memory {
	t.Helper()
	const side = 8
	r := rng.New(1, "blobs")
	base := make([]float64, classes*side*side)
	for i := range base {
		base[i] = r.Float64()
	}
	var pixels []uint8
	var labels []int32
	for i := range classes * each {
		c := i % classes
		for p := range side * side {
			v := base[c*side*side+p] + 0.3*r.NormFloat64()
			pixels = append(pixels, uint8(255*min(max(v, 0), 1)))
		}
		labels = append(labels, int32(c))
	}
	names := make([]string, classes)
	for i := range names {
		names[i] = string(rune('a' + i))
	}
	ds, err := data.NewMemory(pixels, side, side, 1, labels, names)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// rig is a trainer on blobs with everything that a checkpoint must carry:
// batch norm, Adam, a sampling miner, several epochs.
type rig struct {
	*Trainer
	model  *nn.Model
	loader *batch.Loader
	path   string
	events []record.Event
}

func newRig(t testing.TB, dir string, change func(*Trainer)) *rig {
	t.Helper()
	ds := blobs(t, 6, 10)
	sampler, err := batch.ClassPairs{Pairs: 8, Repeats: true}.New(ds, batch.Options{DropLast: true, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	model, err := nn.Build(nn.Spec{Name: "cnn", Height: 8, Width: 8, Channels: 1, Units: 4, Embedding: 8, Normalize: true}, rng.New(3, "init"))
	if err != nil {
		t.Fatal(err)
	}
	obj, err := loss.NewTriplet(loss.TripletDefaults())
	if err != nil {
		t.Fatal(err)
	}
	miner, err := mine.New("softhard", mine.Options{Layout: mine.Pairs, Margin: 0.2, AnyRow: true})
	if err != nil {
		t.Fatal(err)
	}
	opt, err := optim.New(optim.Config{Name: "adam"}, model.Params())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{model: model, path: filepath.Join(dir, "last.safetensors")}
	r.Trainer = &Trainer{
		Options: Options{Seed: 3, Steps: 20, StepsPerEpoch: sampler.Steps(), Mode: nn.Train, LogEvery: 4, Stop: EarlyStop{Metric: "loss"}},
		Model:   model, Miner: miner, Objective: obj, Defense: adversary.None{}, Optimizer: opt,
		Schedule: func(int) float64 { return 1e-2 },
		Mined:    rng.New(3, "mine"),
		Log:      func(e *record.Event) error { r.events = append(r.events, *e); return nil },
	}
	r.Save = func(best bool) error {
		if best {
			return nil
		}
		return r.WriteCheckpoint(r.path, "", model.Spec(), "hash")
	}
	if change != nil {
		change(r.Trainer)
	}
	if _, err := os.Stat(r.path); err == nil {
		c, err := ReadCheckpoint(r.path)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Resume(r.Trainer); err != nil {
			t.Fatal(err)
		}
	}
	epoch, at := r.Position(r.State.Step)
	r.loader = batch.NewLoader(ds, sampler, nil, 3, epoch, at, 2)
	t.Cleanup(r.loader.Close)
	r.Batches = r.loader
	return r
}

func finalBytes(t *testing.T, r *rig) []byte {
	t.Helper()
	if err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestResumeAndThreadsGiveTheSameBits(t *testing.T) {
	t.Run("a batch a step", func(t *testing.T) { sameBits(t, nil) })
	t.Run("two batches a step", func(t *testing.T) { sameBits(t, accumulating(2)) })
}

// sameBits compares runs on other numbers of threads, and those that were interrupted.
func sameBits(t *testing.T, change func(*Trainer)) {
	defer par.SetThreads(0)
	par.SetThreads(1)
	want := finalBytes(t, newRig(t, t.TempDir(), change))
	par.SetThreads(2)
	if got := finalBytes(t, newRig(t, t.TempDir(), change)); !bytes.Equal(got, want) {
		t.Fatal("two threads give other bytes than one")
	}
	dir := t.TempDir()
	stops := 0
	for {
		ctx, cancel := context.WithCancel(context.Background())
		r := newRig(t, dir, change)
		n := 0
		r.Progress = func(*State, float64) {
			if n++; n == 3 { // mid-epoch and at epoch ends alike
				cancel()
			}
		}
		err := r.Run(ctx)
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, ErrInterrupted) {
			t.Fatal(err)
		}
		stops++
	}
	got, err := os.ReadFile(filepath.Join(dir, "last.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	if stops < 5 || !bytes.Equal(got, want) {
		t.Fatalf("after %d stops the final checkpoint differs from an undisturbed run's", stops)
	}
}

func TestLossFalls(t *testing.T) {
	r := newRig(t, t.TempDir(), func(tr *Trainer) { tr.Steps = 60 })
	if err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	var epochs []float64
	for _, e := range r.events {
		if e.Kind == "epoch" {
			epochs = append(epochs, *e.Loss)
		}
	}
	if first, last := epochs[0], epochs[len(epochs)-1]; last > 0.7*first {
		t.Fatalf("epoch losses %v", epochs)
	}
	if want := int64(60 * 16); r.State.Cost.Forward != want || r.State.Cost.Backward != want {
		t.Fatalf("cost %+v, want %d each", r.State.Cost, want)
	}
}

func TestEarlyStopCountsStaleEvaluations(t *testing.T) {
	values := []float64{0.5, 0.6, 0.6, 0.59, 0.9}
	calls := 0
	r := newRig(t, t.TempDir(), func(tr *Trainer) {
		tr.Steps, tr.EvalEvery = 100, 1
		tr.Stop = EarlyStop{Metric: "recall@1", Patience: 2}
		tr.Evaluate = func(context.Context) (map[string]float64, error) {
			calls++
			return map[string]float64{"recall@1": values[calls-1]}, nil
		}
	})
	if err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if calls != 4 || *r.State.Best != 0.6 || r.State.BestStep != 2*r.StepsPerEpoch {
		t.Fatalf("%d evaluations, state %+v", calls, r.State)
	}
}

func TestNonFiniteStopsAndKeepsTheCheckpoint(t *testing.T) {
	dir := t.TempDir()
	var before []byte
	r := newRig(t, dir, nil)
	r.Schedule = func(step int) float64 {
		if step == 9 {
			before, _ = os.ReadFile(r.path)
			return math.Inf(1)
		}
		return 1e-2
	}
	err := r.Run(context.Background())
	var e *NonFiniteError
	if !errors.As(err, &e) || e.Step != 10 || e.Tensor != "embeddings" || e.Cause != CauseRate {
		t.Fatalf("error %v", err)
	}
	after, _ := os.ReadFile(r.path)
	if len(before) == 0 || !bytes.Equal(before, after) {
		t.Fatal("the last good checkpoint was replaced")
	}
}

func TestCollapseStops(t *testing.T) {
	r := newRig(t, t.TempDir(), func(tr *Trainer) {
		tr.Steps = 100
		tr.Collapse = CollapseOptions{Every: 1, Cosine: 0.999, Rank: 1.05, Patience: 3, Grace: 5}
	})
	for _, p := range r.model.Params() { // zero weights: every image maps to the last bias
		if len(p.Value.Shape) > 1 {
			p.Value.Zero()
		} else if p.Trained() {
			for i := range p.Value.Data {
				p.Value.Data[i] = 1
			}
		}
	}
	r.Schedule = func(int) float64 { return 0 }
	err := r.Run(context.Background())
	var e *CollapseError
	if !errors.As(err, &e) || e.Step != 8 {
		t.Fatalf("error %v", err)
	}
	if e.Spread.Cosine < 0.9999 || e.Spread.Rank > 1.0001 {
		t.Fatalf("spread %+v", e.Spread)
	}
}

// A limit on the active fraction stops a run whose tuples are all satisfied, with
// its own message; without one it continues.
func TestIdleTuplesStop(t *testing.T) {
	for _, limit := range []float64{0, 0.5} {
		r := newRig(t, t.TempDir(), func(tr *Trainer) {
			tr.Steps = 12
			tr.Collapse = CollapseOptions{Every: 2, Cosine: 2, Rank: 0, Active: limit, Patience: 2, Grace: 3}
			tr.Objective = satisfied{tr.Objective}
		})
		err := r.Run(context.Background())
		if limit == 0 {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		var e *CollapseError
		if !errors.As(err, &e) || e.Step != 6 || !e.Idle || !strings.Contains(e.Error(), "learning has stopped at step 6") {
			t.Fatalf("error %v", err)
		}
	}
}

// satisfied is an objective of whose tuples one in four is active.
type satisfied struct{ loss.Objective }

func (s satisfied) Eval(z *array.Array, t *loss.Tuples, grad *array.Array) (loss.Result, error) {
	r, err := s.Objective.Eval(z, t, grad)
	r.Active = r.Tuples / 4
	return r, err
}

// Closed forms: orthonormal rows have cosine 0 and full rank, equal rows cosine
// 1 and rank 1; two opposite groups have rank 1 and cosine -1/(n-1) by count.
func TestSpread(t *testing.T) {
	var m spreadMeter
	for _, c := range []struct {
		name         string
		rows         [][]float32
		cosine, rank float64
	}{
		{"orthonormal", [][]float32{{2, 0, 0}, {0, 3, 0}, {0, 0, 1}}, 0, 3},
		{"equal", [][]float32{{1, 2, 3}, {2, 4, 6}, {1, 2, 3}}, 1, 1},
		{"opposite", [][]float32{{1, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {-1, 0, 0}}, -1.0 / 3, 1},
		{"zero row", [][]float32{{0, 0, 0}, {1, 0, 0}}, 1, 1},
		{"one row", [][]float32{{1, 0, 0}}, 1, 1},
	} {
		z := array.New(len(c.rows), 3)
		for i, r := range c.rows {
			copy(z.Row(i), r)
		}
		s := m.measure(z)
		if math.Abs(s.Cosine-c.cosine) > 1e-6 || math.Abs(s.Rank-c.rank) > 1e-5 {
			t.Errorf("%s: %+v, want cosine %v rank %v", c.name, s, c.cosine, c.rank)
		}
	}
}

// After warm-up a step allocates nothing but the sampler's plan of an epoch.
func BenchmarkStep(b *testing.B) {
	r := newRig(b, b.TempDir(), func(tr *Trainer) { tr.Steps = math.MaxInt })
	r.params = r.Model.Params()
	ctx := context.Background()
	for range 3 * r.StepsPerEpoch {
		if _, err := r.step(ctx); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := r.step(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// one hands out the same batch for ever, so that nothing but the step is
// measured.
type one struct{ b *batch.Batch }

func (o one) Next(context.Context) (*batch.Batch, error) { return o.b, nil }
func (o one) Recycle(*batch.Batch)                       {}

func TestStepAllocatesNothing(t *testing.T) {
	r := newRig(t, t.TempDir(), func(tr *Trainer) { tr.Steps = math.MaxInt })
	r.params = r.Model.Params()
	ctx := context.Background()
	b, err := r.loader.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r.loader.Close()
	r.Batches = one{b}
	run := func(n int) {
		for range n {
			if _, err := r.step(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(300)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run(300)
	runtime.ReadMemStats(&after)
	if a := after.Mallocs - before.Mallocs; a > 30 {
		t.Fatalf("%d allocations in 300 steps", a)
	}
}

func mustBuild(t *testing.T, s nn.Spec) *nn.Model {
	t.Helper()
	m, err := nn.Build(s, rng.New(0, "init"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// An interval in steps takes the place of the epochs' ends; the last step and an
// early stop write one in any case.
func TestWhenCheckpointsAreWritten(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Trainer)
		want   func(per int) []int
	}{
		{"epochs", func(tr *Trainer) {}, func(per int) []int { return []int{per, 2 * per, 20} }},
		{"steps", func(tr *Trainer) { tr.CheckpointEvery = 6 }, func(int) []int { return []int{6, 12, 18, 20} }},
		{"a long time", func(tr *Trainer) { tr.CheckpointAfter = time.Hour }, func(per int) []int { return []int{per, 2 * per, 20} }},
		{"no time", func(tr *Trainer) { tr.Steps, tr.CheckpointAfter = 3, 1 }, func(int) []int { return []int{1, 2, 3} }},
		{"an early stop", func(tr *Trainer) {
			tr.CheckpointEvery, tr.EvalEvery, tr.Stop = 100, 1, EarlyStop{Metric: "recall@1", Patience: 1}
			tr.Evaluate = func(context.Context) (map[string]float64, error) { return map[string]float64{"recall@1": 1}, nil }
		}, func(per int) []int { return []int{2 * per} }},
	} {
		var got []int
		r := newRig(t, t.TempDir(), func(tr *Trainer) {
			tc.change(tr)
			tr.Save = func(best bool) error {
				if !best {
					got = append(got, tr.State.Step)
				}
				return nil
			}
		})
		if err := r.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if want := tc.want(r.StepsPerEpoch); !slices.Equal(got, want) {
			t.Errorf("%s: at steps %v, want %v (epochs of %d)", tc.name, got, want, r.StepsPerEpoch)
		}
	}
}

// Bad images are told from a bad network.
func TestImagesThatAreNotFiniteAreBlamed(t *testing.T) {
	r := newRig(t, t.TempDir(), nil)
	r.Batches = poisoned{r.loader}
	err := r.Run(context.Background())
	var e *NonFiniteError
	if !errors.As(err, &e) || e.Step != 0 || e.Tensor != "embeddings" || e.Cause != causeInput {
		t.Fatalf("error %v", err)
	}
}

// poisoned gives batches with a NaN.
type poisoned struct{ *batch.Loader }

func (p poisoned) Next(ctx context.Context) (*batch.Batch, error) {
	b, err := p.Loader.Next(ctx)
	if err == nil {
		b.Images.Data[70] = float32(math.NaN())
	}
	return b, err
}
