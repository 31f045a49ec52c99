package config

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/optim"
	"tercet/internal/testutil"
)

// checkFixedPoint loads what c resolves to and requires the same bytes.
func checkFixedPoint(t interface{ Fatalf(string, ...any) }, c *Config) []byte {
	first, err := c.Resolved()
	if err != nil {
		t.Fatalf("%v", err)
	}
	again, err := LoadBytes(first, "resolved.yaml", nil)
	if err != nil {
		t.Fatalf("the resolved config does not load: %v\n%s", err, first)
	}
	second, _ := again.Resolved()
	if !bytes.Equal(first, second) {
		t.Fatalf("not a fixed point:\n%s", cmp.Diff(string(first), string(second)))
	}
	if c.Hash() != again.Hash() {
		t.Fatalf("hashes differ")
	}
	return first
}

func TestResolvedIsAFixedPoint(t *testing.T) {
	for _, text := range []string{"name: x", design, design + "sweep:\n  miner: [random, {name: distance-weighted, cutoff: 0.5}]\n  seed: [0, 1]\n",
		"name: x\noptimizer: {schedule: {name: step, every: 3, warmup: 1 epoch}}\ndata: {glyphs: {blur: 3/255}, split: {kind: class, train: 7}}",
		"name: \"007\"\ndata: {name: folder, root: \"a b: #c\\n\\u00e9\\x07\", test: \"null\", train: 'true'}"} {
		checkFixedPoint(t, mustLoad(t, text))
	}
}

func TestResolvedIsYAMLForOthers(t *testing.T) {
	text := checkFixedPoint(t, mustLoad(t, design+"sweep: {seed: [0, 1]}"))
	var doc map[string]any
	if err := yaml.Load(text, &doc); err != nil {
		t.Fatal(err)
	}
	if lr := doc["optimizer"].(map[string]any)["lr"]; lr != 0.001 {
		t.Errorf("lr reads as %v", lr)
	}
	if seeds := doc["sweep"].(map[string]any)["seed"]; !cmp.Equal(seeds, []any{0, 1}) {
		t.Errorf("seeds read as %v", seeds)
	}
}

func TestResolvedGolden(t *testing.T) {
	got, _ := mustLoad(t, design).Resolved()
	testutil.Golden(t, "testdata/resolved.yaml", got)
}

func TestTextsAndNumbersSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := Load("", []string{"data.name=folder", "data.root=x"})
		if err != nil {
			t.Fatalf("%v", err)
		}
		root := rapid.StringN(1, 20, -1).Draw(t, "root")
		margin := rapid.Float64Range(0, math.MaxFloat64).Draw(t, "margin")
		c.Data.Options = data.FolderOptions{Root: root, Train: rapid.String().Draw(t, "train"), Test: "t"}
		o := c.Loss.Options.(loss.TripletOptions)
		o.Margin = margin
		c.Loss.Options = o
		text, _ := c.Resolved()
		again, err := LoadBytes(text, "r.yaml", nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if got := again.Data.Options; got != c.Data.Options {
			t.Fatalf("got %q, want %q", got, c.Data.Options)
		}
		if got := again.Loss.Options.(loss.TripletOptions).Margin; math.Float64bits(got) != math.Float64bits(margin) {
			t.Fatalf("got %v, want %v", got, margin)
		}
	})
}

func TestStepsOf255StayFractions(t *testing.T) {
	for k := 1; k <= 255; k++ {
		x := float64(k) / 255
		n := &node{text: component.Number(x), plain: true}
		if got, err := parseNumber(n); err != nil || got != x {
			t.Errorf("%d/255 is written %s and read %v (%v)", k, n.text, got, err)
		}
	}
	if got := component.Number(77.0 / 255); got != "77/255" {
		t.Errorf("got %s", got)
	}
	if got := component.Number(51.0 / 255); got != "0.2" {
		t.Errorf("got %s", got)
	}
}

func TestHashSeesEveryKey(t *testing.T) {
	a, b := mustLoad(t, design), mustLoad(t, design, "eval.kmeans.n_init=11")
	if a.Hash() == b.Hash() || len(a.Hash()) != 12 {
		t.Errorf("hashes %s and %s", a.Hash(), b.Hash())
	}
}

func TestSweepIsTheProductInFileOrder(t *testing.T) {
	c := mustLoad(t, design+"sweep:\n  loss.margin: [0.2, 4/255]\n  optimizer.eps: [1e-8, 1e-6]\n  miner: [random, {name: distance-weighted, cutoff: 0.5}]\n")
	vs, err := c.Sweep()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range vs {
		names = append(names, v.Name)
	}
	want := []string{
		"margin-0.2_eps-1e-8_miner-random", "margin-0.2_eps-1e-8_miner-name-distance-weighted-cutoff-0.5",
		"margin-0.2_eps-1e-6_miner-random", "margin-0.2_eps-1e-6_miner-name-distance-weighted-cutoff-0.5",
		"margin-4-255_eps-1e-8_miner-random", "margin-4-255_eps-1e-8_miner-name-distance-weighted-cutoff-0.5",
		"margin-4-255_eps-1e-6_miner-random", "margin-4-255_eps-1e-6_miner-name-distance-weighted-cutoff-0.5"}
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
	v, err := c.Variant(vs[7])
	if err != nil {
		t.Fatal(err)
	}
	if v.Loss.Options.(loss.TripletOptions).Margin != 4.0/255 || v.Optimizer.Options.(optim.Adam).Eps != 1e-6 ||
		v.Miner.Options != (mine.DistanceKeys{Cutoff: 0.5}) || len(v.Axes) != 0 || v.Name != "mnist-hm-"+vs[7].Name {
		t.Errorf("got %+v", v)
	}
	checkFixedPoint(t, v)
}

func TestSweepNamesAreUnique(t *testing.T) {
	c := mustLoad(t, "name: x\nsweep:\n  seed: [1, 2]\n  data.glyphs.seed: [1, 2]\n  train.early_stop.metric: [retrieval.map@r, \"retrieval.map_r\"]\n")
	vs, err := c.Sweep()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, v := range vs {
		if seen[v.Name] {
			t.Errorf("%s twice", v.Name)
		}
		seen[v.Name] = true
		if _, err := c.Variant(v); err != nil {
			t.Error(err)
		}
	}
	if !seen["seed-2_glyphs.seed-1_metric-retrieval.map-r"] || !seen["seed-2_glyphs.seed-1_metric-retrieval.map-r_2"] {
		t.Errorf("names %v", vs)
	}
}

func TestSweepCanBeReplacedFromOutside(t *testing.T) {
	text := "name: x\nsweep: {seed: [0, 1], loss.margin: [1, 2]}\n"
	for set, want := range map[string]int{"sweep.seed=[5]": 2, "sweep=null": 1, "sweep.train.steps=[1, 2, 3]": 12} {
		vs, err := mustLoad(t, text, set).Sweep()
		if err != nil || len(vs) != want {
			t.Errorf("%s: %d runs instead of %d (%v)", set, len(vs), want, err)
		}
	}
}

func TestNoSweepIsOneRun(t *testing.T) {
	c := mustLoad(t, design)
	vs, err := c.Sweep()
	if err != nil || len(vs) != 1 || vs[0].Name != "" {
		t.Fatalf("got %v, %v", vs, err)
	}
	v, err := c.Variant(vs[0])
	if err != nil {
		t.Fatal(err)
	}
	a, _ := c.Resolved()
	b, _ := v.Resolved()
	if !bytes.Equal(a, b) {
		t.Error(cmp.Diff(string(a), string(b)))
	}
}

func TestTooManyRuns(t *testing.T) {
	list := func(n int) string {
		s := make([]string, n)
		for i := range s {
			s[i] = component.Number(float64(i + 1))
		}
		return "[" + strings.Join(s, ", ") + "]"
	}
	c := mustLoad(t, "name: x\nsweep:\n  seed: "+list(100)+"\n  loss.margin: "+list(100)+"\n  optimizer.lr: "+list(11)+"\n")
	if _, err := c.Sweep(); err == nil || !strings.Contains(err.Error(), "makes more than 100000 runs") {
		t.Errorf("got %v", err)
	}
	if _, err := LoadBytes([]byte("sweep: {seed: "+list(1001)+"}"), "f.yaml", nil); err == nil || !strings.Contains(err.Error(), "the limit is 1000") {
		t.Errorf("got %v", err)
	}
}

func TestSchemaGolden(t *testing.T) {
	got, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	testutil.Golden(t, "testdata/schema.json", got)
}

func FuzzConfig(f *testing.F) {
	// Short seeds: minimizing one takes time in the square of its length.
	for _, s := range []string{"model: c2f2\nminer: softhard", "name: x", "include: [a]", "a: &a [*a]", "sweep: {seed: [0, 1], miner: [random]}", "data: {glyphs: {blur: null}}", "train: {checkpoint_every: 1 step}", "loss: {margin: 1/3}", "name: \"\\u2028\""} {
		f.Add([]byte(s), "loss.margin=1")
		f.Add([]byte(s), "miner={name: distance-weighted}")
	}
	f.Fuzz(func(t *testing.T, data []byte, set string) {
		c, err := LoadBytes(data, "no/such/folder/f.yaml", []string{set})
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a text")
			}
			return
		}
		checkFixedPoint(t, c)
		if vs, err := c.Sweep(); err == nil {
			if _, err := c.Variant(vs[len(vs)-1]); err != nil {
				t.Logf("last variant: %v", err) // single values fit, this combination may not
			}
		}
	})
}

// An empty sweep clears those of the layers below, and what is laid on it later does
// not bring them back.
func TestAnEmptySweepClears(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("base.yaml", "sweep: {seed: [0, 1, 2], loss.margin: [0.1, 0.2]}\n")
	for _, tc := range []struct {
		text string
		sets []string
		runs int
	}{
		{"include: base.yaml\n", nil, 6},
		{"include: base.yaml\nsweep: {}\n", nil, 1},
		{"include: base.yaml\nsweep: null\n", nil, 1},
		{"include: base.yaml\nsweep: {seed: [4, 5]}\n", nil, 4}, // axis by axis
		{"include: base.yaml\n", []string{"sweep={}"}, 1},
		{"include: base.yaml\n", []string{"sweep=null"}, 1},
		{"include: base.yaml\n", []string{"sweep={}", "seed=7"}, 1},
		{"include: base.yaml\n", []string{"sweep={}", "sweep.seed=[7, 8]"}, 2},
		{"include: base.yaml\n", []string{"sweep=null", "sweep.seed=[7, 8]"}, 2},
		{"include: base.yaml\n", []string{"sweep=null", "sweep.seed=[7, 8]", "sweep.loss.margin=[0.3, 0.4]"}, 4},
		{"include: base.yaml\n", []string{"sweep.seed=[7, 8]", "sweep={}"}, 1},
		{"include: base.yaml\nsweep: {}\n", []string{"sweep.seed=[7, 8]"}, 2},
	} {
		c, err := Load(write("top.yaml", tc.text), tc.sets)
		if err != nil {
			t.Errorf("%q %q: %v", tc.text, tc.sets, err)
			continue
		}
		runs, err := c.Sweep()
		if err != nil || len(runs) != tc.runs {
			t.Errorf("%q %q: %d runs, want %d (%v)", tc.text, tc.sets, len(runs), tc.runs, err)
		}
	}
}
