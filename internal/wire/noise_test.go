package wire

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/data"
	"tercet/internal/record"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
)

// Labels that are trained on are noisy; those of validation and of test,
// of the training set too, are true.
func TestNoiseIsOnTheTrainingLabelsAlone(t *testing.T) {
	sets := []string{"data.split={kind: fraction, train: 0.7, validation: 0.25}", "data.glyphs={classes: 10, per_class: 40}"}
	clean, err := OpenData(t.Context(), tinytest.Config(t, sets...))
	if err != nil {
		t.Fatal(err)
	}
	cfg := tinytest.Config(t, append(sets, "noise={kind: sln, rate: 0.3}")...)
	s, err := OpenData(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range [][2]data.Dataset{{clean.Train, s.Train}, {clean.Validation, s.Validation}, {clean.Test, s.Test}} {
		if testutil.Fingerprint(t, p[0]) != testutil.Fingerprint(t, p[1]) || !slices.Equal(p[0].Labels(), p[1].Labels()) {
			t.Error("noise has changed a set that judges")
		}
	}
	seen, truth := s.Seen(), s.Train
	flipped := 0
	for i, y := range seen.Labels() {
		if seen.Classes()[y] != truth.Classes()[truth.Labels()[i]] {
			flipped++
		}
	}
	n := truth.Len()
	want := record.Noise{Kind: "sln", Wanted: 0.3, Found: float64(flipped) / float64(n), Flipped: flipped, Items: n}
	want.Q, want.Effective, want.EffectiveFound = s.Noise.Q, s.Noise.Effective, s.Noise.EffectiveFound
	if seen.Len() != n || *s.Noise != want || math.Abs(s.Noise.Found-0.3) > 0.15 {
		t.Errorf("%+v, %d of %d labels differ", s.Noise, flipped, n)
	}
	h, w, c := truth.Shape()
	a, b := make([]float32, h*w*c), make([]float32, h*w*c)
	for i := range n {
		if truth.Read(i, a) != nil || seen.Read(i, b) != nil || !slices.Equal(a, b) {
			t.Fatalf("item %d is another image", i)
		}
	}
	if clean.Noise != nil || clean.Seen() != clean.Train {
		t.Error("noise where there is none")
	}
	// Another seed of the run, and one of the noise.
	for _, tc := range []struct {
		set   string
		equal bool
	}{{"seed=5", false}, {"noise.seed=0", true}, {"noise.seed=5", false}} {
		other, err := OpenData(t.Context(), tinytest.Config(t, append(sets, "noise={kind: sln, rate: 0.3}", tc.set)...))
		if err != nil {
			t.Fatal(err)
		}
		if slices.Equal(other.Seen().Labels(), seen.Labels()) != tc.equal {
			t.Errorf("%s: equal labels want %v", tc.set, tc.equal)
		}
	}
}

// Batches are composed by the noisy labels: both rows of a class pair carry one of
// them, and often two true ones.
func TestSamplersSeeNoisyLabels(t *testing.T) {
	s, err := OpenData(t.Context(), tinytest.Config(t, "noise={kind: sln, rate: 0.5}"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := Assemble(tinytest.Config(t, "noise={kind: sln, rate: 0.5}"), s)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for _, batch := range a.Sampler.Plan(0) {
		for i := 0; i+1 < len(batch); i += 2 {
			if s.Seen().Labels()[batch[i]] != s.Seen().Labels()[batch[i+1]] {
				t.Fatal("a pair of two labels")
			}
			if s.Train.Labels()[batch[i]] != s.Train.Labels()[batch[i+1]] {
				wrong++
			}
		}
	}
	if wrong == 0 {
		t.Error("no pair is wrong at a rate of 0.5")
	}
}

// At rate 0 a run is the run without noise, to the bit but for the config's hash.
func TestNoNoiseIsNoNoise(t *testing.T) {
	s, err := OpenData(t.Context(), tinytest.Config(t, "noise={kind: sln, rate: 0}"))
	if err != nil || s.Noise == nil || s.Noise.Flipped != 0 || s.Seen() != s.Train {
		t.Errorf("%+v, %v", s, err)
	}
}

// Where a class may have several pairs in a batch, any row may be a positive.
func TestMinersOfPairsThatRepeat(t *testing.T) {
	t.Parallel()
	for sampler, want := range map[string]bool{"class-pairs": true, "class-pairs-distinct": false, "m-per-class": false} {
		cfg := tinytest.Config(t, "batch={sampler: "+sampler+"}")
		if o := mineOptions(cfg, "pairs", tinytest.Must(BuildObjective(cfg, nil))); o.AnyRow != want {
			t.Errorf("%s: any row: %v", sampler, o.AnyRow)
		}
	}
}

// The semihard band is in the loss's distance and as wide as its gap.
func TestMinersOfTheMarginLosses(t *testing.T) {
	for set, want := range map[string]float64{
		"loss={name: triplet, margin: 0.3, distance: squared}":    0.3,
		"loss={name: triplet-capped, alpha: 0.9, beta: 0.25}":     0.9,
		"loss={name: triplet-threshold, alpha: 1.25, beta: 0.75}": 0.5,
	} {
		cfg := tinytest.Config(t, set)
		obj, err := BuildObjective(cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		if o := mineOptions(cfg, "general", obj); !o.Squared || o.Margin != want {
			t.Errorf("%s: %+v, want margin %v", set, o, want)
		}
	}
	if o := mineOptions(tinytest.Config(t), "general", tinytest.Must(BuildObjective(tinytest.Config(t), nil))); o.Squared {
		t.Error("the default loss is Euclidean")
	}
}
