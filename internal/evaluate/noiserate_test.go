package evaluate

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/engine/array"
	"tercet/internal/metric"
	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
	"tercet/internal/wire"
)

// Embeddings in clear groups, some labeled as another group: the losses part them.
func TestCenterLosses(t *testing.T) {
	const n, classes = 2000, 4
	s := rng.New(1, "test")
	z, labels := array.New(n, 3), make([]int32, n)
	wrong := 0
	for i := range n {
		y := i % classes
		for k := range 3 {
			z.Row(i)[k] = float32(0.25 * s.NormFloat64())
		}
		if y > 0 {
			z.Row(i)[y-1] += 1
		}
		if labels[i] = int32(y); s.Float64() < 0.2 {
			labels[i] = int32((y + 1 + s.IntN(classes-1)) % classes)
			wrong++
		}
	}
	losses := centerLosses(z, labels, classes)
	right, far := 0.0, 0.0
	for i, l := range losses {
		if l < 0 || math.IsNaN(l) || math.IsInf(l, 0) {
			t.Fatalf("loss %v", l)
		}
		if int(labels[i]) == i%classes {
			right += l / float64(n-wrong)
		} else {
			far += l / float64(wrong)
		}
	}
	if far < 4*right {
		t.Errorf("mean losses %v of right and %v of wrong labels", right, far)
	}
	e, err := noise.FromLosses(losses, 0)
	if err != nil || math.Abs(e.P-float64(wrong)/n) > 0.05 {
		t.Errorf("%+v, want %v (%v)", e, float64(wrong)/n, err)
	}
}

func TestCenterLossesByHand(t *testing.T) {
	// Centers 1 and 4 of classes 0 and 1; squared distances to the own one 1, 1, 4, 4.
	z := tinytest.Must(array.Of([]float32{0, 2, 2, 6}, 4, 1))
	got := centerLosses(z, []int32{0, 0, 1, 1}, 2)
	unit := 2.5
	for i, gap := range []float64{1 - 16, 1 - 4, 4 - 1, 4 - 25} {
		if want := math.Log(1 + math.Exp(gap/unit)); math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("item %d: %v, want %v", i, got[i], want)
		}
	}
	same := tinytest.Must(array.Of([]float32{1, 1, 1, 1}, 4, 1))
	for _, l := range centerLosses(same, []int32{0, 0, 1, 1}, 2) {
		if math.Abs(l-math.Ln2) > 1e-12 {
			t.Errorf("one point: loss %v", l)
		}
	}
}

// The rate of pairs that are labeled twice, by the run's own pairs; and what
// noise_from makes of it.
func TestNoiseRateOfPairs(t *testing.T) {
	sets := tinytest.PairsText("noise={kind: pln, q: 0.3}", "batch={sampler: pair-graph, scenario: full}", "train.epochs=1", "data.classes=2", "data.glyphs.per_class=200", "eval.pairs=0")
	r := runtest.Trained(t, t.TempDir(), sets...)
	d, err := NoiseRate(t.Context(), r, "last", 0, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	if d.Of != "pairs" || d.Estimate.Method != noise.Contradictions || d.Estimate.CI95[0] > 0.15 || d.Estimate.CI95[1] < 0.15 || *d.Effective != d.Estimate.P {
		t.Errorf("%+v", d)
	}
	if tr := d.Truth; tr == nil || tr.Kind != "pln" || tr.Wanted != 0.15 || tr.Found != r.Manifest.Data.Graph.Effective {
		t.Errorf("truth %+v", tr)
	}
	file := filepath.Join(t.TempDir(), "noise.json")
	if err := record.Write(file, d); err != nil {
		t.Fatal(err)
	}
	q, err := noise.SLNFromEffective(d.Estimate.P)
	if err != nil {
		t.Fatal(err)
	}
	cfg := tinytest.Config(t, "loss={name: triplet-robust, noise_from: "+file+"}")
	w, err := wire.RobustWeights(cfg, tinytest.Must(wire.OpenData(t.Context(), cfg)))
	if want := noise.SLNTriplets(q, 12); err != nil || w.TripletWeights != want || w.From != file {
		t.Errorf("%+v, want %+v (%v)", w, want, err)
	}
}

func TestNoiseFromFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "noise.json")
	for text, want := range map[string]string{
		`{"schema": "tercet.noise/1", "of": "labels", "estimate": {"p": 0.1}}`:   "",
		`{"schema": "tercet.noise/1", "of": "triplets", "estimate": {"p": 0.1}}`: "",
		`{"schema": "tercet.noise/1", "of": "triplets", "estimate": {"p": 0.5}}`: "beta + gamma - 1 is 0",
		`{"schema": "tercet.noise/1", "of": "images", "estimate": {"p": 0.1}}`:   `the rate is of "images"`,
		`{"schema": "tercet.eval/1"}`:                                            `schema is "tercet.eval/1"; this version reads tercet.noise/1`,
		`{`:                                                                      "not valid JSON near byte 1",
	} {
		testutil.Write(t, file, text)
		cfg := tinytest.Config(t, "loss={name: triplet-robust, noise_from: "+file+"}")
		w, err := wire.RobustWeights(cfg, tinytest.Must(wire.OpenData(t.Context(), cfg)))
		if want == "" && err == nil {
			exact := noise.OrderFlips(0.1)
			if strings.Contains(text, "labels") {
				exact = noise.SLNTriplets(noise.SLNFromRate(0.1, 12), 12)
			}
			if w.TripletWeights != exact {
				t.Errorf("%s: %+v, want %+v", text, w, exact)
			}
			continue
		}
		if want == "" || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	cfg := tinytest.Config(t, "loss={name: triplet-robust, noise_from: none.json}")
	if _, err := wire.RobustWeights(cfg, tinytest.Must(wire.OpenData(t.Context(), cfg))); err == nil || !strings.Contains(err.Error(), "none.json not found; tercet noise run RUN writes") {
		t.Errorf("%v", err)
	}
}

// A run of the cosine loss is evaluated at its cosine: pairs against plain loops.
func TestCosineBorder(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), tinytest.PairsText("loss={name: cosine, margin: 0.6}", "train.epochs=3")...)
	e, err := Eval(t.Context(), r, "last", "test", record.EvalOptions{Ks: []int{1}, Distance: metric.Euclidean, Batch: 16}, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	v, labels := e.Embedded.Vectors, e.Embedded.Data.Labels()
	accepted, wrong := int64(0), int64(0)
	for i := range labels {
		for j := range i {
			dot, a, b := 0.0, 0.0, 0.0
			for k, x := range v.Row(i) {
				y := v.Row(j)[k]
				dot, a, b = dot+float64(x)*float64(y), a+float64(x)*float64(x), b+float64(y)*float64(y)
			}
			if dot/math.Sqrt(a*b) > math.Sqrt(0.8) { // cos(alpha/2), cos(alpha) = 0.6
				accepted++
				if labels[i] != labels[j] {
					wrong++
				}
			}
		}
	}
	at := e.Doc.PairCounts.At
	if at == nil || at.Cosine == nil || *at.Cosine != math.Sqrt(0.8) || at.Accepted != accepted || at.Wrong != wrong || at.From != "loss" || accepted == 0 {
		t.Errorf("%+v, want %d accepted and %d wrong", at, accepted, wrong)
	}
	if ok, err := ClassifiesPairs(r, "last"); !ok || err != nil {
		t.Error("the cosine loss tells pairs")
	}
}

// Pair noise on triplets: what the manifest says is what a count over the triplets of the
// first epoch gives, and the weights are those of the rate.
func TestPairNoiseOnTriplets(t *testing.T) {
	sets := []string{"miner=semihard", "batch={sampler: triplet-list, triplets: 400, size: 16, redraw: true}", "train.epochs=2", "loss=triplet-robust", "noise={kind: pln, effective: 0.25}"}
	r := runtest.Trained(t, t.TempDir(), sets...)
	d := r.Manifest.Data
	cfg := tinytest.Config(t, sets...)
	s := tinytest.Must(wire.OpenData(t.Context(), cfg))
	truth, seen, classes := s.Labels()
	draw, _, err := cfg.Batch.Options.(noise.TripletList).Draw(noise.Drawing{Truth: truth, Seen: seen, Classes: classes, Noise: cfg.Noise.Options, Seed: cfg.Seed})
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := NoiseRate(t.Context(), r, "last", 0, func(string, int, int) {}); !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), "wrong positive or a wrong negative") {
		t.Errorf("a rate: %v", err)
	}
	if got := wire.DescribeTriplets(d.Triplets); !strings.Contains(got, "labels of their pairs wrong (") {
		t.Error(got)
	}
	// Found elsewhere, on pairs of the same kind.
	file := filepath.Join(t.TempDir(), "noise.json")
	testutil.Write(t, file, `{"schema": "tercet.noise/1", "of": "pairs", "estimate": {"p": 0.2}}`)
	cfg = tinytest.Config(t, append(sets, "loss.noise_from="+file)...)
	if w, err := wire.RobustWeights(cfg, s); err != nil || math.Abs(w.W1-0.64) > 1e-12 || math.Abs(w.W2-0.04) > 1e-12 {
		t.Errorf("%+v, %v", w, err)
	}
}
