package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tercet/internal/data"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/run/tinytest"
	"tercet/internal/train"
)

// The rows of a batch are the pairs that the graph has, with the labels that it gives
// them, each once an epoch.
func TestBatchesAreTheGraphsPairs(t *testing.T) {
	cfg := tinytest.Config(t, tinytest.PairsText("noise={kind: pln, q: 0.5}")...)
	s, err := OpenData(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Assemble(cfg, s)
	if err != nil {
		t.Fatal(err)
	}
	count := map[data.Pair]int{}
	for _, p := range a.Tuples.Pairs(0) {
		count[p]++
	}
	plan, labels := a.Sampler.Plan(0), a.Sampler.(data.RowLabels).RowLabels(0)
	wrong := 0
	for b, ids := range plan {
		for r := 0; r < len(ids); r += 2 {
			p := data.Pair{I: ids[r], J: ids[r+1], Similar: labels[b][r] == labels[b][r+1]}
			count[p]--
			if p.Similar != (a.Tuples.truth[p.I] == a.Tuples.truth[p.J]) {
				wrong++
			}
		}
	}
	for p, n := range count {
		if n != 0 {
			t.Errorf("%+v is %d times too often in the graph", p, n)
		}
	}
	if len(plan) != 3 || s.Graph == nil || s.Graph.Pairs != 48 || s.Graph.Wrong != wrong || wrong == 0 {
		t.Errorf("%d batches, %d wrong, %+v", len(plan), wrong, s.Graph)
	}
	if s.Noise == nil || s.Noise.Kind != "pln" || s.Noise.Wanted != 0.25 || s.Noise.Flipped != s.Graph.Flipped {
		t.Errorf("%+v", s.Noise)
	}
}

// A seed of the noise fixes graph and noise for runs of other weights; without it each
// run draws its own. Redrawn graphs differ from epoch to epoch.
func TestGraphsAndTheirSeeds(t *testing.T) {
	of := func(epoch int, sets ...string) string {
		cfg := tinytest.Config(t, tinytest.PairsText(sets...)...)
		s := tinytest.Must(OpenData(cfg))
		_, tuples, err := buildSampler(cfg, s)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(tuples.Pairs(epoch))
	}
	own := of(0, "noise={kind: pln, seed: 3}")
	if own != of(0, "noise={kind: pln, seed: 3}", "seed=9") || own == of(0, "noise={kind: pln, seed: 4}") {
		t.Error("noise.seed does not fix the graph")
	}
	if of(0) == of(0, "seed=9") {
		t.Error("the run's seed does not change the graph")
	}
	if of(0) != of(1) || of(0, "batch.redraw=true") == of(1, "batch.redraw=true") || of(0) != of(0, "batch.redraw=true") {
		t.Error("redraw")
	}
}

func TestTripletListsTrain(t *testing.T) {
	sets := []string{"miner=semihard", "batch={sampler: triplet-list, triplets: 60, size: 16}", "train.epochs=30", "noise={kind: triplet-flip, rate: 0.1}"}
	for _, loss := range []string{"triplet", "{name: triplet-robust, form: expected}", "{name: triplet-robust, form: sigmoid, rescale: true}"} {
		r := trained(t, t.TempDir(), append(sets, "loss="+loss)...)
		d := r.Manifest.Data
		if d.Triplets == nil || d.Triplets.Triplets != 60 || d.Noise == nil || d.Noise.Kind != "triplet-flip" || d.Noise.Wanted != 0.1 || d.Noise.Flipped == 0 {
			t.Errorf("%s: %+v %+v", loss, d.Triplets, d.Noise)
		}
		if w := r.Manifest.Weights; (w == nil) != (loss == "triplet") || w != nil && (w.W1 != 0.9 || w.W2 != 0.1 || w.From != "noise") {
			t.Errorf("%s: %+v", loss, w)
		}
	}
}

// Weights that follow from noise are those of reference/theory.md 3.3: with 10 classes
// and q~ = 0.2 joint .8112 and .0112, product .8036 and .0036.
func TestWeightsFromNoise(t *testing.T) {
	ten := []string{"data.glyphs={classes: 10, per_class: 6, test_classes: 6}"}
	for _, tc := range []struct {
		sets   []string
		w1, w2 float64
		from   string
	}{
		{[]string{"noise={kind: sln, effective: 0.1}"}, 0.8112, 0.0112, "noise"},
		{[]string{"noise={kind: sln, effective: 0.1}", "loss.weights=product"}, 0.8036, 0.0036, "noise"},
		{nil, 1, 0, "noise"},
		{[]string{"loss.beta=0.8", "loss.gamma=0.9"}, 0.72, 0.02, "config"},
		{[]string{"loss.rho=0.2"}, 0.8, 0.2, "config"},
	} {
		cfg := tinytest.Config(t, append(append(ten, "loss=triplet-robust"), tc.sets...)...)
		w, err := RobustWeights(cfg, tinytest.Must(OpenData(cfg)))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(w.W1-tc.w1) > 5e-5 || math.Abs(w.W2-tc.w2) > 5e-5 || w.From != tc.from || w.Contrast != w.W1-w.W2 {
			t.Errorf("%v: %+v", tc.sets, w)
		}
	}
	cfg := tinytest.Config(t, "loss=triplet-robust", "noise={kind: sln, q: 1}")
	if _, err := Assemble(cfg, tinytest.Must(OpenData(cfg))); err == nil || !strings.Contains(err.Error(), "beta + gamma - 1 is") {
		t.Errorf("labels drawn anew were accepted: %v", err)
	}
}

// Each kind of label noise by the config, against counting.
func TestKindsOfLabelNoise(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.csv")
	rows := ""
	for y := range 12 {
		row := make([]string, 12)
		for c := range row {
			row[c] = "0"
		}
		row[(y+3)%12] = "1"
		rows += strings.Join(row, ",") + "\n"
	}
	tinytest.Write(t, file, rows)
	for set, want := range map[string]func(truth, seen int32) bool{
		"noise={kind: confusion, matrix: " + file + "}": func(truth, seen int32) bool { return seen == (truth+3)%12 },
		"noise={kind: pair-flip, rate: 1}":              func(truth, seen int32) bool { return seen == (truth+1)%12 },
	} {
		s := tinytest.Must(OpenData(tinytest.Config(t, set)))
		truth, seen, classes := s.Labels()
		if classes != 12 || s.Noise.Found != 1 {
			t.Errorf("%s: %+v", set, s.Noise)
		}
		for i := range truth {
			if !want(truth[i], seen[i]) {
				t.Errorf("%s: %d became %d", set, truth[i], seen[i])
				break
			}
		}
	}
	for set, want := range map[string]float64{"q: 0.6": 0.55, "effective: 0.32": 0.4 * 11 / 12, "rate: 0.3": 0.3} {
		s := tinytest.Must(OpenData(tinytest.Config(t, "noise={kind: sln, "+set+"}")))
		if math.Abs(s.Noise.Wanted-want) > 1e-12 {
			t.Errorf("%s: rate %v, want %v", set, s.Noise.Wanted, want)
		}
	}
	tinytest.Write(t, file, "1,0\n0,1\n")
	if _, err := OpenData(tinytest.Config(t, "noise={kind: confusion, matrix: "+file+"}")); !errors.Is(err, data.ErrFormat) || !strings.Contains(err.Error(), "has 2 numbers; want 12, one for each class of the training items") {
		t.Errorf("%v", err)
	}
	if _, err := OpenData(tinytest.Config(t, "noise={kind: confusion, matrix: none.csv}")); !errors.Is(err, data.ErrMissing) {
		t.Errorf("%v", err)
	}
}

func TestGraphsThatDoNotFit(t *testing.T) {
	for set, want := range map[string]string{
		"batch.pairs=4000": "pairs",
		"batch.pairs=20":   "a chain needs two",
	} {
		if _, err := MakePlan(tinytest.Config(t, tinytest.PairsText(set)...)); !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", set, err)
		}
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
			if tinytest.Read(t, whole.Last()) != tinytest.Read(t, other.Last()) {
				t.Errorf("%v: the weights differ", sets)
			}
		}
		if c, err := train.ReadCheckpoint(r.Last()); err != nil || c.State.Step != 6 {
			t.Errorf("%+v, %v", c, err)
		}
	}
}

// What noise_from says must not change under a run.
func TestWeightsMayNotChange(t *testing.T) {
	r := &Run{}
	a, b := &record.TripletProbabilities{W1: 0.9}, &record.TripletProbabilities{W1: 0.8}
	if err := r.sameWeights(a); err != nil || r.Manifest.Weights != a {
		t.Fatal(err)
	}
	r.Manifest.Steps = 3
	if err := r.sameWeights(&record.TripletProbabilities{W1: 0.9}); err != nil {
		t.Error(err)
	}
	if err := r.sameWeights(b); err == nil {
		t.Error("other weights were accepted")
	}
}

// Few classes are the same in both sets; distortion changes training images alone.
func TestClassesAndDistortion(t *testing.T) {
	sets := []string{"data.glyphs={classes: 6, per_class: 8, test_classes: 6}", "data.split={kind: fraction, train: 0.5}"}
	all := tinytest.Must(OpenData(tinytest.Config(t, sets...)))
	few := tinytest.Must(OpenData(tinytest.Config(t, append(sets, "data.classes=5")...)))
	if len(few.Train.Classes()) != 5 || strings.Join(few.Train.Classes(), " ") != strings.Join(few.Test.Classes(), " ") || few.Train.Len() != 20 {
		t.Errorf("%v and %v", few.Train.Classes(), few.Test.Classes())
	}
	if other := tinytest.Must(OpenData(tinytest.Config(t, append(sets, "data.classes=5", "seed=8")...))); strings.Join(few.Train.Classes(), " ") == strings.Join(other.Train.Classes(), " ") {
		t.Error("another seed drew the same classes")
	}
	bent := tinytest.Must(OpenData(tinytest.Config(t, append(sets, "data.distort={strength: 0.5}")...)))
	if bent.Train.Fingerprint() == all.Train.Fingerprint() || bent.Test.Fingerprint() != all.Test.Fingerprint() {
		t.Error("distortion is of the training images and no others")
	}
	if _, err := OpenData(tinytest.Config(t, append(sets, "data.classes=40")...)); err == nil {
		t.Error("40 of 12 classes")
	}
	fixed := trained(t, t.TempDir(), append(sets, "data.distort={strength: 0.5}")...)
	fresh := trained(t, t.TempDir(), append(sets, "data.distort={strength: 0.5, fresh: true}")...)
	if tinytest.Read(t, fixed.Last()) == tinytest.Read(t, fresh.Last()) {
		t.Error("fresh maps train as fixed ones")
	}
}

// Checkpoints by the clock leave out ends of epochs that follow each other closely, but
// never that of a run that ends or is stopped; the bits are the same.
func TestEpochsOfMillisecondsShareCheckpoints(t *testing.T) {
	at := time.Now()
	a := &Assembled{Trainer: &train.Trainer{Options: train.Options{Steps: 9, CheckpointAfter: time.Minute}}}
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
	if whole := trained(t, t.TempDir(), clock...); tinytest.Read(t, whole.Last()) != tinytest.Read(t, r.Last()) {
		t.Error("other bits")
	}
}
