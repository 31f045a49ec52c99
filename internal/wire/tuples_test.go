package wire

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/batch"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
)

// The rows of a batch are the pairs that the graph has, with the labels that it gives
// them, each once an epoch.
func TestBatchesAreTheGraphsPairs(t *testing.T) {
	cfg := tinytest.Config(t, tinytest.PairsText("noise={kind: pln, q: 0.5}")...)
	s, err := OpenData(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Assemble(cfg, s)
	if err != nil {
		t.Fatal(err)
	}
	count := map[batch.Pair]int{}
	for _, p := range a.Tuples.Pairs(0) {
		count[p]++
	}
	plan, labels := a.Sampler.Plan(0), a.Sampler.(batch.RowLabels).RowLabels(0)
	wrong := 0
	for b, ids := range plan {
		for r := 0; r < len(ids); r += 2 {
			p := batch.Pair{I: ids[r], J: ids[r+1], Similar: labels[b][r] == labels[b][r+1]}
			count[p]--
			if p.Similar != (a.Tuples.Truth[p.I] == a.Tuples.Truth[p.J]) {
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
		s := tinytest.Must(OpenData(t.Context(), cfg))
		_, tuples, err := BuildSampler(cfg, s)
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
		w, err := RobustWeights(cfg, tinytest.Must(OpenData(t.Context(), cfg)))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(w.W1-tc.w1) > 5e-5 || math.Abs(w.W2-tc.w2) > 5e-5 || w.From != tc.from || w.Contrast != w.W1-w.W2 {
			t.Errorf("%v: %+v", tc.sets, w)
		}
	}
	_, err := config.LoadBytes([]byte(testutil.Tiny), "tiny.yaml", []string{"loss=triplet-robust", "noise={kind: sln, q: 1}"})
	if err == nil || !strings.Contains(err.Error(), "beta + gamma is 1") {
		t.Errorf("labels drawn by chance alone were accepted: %v", err)
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
	testutil.Write(t, file, rows)
	for set, want := range map[string]func(truth, seen int32) bool{
		"noise={kind: confusion, matrix: " + file + "}": func(truth, seen int32) bool { return seen == (truth+3)%12 },
		"noise={kind: pair-flip, rate: 1}":              func(truth, seen int32) bool { return seen == (truth+1)%12 },
	} {
		s := tinytest.Must(OpenData(t.Context(), tinytest.Config(t, set)))
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
		s := tinytest.Must(OpenData(t.Context(), tinytest.Config(t, "noise={kind: sln, "+set+"}")))
		if math.Abs(s.Noise.Wanted-want) > 1e-12 {
			t.Errorf("%s: rate %v, want %v", set, s.Noise.Wanted, want)
		}
	}
	testutil.Write(t, file, "1,0\n0,1\n")
	if _, err := OpenData(t.Context(), tinytest.Config(t, "noise={kind: confusion, matrix: "+file+"}")); !errors.Is(err, data.ErrFormat) || !strings.Contains(err.Error(), "has 2 numbers; want 12, one for each class of the training items") {
		t.Errorf("%v", err)
	}
	if _, err := OpenData(t.Context(), tinytest.Config(t, "noise={kind: confusion, matrix: none.csv}")); !errors.Is(err, data.ErrMissing) {
		t.Errorf("%v", err)
	}
}
