package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/train"
)

// onPairs makes of tiny a run on 48 pairs of 24 of 48 images.
var onPairs = []string{"miner=semihard", "data.glyphs={classes: 6, per_class: 8, test_classes: 6}", "batch={sampler: pair-graph, pairs: 48, size: 16}", "loss=contrastive",
	"model={name: mlp, width: 8, normalize: false}", "data.split={kind: fraction, train: 0.5}", "eval.pairs=20"}

func pairs(more ...string) []string { return append(append([]string(nil), onPairs...), more...) }

// The rows of a batch are the pairs that the graph has, with the labels that it gives
// them, each once an epoch.
func TestBatchesAreTheGraphsPairs(t *testing.T) {
	cfg := load(t, pairs("noise={kind: pln, q: 0.5}")...)
	s, err := OpenData(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a, err := assemble(cfg, s)
	if err != nil {
		t.Fatal(err)
	}
	count := map[data.Pair]int{}
	for _, p := range a.tuples.pairs(0) {
		count[p]++
	}
	plan, labels := a.sampler.Plan(0), a.sampler.(data.RowLabels).RowLabels(0)
	wrong := 0
	for b, ids := range plan {
		for r := 0; r < len(ids); r += 2 {
			p := data.Pair{I: ids[r], J: ids[r+1], Similar: labels[b][r] == labels[b][r+1]}
			count[p]--
			if p.Similar != (a.tuples.truth[p.I] == a.tuples.truth[p.J]) {
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
		cfg := load(t, pairs(sets...)...)
		s := must(OpenData(cfg))
		_, tuples, err := buildSampler(cfg, s)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(tuples.pairs(epoch))
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

// Pair noise on triplets: what the manifest says is what a count over the triplets of the
// first epoch gives, and the weights are those of the rate.
func TestPairNoiseOnTriplets(t *testing.T) {
	sets := []string{"miner=semihard", "batch={sampler: triplet-list, triplets: 400, size: 16, redraw: true}", "train.epochs=2", "loss=triplet-robust", "noise={kind: pln, effective: 0.25}"}
	r := trained(t, t.TempDir(), sets...)
	d := r.Manifest.Data
	cfg := load(t, sets...)
	s := must(OpenData(cfg))
	draw, err := s.list(cfg, cfg.Batch.Options.(config.TripletList))
	if err != nil {
		t.Fatal(err)
	}
	truth, _, _ := s.labels()
	wrong := 0
	for _, x := range draw(0) {
		if truth[x.P] != truth[x.A] {
			wrong++
		}
		if truth[x.N] == truth[x.A] {
			wrong++
		}
	}
	if d.Noise == nil || d.Noise.Kind != "pln" || d.Noise.Wanted != 0.25 || d.Noise.Flipped != wrong || d.Noise.Items != 800 || d.Noise.EffectiveFound != float64(wrong)/800 ||
		d.Triplets == nil || d.Triplets.Kind != "pln" || math.Abs(float64(wrong)/800-0.25) > 0.08 {
		t.Errorf("%d wrong: %+v %+v", wrong, d.Noise, d.Triplets)
	}
	if w := r.Manifest.Weights; math.Abs(w.W1-0.5625) > 1e-12 || math.Abs(w.W2-0.0625) > 1e-12 || w.From != "noise" {
		t.Errorf("%+v", w)
	}
	if draw(0)[0] == draw(1)[0] && draw(0)[1] == draw(1)[1] {
		t.Error("an epoch has the triplets of another")
	}
	if _, err := r.NoiseRate(t.Context(), "last", 0, func(string, int, int) {}); !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), "wrong positive or a wrong negative") {
		t.Errorf("a rate: %v", err)
	}
	if got := DescribeTriplets(d.Triplets); !strings.Contains(got, "labels of their pairs wrong (") {
		t.Error(got)
	}
	// Found elsewhere, on pairs of the same kind.
	file := filepath.Join(t.TempDir(), "noise.json")
	write(t, file, `{"schema": "tercet.noise/1", "of": "pairs", "estimate": {"p": 0.2}}`)
	cfg = load(t, append(sets, "loss.noise_from="+file)...)
	if w, err := robustWeights(cfg, s); err != nil || math.Abs(w.W1-0.64) > 1e-12 || math.Abs(w.W2-0.04) > 1e-12 {
		t.Errorf("%+v, %v", w, err)
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
		cfg := load(t, append(append(ten, "loss=triplet-robust"), tc.sets...)...)
		w, err := robustWeights(cfg, must(OpenData(cfg)))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(w.W1-tc.w1) > 5e-5 || math.Abs(w.W2-tc.w2) > 5e-5 || w.From != tc.from || w.Contrast != w.W1-w.W2 {
			t.Errorf("%v: %+v", tc.sets, w)
		}
	}
	cfg := load(t, "loss=triplet-robust", "noise={kind: sln, q: 1}")
	if _, err := assemble(cfg, must(OpenData(cfg))); err == nil || !strings.Contains(err.Error(), "beta + gamma - 1 is") {
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
	write(t, file, rows)
	for set, want := range map[string]func(truth, seen int32) bool{
		"noise={kind: confusion, matrix: " + file + "}": func(truth, seen int32) bool { return seen == (truth+3)%12 },
		"noise={kind: pair-flip, rate: 1}":              func(truth, seen int32) bool { return seen == (truth+1)%12 },
	} {
		s := must(OpenData(load(t, set)))
		truth, seen, classes := s.labels()
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
		s := must(OpenData(load(t, "noise={kind: sln, "+set+"}")))
		if math.Abs(s.Noise.Wanted-want) > 1e-12 {
			t.Errorf("%s: rate %v, want %v", set, s.Noise.Wanted, want)
		}
	}
	write(t, file, "1,0\n0,1\n")
	if _, err := OpenData(load(t, "noise={kind: confusion, matrix: "+file+"}")); !errors.Is(err, data.ErrFormat) || !strings.Contains(err.Error(), "has 2 numbers; want 12, one for each class of the training items") {
		t.Errorf("%v", err)
	}
	if _, err := OpenData(load(t, "noise={kind: confusion, matrix: none.csv}")); !errors.Is(err, data.ErrMissing) {
		t.Errorf("%v", err)
	}
}

func TestGraphsThatDoNotFit(t *testing.T) {
	for set, want := range map[string]string{
		"batch.pairs=4000": "pairs",
		"batch.pairs=20":   "a chain needs two",
	} {
		if _, err := MakePlan(load(t, pairs(set)...)); !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", set, err)
		}
	}
}

// A run on pairs that was interrupted ends in the bits of one that was not, with one
// thread or three.
func TestPairRunsResumeBitIdentical(t *testing.T) {
	for _, sets := range [][]string{
		pairs("noise={kind: pln, q: 0.4}"),
		pairs("batch.redraw=true", "loss=cosine", "batch.scenario=s1"),
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
			if read(t, whole.Last()) != read(t, other.Last()) {
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
	all := must(OpenData(load(t, sets...)))
	few := must(OpenData(load(t, append(sets, "data.classes=5")...)))
	if len(few.Train.Classes()) != 5 || strings.Join(few.Train.Classes(), " ") != strings.Join(few.Test.Classes(), " ") || few.Train.Len() != 20 {
		t.Errorf("%v and %v", few.Train.Classes(), few.Test.Classes())
	}
	if other := must(OpenData(load(t, append(sets, "data.classes=5", "seed=8")...))); strings.Join(few.Train.Classes(), " ") == strings.Join(other.Train.Classes(), " ") {
		t.Error("another seed drew the same classes")
	}
	bent := must(OpenData(load(t, append(sets, "data.distort={strength: 0.5}")...)))
	if bent.Train.Fingerprint() == all.Train.Fingerprint() || bent.Test.Fingerprint() != all.Test.Fingerprint() {
		t.Error("distortion is of the training images and no others")
	}
	if _, err := OpenData(load(t, append(sets, "data.classes=40")...)); err == nil {
		t.Error("40 of 12 classes")
	}
	fixed := trained(t, t.TempDir(), append(sets, "data.distort={strength: 0.5}")...)
	fresh := trained(t, t.TempDir(), append(sets, "data.distort={strength: 0.5, fresh: true}")...)
	if read(t, fixed.Last()) == read(t, fresh.Last()) {
		t.Error("fresh maps train as fixed ones")
	}
}

// Checkpoints by the clock leave out ends of epochs that follow each other closely, but
// never that of a run that ends or is stopped; the bits are the same.
func TestEpochsOfMillisecondsShareCheckpoints(t *testing.T) {
	at := time.Now()
	a := &assembled{Trainer: &train.Trainer{Options: train.Options{Steps: 9, CheckpointAfter: time.Minute}}}
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
	clock := pairs("train.checkpoint_every=5 minutes", "train.epochs=4")
	r := create(t, t.TempDir(), clock...)
	interrupted(t, r, 5)
	if _, err := r.Train(t.Context(), Watch{}); err != nil {
		t.Fatal(err)
	}
	if whole := trained(t, t.TempDir(), clock...); read(t, whole.Last()) != read(t, r.Last()) {
		t.Error("other bits")
	}
}
