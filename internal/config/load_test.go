package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/data/sources"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/optim"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/component"
)

const design = `name: mnist-hm
seed: 7
data: {name: mnist, root: ../shared/data/mnist}
noise: {kind: none}
model: {name: c2f2, embedding: 512, normalize: true}
batch: {sampler: class-pairs, pairs: 128}
loss: {name: triplet, margin: 77/255}
miner: softhard
optimizer: {name: adam, lr: 1e-3}
train: {steps: 8}
`

func mustLoad(t *testing.T, text string, sets ...string) *Config {
	t.Helper()
	c, err := LoadBytes([]byte(text), "f.yaml", sets)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestValuesReachTheirStructs(t *testing.T) {
	c := mustLoad(t, design)
	if c.Name != "mnist-hm" || c.Seed != 7 || c.Model.Embedding != 512 || c.Train.Steps != 8 {
		t.Errorf("got %+v", c)
	}
	if got := c.Data.Options; got != (sources.MNISTOptions{Root: "../shared/data/mnist"}) {
		t.Errorf("data options %+v", got)
	}
	want := loss.TripletOptions{Margin: 77.0 / 255, Distance: "euclidean", Form: "hinge", Reduce: "mean", Eps: 1e-6}
	if c.Loss.Options != want {
		t.Errorf("loss options %+v", c.Loss.Options)
	}
	if c.Miner.Name != "softhard" || c.Miner.Options != (mine.SofthardKeys{}) {
		t.Errorf("a section as one word: %+v", c.Miner)
	}
	if c.Train.Epochs != 0 {
		t.Errorf("steps are given: the default of epochs must yield, is %d", c.Train.Epochs)
	}
}

func TestDefaultsAreValid(t *testing.T) {
	c, err := Load("", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range c.Origins() {
		if o.From != "default" {
			t.Errorf("%s comes from %s", o.Key, o.From)
		}
	}
}

func TestEveryComponentHasValidDefaults(t *testing.T) {
	section := map[string]string{"split": "data.split.kind", "noise": "noise.kind", "sampler": "batch.sampler",
		"schedule": "optimizer.schedule.name", "destination": "defense.destination.name", "algorithm": "metric.algorithm", "mean_std": "model.mean_std.name"}
	files := []string{"data.root=x", "data.train.images=x", "data.train.labels=x", "data.test.images=x", "data.test.labels=x",
		"data.train.vectors=x", "data.test.vectors=x", "data.table=x"}
	for family, list := range families {
		key := section[family]
		if key == "" {
			key = family + ".name"
		}
		for _, c := range list {
			sets := []string{key + "=" + c.Name}
			switch c.Name {
			case "pln", "pair-graph":
				sets = append(sets, "batch.sampler=pair-graph", "loss.name=contrastive")
			case "triplet-flip":
				sets = append(sets, "batch.sampler=triplet-list")
			case "plateau":
				sets = append(sets, "data.split.validation=0.1")
			case "vicreg":
				sets = append(sets, "batch.views=2", "data.augment.flip=true", "model.normalize=false", "train.collapse.enabled=false")
			case "confusion":
				sets = append(sets, "noise.matrix=x.csv")
			}
			if family == "destination" {
				sets = append(sets, "defense.name=hm")
			}
			if family == "algorithm" {
				sets = append(sets, "model.name=mahalanobis")
			}
			if family == "mean_std" {
				sets = append(sets, "model.name=resnet50")
			}
			for _, f := range files {
				name := strings.Split(strings.SplitN(f, "=", 2)[0], ".")
				if family != "data" {
					continue
				}
				top, ok := find(optionFields(c), name[1])
				if ok && (len(name) == 2 || component.IsSection(top.typ) && hasField(top, name[2])) {
					sets = append(sets, f)
				}
			}
			if _, err := Load("", sets); err != nil {
				t.Errorf("%s %s: %v", family, c.Name, err)
			}
		}
	}
}

func hasField(f field, name string) bool { _, ok := find(fields(f.typ), name); return ok }

func TestMistakes(t *testing.T) {
	for _, tc := range []struct{ name, text, set, want string }{
		{"typo at the top", "nam: x", "", "f.yaml:1: nam: unknown key; did you mean name? valid: batch, "},
		{"include outside of a file", "name: x", "include=[y.yaml]", "set: include: is read from config files alone"},
		{"typo in a section", "name: x\nloss:\n  margn: 1", "", "f.yaml:3: loss.margn: unknown key; did you mean margin? valid: distance, eps, form, margin, memory, name, reducer"},
		{"key in the wrong section", "margin: 1", "", "f.yaml:1: margin: unknown key; did you mean loss.margin or miner.margin or defense.mix.margin or defense.ics.margin or defense.margin?"},
		{"key of another component", "miner: {name: random, cutoff: 1}", "", `f.yaml:1: miner.cutoff: miner "random" does not have this key; distance-weighted has it`},
		{"unknown component", "miner: {name: softhrd}", "", `f.yaml:1: miner.name: unknown miner "softhrd"; did you mean softhard? valid: batch-all, distance-weighted, hardest, random, semihard, softhard, softhard-strict`},
		{"unknown noise", "noise: {kind: slm}", "", `f.yaml:1: noise.kind: unknown noise "slm"; did you mean sln? valid: confusion, none, pair-flip, pln, sln, triplet-flip`},
		{"noise of all labels", "noise: {kind: sln, rate: 1}", "", `f.yaml:1: noise.rate: must be >=0 and <1, is 1`},
		{"rate without noise", "noise: {rate: 0.1}", "", `f.yaml:1: noise.rate: noise "none" does not have this key; sln, triplet-flip, pair-flip have it`},
		{"beta at alpha", "loss: {name: triplet-capped, alpha: 0.5}", "", `f.yaml:1: loss.alpha: must be above loss.beta (0.5), is 0.5`},
		{"beta above alpha", "loss: {name: triplet-threshold, beta: 2}", "", `loss.alpha: must be above loss.beta (2), is 1`},
		{"beta of zero", "loss: {name: triplet-threshold, beta: 0}", "", `f.yaml:1: loss.beta: must be >0, is 0`},
		{"alpha beyond the sphere", "loss: {name: triplet-threshold, alpha: 4.5}", "", `f.yaml:1: loss.alpha: must be at most 4, is 4.5`},
		{"alpha of another loss", "loss: {name: triplet, alpha: 1}", "", `f.yaml:1: loss.alpha: loss "triplet" does not have this key; triplet-capped, triplet-threshold, `},
		{"pairs for a defense of triplets", "loss: {name: triplet-threshold, pairing: pairs}\ndefense: minmax", "", `f.yaml:1: loss.pairing: defense minmax trains on triplets`},
		{"destination of another loss", "loss: triplet-capped\ndefense: hm", "", `loss.name: destination lga compares the loss with the margin: set loss: triplet`},
		{"word for a number", "train: {epochs: many}", "", `f.yaml:1: train.epochs: must be a whole number, got "many"`},
		{"fraction of a whole number", "train: {epochs: 1.5}", "", `f.yaml:1: train.epochs: must be a whole number, got "1.5"`},
		{"quoted number", "optimizer: {lr: \"1\"}", "", `f.yaml:1: optimizer.lr: must be a finite number such as 0.2, 1e-3 or 77/255, got the text "1"`},
		{"division by zero", "loss: {margin: 1/0}", "", "f.yaml:1: loss.margin: must be a finite number"},
		{"infinity", "loss: {margin: .inf}", "", "f.yaml:1: loss.margin: must be a finite number"},
		{"overflow", "loss: {margin: 1e999}", "", "f.yaml:1: loss.margin: must be a finite number"},
		{"negative seed", "seed: -1", "", `f.yaml:1: seed: must be a whole number from 0 to 2^64-1, got "-1"`},
		{"yes for true", "model: {normalize: yes}", "", `f.yaml:1: model.normalize: must be true or false, got "yes"`},
		{"list for a section", "loss: [1]", "", "f.yaml:1: loss: is a section with keys such as name, got a list"},
		{"word for a section", "train: 3", "", `f.yaml:1: train: is a section with keys such as epochs, got "3"`},
		{"section for a value", "seed: {a: 1}", "", "f.yaml:1: seed: must be a whole number from 0 to 2^64-1, got a section of keys"},
		{"no value", "seed:", "", "f.yaml:1: seed: has no value; write"},
		{"word that is none of", "loss: {distance: euclid}", "", `f.yaml:1: loss.distance: unknown value "euclid"; did you mean euclidean? valid: euclidean, squared`},
		{"out of range", "batch: {pairs: 0}", "", "f.yaml:1: batch.pairs: must be >=1 and <=1000000, is 0"},
		{"betas of one", "optimizer: {betas: [0.9]}", "", "f.yaml:1: optimizer.betas: must have 2 values, got 1"},
		{"beta out of range", "optimizer: {betas: [0.9, 1]}", "", "f.yaml:1: optimizer.betas: must be >=0 and <1, is 1"},
		{"miner for unit length", "model: {normalize: false}\nminer: distance-weighted", "", "f.yaml:2: miner.name: distance-weighted is defined on embeddings of length 1"},
		{"resamples beyond memory", "eval: {bootstrap: 1000001}", "", "f.yaml:1: eval.bootstrap: must be at most 1000000, is 1000001"},
		{"ks fall", "eval: {ks: [2, 1]}", "", "f.yaml:1: eval.ks: must rise: 1 comes after 2"},
		{"no ks", "eval: {ks: []}", "", "f.yaml:1: eval.ks: must have at least one value"},
		{"both lengths", "train: {epochs: 1, steps: 1}", "", "f.yaml:1: train.epochs: set exactly one of train.epochs and train.steps"},
		{"span in a wrong unit", "train: {checkpoint_every: 3 epochs}", "", `f.yaml:1: train.checkpoint_every: must be a length such as "10 steps" or "10 minutes", got "3 epochs"`},
		{"no root", "data: mnist", "", `data.root: must be set for data "mnist": the folder of the data`},
		{"name with a slash", "name: a/b", "", "f.yaml:1: name: names a folder"},
		{"duplicate key", "seed: 1\nname: x\nseed: 2", "", "f.yaml:3: seed: key written twice; the first is at f.yaml:1"},
		{"merge key", "loss: &a {margin: 1}\nminer:\n  <<: *a", "", "f.yaml:3: <<: merge keys are not supported"},
		{"list as key", "? [1]\n: 2", "", "f.yaml:1: a key must be a word"},
		{"own tag", "name: !foo x", "", "f.yaml:1: tag !foo has no meaning here"},
		{"empty", "", "", "f.yaml: is empty"},
		{"only comments", "# nothing\n", "", "f.yaml: is empty"},
		{"a list", "- 1", "", "f.yaml:1: a config is a section of keys such as \"name: x\", not a list"},
		{"truncated", "name: x\ndata: {name: glyphs, glyphs: {classes: ", "", "f.yaml:2: not valid YAML: "},
		{"open quote", "name: \"x", "", "f.yaml:1: not valid YAML: while scanning a quoted scalar: found unexpected end of stream"},
		{"tab", "name: x\n\tseed: 1", "", "f.yaml:2: not valid YAML: "},
		{"binary", "\x00\x01\x02", "", "f.yaml: not valid YAML: control characters are not allowed"},
		{"two documents", "name: x\n---\nname: y", "", "f.yaml: holds several YAML documents"},
		{"unknown alias", "name: *x", "", "f.yaml:1: not valid YAML: unknown anchor 'x' referenced"},
		{"too large", "# " + strings.Repeat("x", MaxBytes), "", "f.yaml: is larger than 1048576 bytes"},
		{"--set without a value", "name: x", "seed", `set: "seed" is not of the form section.key=value`},
		{"--set without a key", "name: x", "=1", `set: "=1" is not of the form section.key=value`},
		{"--set with an empty part", "name: x", "a..b=1", "set: a..b: a key has an empty section or name"},
		{"defense of vectors", "data:\n  name: npy\n  split: {kind: fraction}\n  train: {vectors: a, labels: b}\ndefense: est", "", "f.yaml:5: defense.name: est perturbs pixels in [0, 1]; data npy are vectors"},
		{"eps in 255ths", "defense: {name: act, pgd: {eps: 8}}", "", "f.yaml:1: defense.pgd.eps: pixels lie in [0, 1]; write 8/255 for 8"},
		{"a defense that perturbs nothing", "defense: {name: est, pgd: {eps: 0}}", "", "f.yaml:1: defense.pgd.eps: is 0: a defense that perturbs nothing; write defense: none"},
		{"zero crafting steps", "defense: {name: act, pgd: {steps: 0}}", "", "f.yaml:1: defense.pgd.steps: must be >=1 and <=10000, is 0"},
		{"l2 ball without a size", "defense: {name: act, pgd: {norm: l2}}", "", "defense.pgd.eps: must be set for the l2 ball"},
		{"defense with too many triplets", "miner: batch-all\ndefense: hm", "", "f.yaml:1: miner.name: defense hm needs one triplet for each anchor: semihard, random,"},
		{"gradual destination of another loss", "loss: {reducer: sum}\ndefense: hm", "", "f.yaml:1: loss.reducer: destination lga compares the loss with u, a mean over all triplets: set mean"},
		{"source that samples no triplets", "defense: {name: hm, source: batch-all}", "", "f.yaml:1: defense.source: unknown value \"batch-all\"; valid: "},
		{"boosted hardness of another loss", "loss: triplet-capped\ndefense: {name: hm, destination: boost}", "", `set loss: triplet, or give u`},
		{"raw anchors of raw embeddings", "model: {normalize: false}\ndefense: {name: act, implementation: robrank-2021}", "", "f.yaml:2: defense.implementation: robrank-2021 leaves anchors alone"},
		{"destination beyond the sphere", "defense: {name: hm, destination: {name: constant, value: 3}}", "", "f.yaml:1: defense.destination.value: must be >=-2 and <=2, is 3"},
		{"key of another destination", "defense: {name: hm, destination: {name: constant, u: 1}}", "", "destination \"constant\" does not have this key; lga, lga-squared, lga-root, boost have it"},
		{"--set of an unknown key", "name: x", "loss.margn=1", "set: loss.margn: unknown key; did you mean margin?"},
		{"--set of broken YAML", "name: x", "eval.ks=[1", "set: eval.ks: not valid YAML: "},
		{"--set of a wrong type", "name: x", "seed=a", "set: seed: must be a whole number"},
		{"axis that is no list", "sweep: {seed: 1}", "", "f.yaml:1: sweep.seed: must be a list of values, such as [0, 1, 2], got \"1\""},
		{"axis without values", "sweep: {seed: []}", "", "f.yaml:1: sweep.seed: must be a list of values, such as [0, 1, 2], got an empty list"},
		{"axis of an unknown key", "name: x\nsweep:\n  loss.margn: [1]", "", "f.yaml:3: loss.margn: unknown key; did you mean margin?"},
		{"axis with a bad value", "name: x\nsweep:\n  seed: [0, x]", "", `f.yaml:3: seed: must be a whole number from 0 to 2^64-1, got "x" (with the sweep's seed=x)`},
		{"axis with a value twice", "sweep: {seed: [0, 0]}", "", "f.yaml:1: sweep.seed: lists 0 twice"},
		{"axis of the name", "sweep: {name: [a, b]}", "", "f.yaml:1: sweep.name: this key cannot be swept"},
		{"axis that is also set", "sweep: {seed: [0, 1]}", "seed=5", "set: seed: is swept by this config (f.yaml:1)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var sets []string
			if tc.set != "" {
				sets = []string{tc.set}
			}
			_, err := LoadBytes([]byte(tc.text), "f.yaml", sets)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v (%T)", err, err)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %s\nwant %s", err, tc.want)
			}
		})
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	_, err := LoadBytes([]byte("model: {name: foo}\ntrain:\n  epochs: x\nbatch: {pairs: 0}\n"), "f.yaml", []string{"loss.margin=-1"})
	for _, want := range []string{"f.yaml:1: model.name", "f.yaml:3: train.epochs", "f.yaml:4: batch.pairs", "set: loss.margin: must be >=0, is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != 4 {
		t.Errorf("%d errors instead of 4:\n%v", n, err)
	}
}

// TestAllMistakesOfASweepAtOnce: a sweep named its first mistake only, and none where
// the config had another.
func TestAllMistakesOfASweepAtOnce(t *testing.T) {
	for text, want := range map[string][]string{
		"sweep: {loss.marginn: [0.1, 0.2], seed: 3}": {
			"f.yaml:1: sweep.seed: must be a list", "f.yaml:1: loss.marginn: unknown key; did you mean margin?"},
		"miner: semihrd\nsweep: {loss.margin: [0.1, -2, -3]}": {
			`f.yaml:1: miner.name: unknown miner "semihrd"`, "is -2 (with the sweep's loss.margin=-2)", "is -3 (with the sweep's loss.margin=-3)"},
		"sweep: {model.width: [-1, 8], loss.margin: [-2], name: [a]}": {
			"is -1 (with the sweep's model.width=-1)", "is -2 (with the sweep's loss.margin=-2)", "sweep.name: this key cannot be swept"},
	} {
		_, err := LoadBytes([]byte(text), "f.yaml", nil)
		if err == nil {
			t.Fatalf("no error of %s", text)
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q is missing in\n%v", w, err)
			}
		}
		if n := strings.Count(err.Error(), "\n") + 1; n != len(want) {
			t.Errorf("%d errors instead of %d:\n%v", n, len(want), err)
		}
	}
}

func TestAliasBombIsRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		prev := "*a" + string(rune('a'+i-2))
		if i == 1 {
			prev = "*a0"
		}
		b.WriteString("k" + string(rune('a'+i)) + ": &a" + string(rune('a'+i-1)) + " [" + strings.Repeat(prev+", ", 10) + "]\n")
	}
	for name, text := range map[string]string{"product": b.String(), "circle": "a: &a [*a]\n"} {
		_, err := LoadBytes([]byte(text), "f.yaml", nil)
		if err == nil || !strings.Contains(err.Error(), "aliases or nesting make this too large") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestAliasAsAWholeValueWorks(t *testing.T) {
	c := mustLoad(t, "seed: &s 5\neval: {bootstrap: *s}\n")
	if c.Eval.Bootstrap != 5 {
		t.Errorf("got %d", c.Eval.Bootstrap)
	}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPriorityAndOrigins(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"base/a.yaml": "seed: 1\neval: {batch: 1}\nloss: {margin: 1}\nmodel: {embedding: 10}\n",
		"base/b.yaml": "eval:\n  batch: 2\nloss: {margin: 2}\n",
		"x.yaml":      "include: [base/a.yaml, base/b.yaml]\nname: x\nloss:\n  margin: 3\n",
	})
	path := filepath.Join(dir, "x.yaml")
	over := []Override{{Key: "model.embedding", Value: "20", From: "set"}, {Key: "seed", Value: "4", From: "set"}, {Key: "seed", Value: "5", From: "seed"}}
	c, err := LoadWith(path, over)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range c.Origins() {
		if o.From != "default" {
			got[o.Key] = o.Value + " " + strings.TrimPrefix(o.From, dir+"/")
		}
	}
	want := map[string]string{"name": "x x.yaml:2", "seed": "5 seed", "eval.batch": "2 base/b.yaml:2",
		"loss.margin": "3 x.yaml:4", "model.embedding": "20 set"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestIncludeMistakes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"a.yaml": "include: b.yaml", "b.yaml": "name: b\ninclude: [sub/c.yaml]", "sub/c.yaml": "include: ../a.yaml",
		"self.yaml": "include: self.yaml", "gone.yaml": "include: none.yaml", "map.yaml": "include: {a: 1}",
		"null.yaml": "include: [~]", "bad.yaml": "include: typo.yaml", "typo.yaml": "name: x\nsed: 1",
		"folder.yaml": "include: sub", "hollow.yaml": "include: empty.yaml", "empty.yaml": "",
	})
	for file, want := range map[string]string{
		"a.yaml":      "sub/c.yaml:1: include: includes go in a circle: D/a.yaml -> D/b.yaml -> D/sub/c.yaml -> D/a.yaml",
		"self.yaml":   "self.yaml:1: include: includes go in a circle: D/self.yaml -> D/self.yaml",
		"gone.yaml":   "gone.yaml:1: include: D/none.yaml: no such config file",
		"map.yaml":    "map.yaml:1: include: must be a list of files, got a section of keys",
		"null.yaml":   "null.yaml:1: include: must be a file name, got no value",
		"bad.yaml":    "typo.yaml:2: sed: unknown key; did you mean seed?",
		"folder.yaml": "folder.yaml:1: include: D/sub: is a folder",
		"hollow.yaml": "empty.yaml: is empty",
		"none.yaml":   "none.yaml: no such config file",
	} {
		_, err := Load(filepath.Join(dir, file), nil)
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), dir, "D"), want) {
			t.Errorf("%s: got  %v\nwant %s", file, err, want)
		}
	}
}

func TestIncludingTwiceOverIsBounded(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"f9.yaml": "seed: 1"}
	for i := range 9 {
		next := "f" + string(rune('1'+i)) + ".yaml"
		files["f"+string(rune('0'+i))+".yaml"] = "include: [" + next + ", " + next + "]"
	}
	write(t, dir, files)
	_, err := Load(filepath.Join(dir, "f0.yaml"), nil)
	if err == nil || !strings.Contains(err.Error(), "the limit is 100") {
		t.Errorf("got %v", err)
	}
}

func TestALayerThatNamesAnotherComponentStartsFromItsDefaults(t *testing.T) {
	text := "optimizer: {name: sgd, lr: 0.5, momentum: 0.3}\nminer: {name: distance-weighted, cutoff: 1}\n"
	c := mustLoad(t, text, "optimizer.name=adam", "miner=random")
	if c.Optimizer.LR != 0.5 || c.Optimizer.Options != (optim.Adam{Betas: [2]float64{0.9, 0.999}, Eps: 1e-8}) || c.Miner.Name != "random" {
		t.Errorf("got %+v %+v", c.Optimizer, c.Miner)
	}
	if c := mustLoad(t, text, "optimizer.name=sgd"); c.Optimizer.Options != (optim.SGD{Momentum: 0.3}) {
		t.Errorf("naming the same component again dropped its keys: %+v", c.Optimizer)
	}
	// Within one layer nothing is dropped: the contradiction is reported.
	if _, err := LoadBytes([]byte(text), "f.yaml", []string{"miner.cutoff=0.5", "miner=random"}); err == nil {
		t.Error("cutoff was set for a miner without it, and dropped")
	}
	// A typo below is not swept away by the change above.
	if _, err := LoadBytes([]byte("miner: {name: distance-weighted, cutof: 1}"), "f.yaml", []string{"miner=random"}); err == nil {
		t.Error("the typo cutof was dropped")
	}
	if c := mustLoad(t, "train: {epochs: 5}", "train.steps=3"); c.Train.Steps != 3 || c.Train.Epochs != 0 {
		t.Errorf("got %+v", c.Train)
	}
}

func TestLossesOfTwoMargins(t *testing.T) {
	c := mustLoad(t, "loss: {name: triplet-threshold, alpha: 9, beta: 8.5, pairing: pairs}\nmodel: {normalize: false}\ndefense: est")
	if c.Loss.Options != (loss.ThresholdOptions{Alpha: 9, Beta: 8.5, Reduce: "mean", Pairing: "pairs"}) {
		t.Errorf("%+v", c.Loss.Options)
	}
	if c = mustLoad(t, "loss: {name: triplet-capped, alpha: 4}"); c.Loss.Options != (loss.CappedOptions{Alpha: 4, Beta: 0.5, Reduce: "mean"}) {
		t.Errorf("%+v", c.Loss.Options)
	}
}

func TestNoiseIsPartOfTheHash(t *testing.T) {
	seen := map[string]string{}
	for _, set := range []string{"noise.kind=none", "noise.kind=sln", "noise={kind: sln, rate: 0.3}", "noise={kind: sln, rate: 0.3, seed: 0}"} {
		h := mustLoad(t, design, set).Hash()
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s have one hash", set, other)
		}
		seen[h] = set
	}
}
