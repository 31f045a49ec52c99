package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/record"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// A defense's run says how far the images were moved: as far as the steps reach,
// which is less than eps where they are few.
func TestARunLogsItsEffectiveRadius(t *testing.T) {
	r := trained(t, t.TempDir(), "defense=hm", "defense.pgd={eps: 0.3, alpha: 0.02, steps: 3}", "train.log_every=1")
	c := r.Manifest.Crafted
	if c == nil || c.Steps != r.Manifest.Steps || c.Wanted == nil || c.Achieved == nil {
		t.Fatalf("the manifest has %+v", c)
	}
	if c.MaxLinf > 0.06+1e-6 || c.MaxLinf < 0.02 || c.MeanLinf > c.MaxLinf {
		t.Errorf("mean radius %v, largest %v; 3 steps of 0.02 reach 0.06", c.MeanLinf, c.MaxLinf)
	}
	events, err := train.ReadEvents(r.Path("events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	wanted, n, largest := 0.0, 0.0, 0.0
	for _, e := range events {
		if e.Kind != "step" {
			continue
		}
		if e.Crafted == nil || e.Crafted.Wanted == nil {
			t.Fatalf("step %d says nothing of the defense", e.Step)
		}
		wanted, n = wanted+*e.Crafted.Wanted, n+1
		largest = max(largest, e.Crafted.MaxLinf)
	}
	if math.Abs(wanted/n-*c.Wanted) > 1e-12 || largest != c.MaxLinf {
		t.Errorf("the log's means are %v and %v, the manifest's %v and %v", wanted/n, largest, *c.Wanted, c.MaxLinf)
	}
	if plain := trained(t, t.TempDir()); plain.Manifest.Crafted != nil {
		t.Error("plain training reports perturbations")
	}
}

// Triplets of HM's source replace the miner's, wherever the source is named.
func TestTheSourceReplacesTheMiner(t *testing.T) {
	a := trained(t, t.TempDir(), "miner=softhard", "defense=hm", "defense.pgd.steps=1")
	b := trained(t, t.TempDir(), "miner=random", "defense={name: hm, source: softhard}", "defense.pgd.steps=1")
	c := trained(t, t.TempDir(), "miner=random", "defense=hm", "defense.pgd.steps=1")
	if weights(t, a) != weights(t, b) {
		t.Error("defense.source: softhard trains other weights than miner: softhard")
	}
	if weights(t, a) == weights(t, c) {
		t.Error("another miner trains the same weights")
	}
}

// weights returns the tensors of the last checkpoint as JSON.
func weights(t *testing.T, r *Run) string {
	t.Helper()
	c, err := train.ReadCheckpoint(r.Last())
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.LoadModel()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]float32
	for _, p := range m.Params() {
		all = append(all, p.Value.Data)
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestARunRecordsItsNoise(t *testing.T) {
	root := t.TempDir()
	r := create(t, root, "noise={kind: sln, rate: 0.25}", "train={steps: 2, epochs: 0}")
	var notes []string
	if _, err := r.Train(t.Context(), Watch{Note: func(f string, args ...any) { notes = append(notes, fmt.Sprintf(f, args...)) }}); err != nil {
		t.Fatal(err)
	}
	var m struct {
		Data struct {
			Noise struct {
				Kind          string
				Wanted, Found float64
				Flipped       int
			}
		}
	}
	if err := json.Unmarshal([]byte(testutil.Read(t, r.Path("manifest.json"))), &m); err != nil {
		t.Fatal(err)
	}
	got := m.Data.Noise
	if got.Kind != "sln" || got.Wanted != 0.25 || got.Flipped == 0 || got.Found != float64(got.Flipped)/72 {
		t.Errorf("manifest: %+v", got)
	}
	said := 0
	for _, n := range notes {
		if strings.HasPrefix(n, "noise on the training labels: sln: ") && strings.Contains(n, "of 72 labels") {
			said++
		}
	}
	if said != 1 {
		t.Errorf("said %d times: %q", said, notes)
	}
	plain := trained(t, t.TempDir(), "train={steps: 2, epochs: 0}")
	if strings.Contains(testutil.Read(t, plain.Path("manifest.json")), `"noise"`) {
		t.Error("noise in the manifest of a run without")
	}
	if p, err := MakePlan(t.Context(), tinytest.Config(t, "noise=sln")); err != nil || p.Data.Noise == nil || p.Data.Noise.Wanted != 0.2 {
		t.Errorf("plan: %+v, %v", p, err)
	}
	// The first run's directory is none of another noise.
	if _, err := Create(root, tinytest.Config(t, "noise={kind: sln, rate: 0.3}", "train={steps: 2, epochs: 0}")); err == nil {
		t.Error("a run of other noise took the directory")
	}
}

// Each loss with its threshold, or none, by way of the config.
func TestThresholdsReachCheckpoints(t *testing.T) {
	short := "train={steps: 2, epochs: 0}"
	for set, want := range map[string]float64{
		"loss={name: triplet, distance: squared}":                               0,
		"loss={name: triplet-capped, alpha: 0.9, beta: 0.3}":                    math.Sqrt(0.6),
		"loss={name: triplet-threshold, alpha: 1.5, beta: 0.5}":                 1,
		"loss={name: triplet-threshold, alpha: 0.4, beta: 0.1, pairing: pairs}": 0.5,
	} {
		r := trained(t, t.TempDir(), "miner=semihard", set, short)
		c, err := train.ReadCheckpoint(r.Last())
		if err != nil {
			t.Fatal(err)
		}
		if (c.Threshold == nil) != (want == 0) || want > 0 && math.Abs(*c.Threshold-want) > 1e-15 {
			t.Errorf("%s: threshold %v, want %v", set, c.Threshold, want)
		}
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

func TestGraphsThatDoNotFit(t *testing.T) {
	for set, want := range map[string]string{
		"batch.pairs=4000": "pairs",
		"batch.pairs=20":   "a chain needs two",
	} {
		if _, err := MakePlan(t.Context(), tinytest.Config(t, tinytest.PairsText(set)...)); !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", set, err)
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
	all := tinytest.Must(wire.OpenData(t.Context(), tinytest.Config(t, sets...)))
	few := tinytest.Must(wire.OpenData(t.Context(), tinytest.Config(t, append(sets, "data.classes=5")...)))
	if len(few.Train.Classes()) != 5 || strings.Join(few.Train.Classes(), " ") != strings.Join(few.Test.Classes(), " ") || few.Train.Len() != 20 {
		t.Errorf("%v and %v", few.Train.Classes(), few.Test.Classes())
	}
	if other := tinytest.Must(wire.OpenData(t.Context(), tinytest.Config(t, append(sets, "data.classes=5", "seed=8")...))); strings.Join(few.Train.Classes(), " ") == strings.Join(other.Train.Classes(), " ") {
		t.Error("another seed drew the same classes")
	}
	bent := tinytest.Must(wire.OpenData(t.Context(), tinytest.Config(t, append(sets, "data.distort={strength: 0.5}")...)))
	if testutil.Fingerprint(t, bent.Train) == testutil.Fingerprint(t, all.Train) || testutil.Fingerprint(t, bent.Test) != testutil.Fingerprint(t, all.Test) {
		t.Error("distortion is of the training images and no others")
	}
	if _, err := wire.OpenData(t.Context(), tinytest.Config(t, append(sets, "data.classes=40")...)); err == nil {
		t.Error("40 of 12 classes")
	}
	fixed := trained(t, t.TempDir(), append(sets, "data.distort={strength: 0.5}")...)
	fresh := trained(t, t.TempDir(), append(sets, "data.distort={strength: 0.5, fresh: true}")...)
	if testutil.Read(t, fixed.Last()) == testutil.Read(t, fresh.Last()) {
		t.Error("fresh maps train as fixed ones")
	}
}

// The manifest names the numbers that crafting multiplies where they are not float32.
func TestManifestNamesCraftingPrecision(t *testing.T) {
	for precision, want := range map[string]any{"bf16": "bf16", "float32": nil} {
		r := create(t, t.TempDir(), "defense=hm", "defense.pgd.precision="+precision)
		var doc map[string]any
		testutil.ReadJSON(t, r.Path("manifest.json"), &doc)
		if got := doc["crafting_precision"]; got != want {
			t.Errorf("%s: crafting_precision is %v", precision, got)
		}
	}
}

// A plan says which defenses may do less than it counts.
func TestPlanOfDefensesThatSave(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]bool{"defense=hm": true, "defense=est": false, "defense=none": false} {
		if p, err := MakePlan(t.Context(), tinytest.Config(t, set)); err != nil || p.AtMost != want {
			t.Errorf("%s: %+v, %v", set, p, err)
		}
	}
}
