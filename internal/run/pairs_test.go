package run

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/record"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
	"tercet/internal/wire"
)

// Rules against distances and cosines written out.
func TestPairScores(t *testing.T) {
	z := tinytest.Must(array.Of([]float32{0, 0, 0.3, 0, 0, 2, 1, 0, 0.6, 0.8}, 5, 2))
	pairs := []loss.Pair{{I: 0, J: 1, Similar: true}, {I: 0, J: 2, Similar: true}, {I: 0, J: 1}, {I: 0, J: 2}, {I: 3, J: 4, Similar: true}}
	o := loss.ContrastiveOptions{Margin: 1, Reduce: loss.Mean}
	obj := tinytest.Must(loss.NewContrastive(o))
	p, err := wire.Score(o.PairRule(), obj, z, pairs)
	// Distances .3, 2, .3, 2 and sqrt(.8): right, wrong, wrong, right, wrong.
	want := (0.09 + 4 + 0.49 + 0 + 0.8) / 5
	if err != nil || p.Pairs != 5 || p.Wrong != 3 || p.WrongSimilar != 2 || p.WrongDifferent != 1 || p.Error != 0.6 || math.Abs(p.Loss-want) > 1e-6 {
		t.Errorf("%+v, want loss %v (%v)", p, want, err)
	}
	c := loss.CosineOptions{Similarity: loss.Cosine, Margin: 0.5, Reduce: loss.Mean}
	cosine := tinytest.Must(loss.NewCosine(c))
	// The last pair's cosine is .6, below cos(30 degrees).
	if p, _ = wire.Score(c.PairRule(), cosine, z, pairs[4:]); p.Wrong != 1 || math.Abs(p.Loss-0.4) > 1e-6 {
		t.Errorf("%+v", p)
	}
}

func pairsOf(t *testing.T, r *Run) record.Pairs {
	t.Helper()
	var d record.Pairs
	if err := json.Unmarshal([]byte(testutil.Read(t, r.Path("pairs.json"))), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// The document against the run's own embeddings of its items, pair by pair.
func TestPairsDocument(t *testing.T) {
	sets := tinytest.PairsText("noise={kind: pln, q: 0.5}", "train.epochs=40", "optimizer.lr=0.01", "batch.scenario=full")
	r := trained(t, t.TempDir(), sets...)
	d := pairsOf(t, r)
	e, err := r.Embed(t.Context(), "last", "train", 0, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	s := tinytest.Must(wire.OpenData(t.Context(), r.Config))
	a, err := wire.Assemble(r.Config, s)
	if err != nil {
		t.Fatal(err)
	}
	wrong, clean, sum := 0, 0, 0.0
	labels := s.Train.Labels()
	list := a.Tuples.Pairs(0)
	for _, p := range list {
		dist := 0.0
		for k := range e.Vectors.Cols() {
			x := float64(e.Vectors.Row(int(p.I))[k]) - float64(e.Vectors.Row(int(p.J))[k])
			dist += x * x
		}
		dist = math.Sqrt(dist)
		if (dist < 0.5) != p.Similar {
			wrong++
		}
		if (dist < 0.5) != (labels[p.I] == labels[p.J]) {
			clean++
		}
		if p.Similar {
			sum += dist * dist
		} else {
			sum += math.Pow(max(0, 1-dist), 2)
		}
	}
	n := len(list)
	if n != 96 || d.Train.Pairs != n || d.Train.Wrong != wrong || d.TrainClean.Wrong != clean || math.Abs(d.Train.Loss-sum/float64(n)) > 1e-5 {
		t.Errorf("%+v and %+v; want %d and %d of %d wrong, loss %v", d.Train, d.TrainClean, wrong, clean, n, sum/float64(n))
	}
	if d.Schema != "tercet.pairs/1" || d.Rule.Score != "distance" || d.Rule.At != 0.5 || d.Parameters != r.Manifest.Model.Parameters || d.Steps != r.Manifest.Steps || d.Noise.Wanted != 0.25 {
		t.Errorf("%+v", d)
	}
	if d.Test == nil || d.Test.Pairs != 20 || d.TestNoise != nil {
		t.Errorf("test: %+v", d.Test)
	}
	if th := d.Theorem; th == nil || th.Classes != 12 || th.PerClass != 4 || th.P != 0.25 || math.Abs(th.ESim-0.25*math.Pow(0.75, 3)/2) > 1e-12 || math.Abs(th.Lower-0.25*0.75/22) > 1e-12 {
		t.Errorf("theorem: %+v", th)
	}
	// Labels of both kinds on one couple, counted again.
	both := map[[2]int32][2]int{}
	for _, p := range list {
		key := [2]int32{min(p.I, p.J), max(p.I, p.J)}
		c := both[key]
		if p.Similar {
			c[1]++
		} else {
			c[0]++
		}
		both[key] = c
	}
	floor := 0
	for _, c := range both {
		floor += min(c[0], c[1])
	}
	if d.FloorDuplicates != float64(floor)/96 {
		t.Errorf("floor %v, want %v", d.FloorDuplicates, float64(floor)/96)
	}
	if d.Train.Error >= 0.3 {
		t.Errorf("nothing was learned: %+v", d.Train)
	}
}

// The document is there, and the same, after an interruption at any point: also after
// the last step and before the document was written.
func TestPairsDocumentAfterResume(t *testing.T) {
	sets := tinytest.PairsText("batch.redraw=true", "noise={kind: pln, q: 0.3}", "eval.noisy_pairs=true")
	whole := trained(t, t.TempDir(), sets...)
	d := pairsOf(t, whole)
	if d.TestNoise == nil || d.TestNoise.Wanted != 0.15 || d.TestNoise.Items != 20 {
		t.Errorf("%+v", d.TestNoise)
	}
	r := create(t, t.TempDir(), sets...)
	interrupted(t, r, 4)
	if fileExists(r.Path("pairs.json")) {
		t.Error("a run that has not ended has judged its pairs")
	}
	if _, err := r.Train(t.Context(), Watch{}); err != nil {
		t.Fatal(err)
	}
	if testutil.Read(t, whole.Path("pairs.json")) != testutil.Read(t, r.Path("pairs.json")) {
		t.Error("another document after a resume")
	}
	// Killed between the last checkpoint and the document.
	if err := os.Remove(r.Path("pairs.json")); err != nil {
		t.Fatal(err)
	}
	r.Manifest.Status = record.Running
	if err := r.SaveManifest(); err != nil {
		t.Fatal(err)
	}
	again := tinytest.Must(Open(r.Dir))
	defer again.Close()
	if done, err := again.Train(t.Context(), Watch{}); done || err != nil {
		t.Fatal(done, err)
	}
	if testutil.Read(t, whole.Path("pairs.json")) != testutil.Read(t, r.Path("pairs.json")) {
		t.Error("no document after the end")
	}
}

func TestPairAccuracyDuringTraining(t *testing.T) {
	for set, want := range map[string]string{
		"train.eval_every=1":                             "pair_accuracy",
		"train.early_stop={metric: pair_train_accuracy}": "pair_train_accuracy",
		"train.early_stop={metric: retrieval.map@r}":     "map@r",
		"eval.pairs=0":                                   "recall@1",
	} {
		r := trained(t, t.TempDir(), tinytest.PairsText(set)...)
		if b := r.Manifest.Best; b == nil || b.Metric != want {
			t.Errorf("%s: best by %+v, want %s", set, b, want)
		}
		log := testutil.Read(t, r.Path("events.jsonl"))
		for key, there := range map[string]bool{`"pair_accuracy"`: set != "eval.pairs=0", `"pair_train_accuracy"`: true, `"recall@1"`: true} {
			if strings.Contains(log, key) != there {
				t.Errorf("%s: %s in the events: want %v", set, key, there)
			}
		}
		last := 0.0
		for _, line := range strings.Split(strings.TrimSpace(log), "\n") {
			var e struct{ Metrics map[string]float64 }
			if json.Unmarshal([]byte(line), &e) == nil && e.Metrics != nil {
				last = e.Metrics["pair_train_accuracy"]
			}
		}
		if d := pairsOf(t, r); math.Abs(1-d.Train.Error-last) > 1e-12 {
			t.Errorf("%s: accuracy %v at the end, error %v in the document", set, last, d.Train.Error)
		}
	}
	if r := trained(t, t.TempDir()); fileExists(r.Path("pairs.json")) {
		t.Error("pairs.json of a run on triplets")
	}
}

func fileExists(path string) bool { _, err := os.Stat(path); return err == nil }

// The training of the toolkit's Siamese network, for every model.
func TestEveryModelTrainsOnPairs(t *testing.T) {
	for _, m := range []string{"{name: linear}", "{name: mlp, width: 8}", "{name: cnn, width: 4}", "{name: lenet}", "{name: c2f2}", "{name: resnet18, width: 4, stem: small}"} {
		for _, l := range []string{"contrastive", "cosine", "{name: triplet-threshold, pairing: pairs}"} {
			if l != "contrastive" && m != "{name: mlp, width: 8}" {
				continue
			}
			sets := slices.DeleteFunc(tinytest.PairsText("train={steps: 2, epochs: 0, eval_every: 0}"), func(set string) bool {
				return strings.HasPrefix(set, "model=") || strings.HasPrefix(set, "loss=")
			})
			r := trained(t, t.TempDir(), append(sets, "model="+m, "loss="+l, "data.size=28")...)
			if d := pairsOf(t, r); d.Train.Pairs != 48 {
				t.Errorf("%s %s: %+v", m, l, d.Train)
			}
		}
	}
}
