package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/config"
	"tercet/internal/noise"
	"tercet/internal/run"
	"tercet/internal/testutil"
)

// noiseStudy are configs of one comparison: their runs differ in the keys of vary
// alone. A key of vary that ends in a dot stands for all keys of a section.
type noiseStudy struct {
	name  string
	files []string
	runs  int
	seeds int
	vary  []string
	// fixed are keys that must have this value in every run.
	fixed map[string]string
}

var noiseStudies = []noiseStudy{
	{"double descent", []string{"dibs/double-descent"}, 500, 5, []string{"batch.scenario", "noise.", "model.width"},
		map[string]string{"data.name": "mnist", "model.name": "mlp", "loss.name": "contrastive", "batch.negatives": "same-index", "batch.order": "shuffled", "batch.pairs": "2000", "eval.pairs": "9000", "eval.noisy_pairs": "false"}},
	{"double descent, 6,000 pairs", []string{"dibs/double-descent-6000"}, 162, 3, []string{"batch.scenario", "noise.", "model.width"},
		map[string]string{"batch.pairs": "6000", "eval.pairs": "9000", "batch.negatives": "same-index", "batch.order": "shuffled", "batch.size": "128"}},
	{"cosine", []string{"dibs/double-descent-cosine"}, 126, 3, []string{"batch.scenario", "noise.", "model.width"},
		map[string]string{"loss.name": "cosine", "loss.margin": "0.5", "batch.pairs": "2000"}},
	{"floor", []string{"dibs/floor-classes", "dibs/floor-noise", "dibs/floor-controls"}, 114, 3, []string{"batch.negatives", "noise.", "data.classes"},
		map[string]string{"batch.scenario": "s2", "batch.order": "shuffled"}},
	{"order", []string{"dibs/order"}, 20, 5, []string{"batch.order", "noise."},
		map[string]string{"batch.scenario": "s2", "noise.kind": "sln", "batch.negatives": "same-index"}},
	{"online, MNIST", []string{"dibs/online-mnist", "dibs/offline-mnist"}, 45, 5, []string{"batch.scenario", "batch.redraw", "data.distort.fresh", "noise."},
		map[string]string{"data.distort.strength": "0.5", "batch.pairs": "12000", "batch.size": "128", "train.steps": "3750", "optimizer.lr": "0.0001", "model.width": "200"}},
	{"online, glyphs", []string{"dibs/online-glyphs", "dibs/offline-glyphs"}, 45, 5, []string{"batch.scenario", "batch.redraw", "noise."},
		map[string]string{"data.distort.strength": "0", "data.split.kind": "fraction", "batch.pairs": "12000", "batch.size": "128", "train.steps": "3750", "optimizer.lr": "0.0001", "model.width": "200"}},
	{"CNN, cosine", []string{"dibs/cnn-cosine"}, 108, 3, []string{"batch.scenario", "noise.", "model.width"},
		map[string]string{"model.name": "cnn", "model.fc": `"2k"`, "loss.name": "cosine", "batch.pairs": "2000"}},
	{"CNN, contrastive", []string{"dibs/cnn-contrastive"}, 108, 3, []string{"batch.scenario", "noise.", "model.width"},
		map[string]string{"model.name": "cnn", "loss.name": "contrastive", "batch.pairs": "2000"}},
	{"CNN, floor", []string{"dibs/cnn-cosine-floor", "dibs/cnn-contrastive-floor"}, 10, 5, []string{"loss.", "model.fc"},
		map[string]string{"model.name": "cnn", "model.width": "8", "noise.kind": "pln", "noise.effective": "0.1", "batch.scenario": "s2", "batch.pairs": "500", "data.size": "14"}},
	{"CIFAR-10", []string{"dibs/cifar10"}, 54, 3, []string{"noise.", "model.width"}, map[string]string{"data.name": "cifar10", "batch.scenario": "s2"}},
	{"CNN, cosine, paper", []string{"dibs/paper/cnn-cosine"}, 108, 3, []string{"batch.scenario", "noise.", "model.width"},
		map[string]string{"model.name": "cnn", "batch.pairs": "6000", "train.epochs": "2000", "optimizer.lr": "0.0001"}},
	{"online, CNN", []string{"dibs/online-cnn-mnist", "dibs/offline-cnn-mnist"}, 36, 4, []string{"batch.scenario", "batch.redraw", "data.distort.fresh", "noise."},
		map[string]string{"model.name": "cnn", "model.width": "47", "model.fc": "k", "loss.name": "cosine", "optimizer.lr": "5.0e-05", "train.steps": "3750", "batch.pairs": "12000"}},
	{"online, cosine", []string{"dibs/online-cosine-mnist", "dibs/offline-cosine-mnist"}, 45, 5, []string{"batch.scenario", "batch.redraw", "data.distort.fresh", "noise."},
		map[string]string{"model.name": "mlp", "model.width": "200", "loss.name": "cosine", "optimizer.lr": "0.0001", "train.steps": "3750"}},
	{"replacement", []string{"dibs/replacement"}, 30, 5, []string{"batch.replacement", "noise."}, map[string]string{"batch.scenario": "s2", "model.width": "128"}},
	{"last ReLU", []string{"dibs/final-relu"}, 60, 3, []string{"model.final_relu", "model.width", "noise."}, map[string]string{"batch.scenario": "s2"}},
	{"two classes", []string{"dibs/corollary"}, 20, 5, []string{"noise."}, map[string]string{"data.classes": "2", "batch.pairs": "6000", "noise.kind": "pln"}},
	{"density", []string{"dibs/density"}, 54, 3, []string{"data.limit_per_class", "noise."}, map[string]string{"batch.pairs": "1600", "batch.scenario": "s1"}},
	{"noise of the appendix", []string{"noise-robust/appendix-plain", "noise-robust/appendix-product", "noise-robust/appendix-backward", "noise-robust/appendix-odd", "noise-robust/appendix-sigmoid"}, 100, 5, []string{"loss.", "noise."},
		map[string]string{"noise.kind": "pln", "loss.margin": "0.2", "loss.distance": "squared"}},
	{"two classes with a prior", []string{"noise-robust/two-classes-plain", "noise-robust/two-classes-product", "noise-robust/two-classes-sigmoid"}, 120, 5, []string{"loss.", "noise.", "batch.prior"},
		map[string]string{"noise.kind": "pln", "data.classes": "2"}},
	{"L3 of pairs, MNIST", []string{"clustering/mnist-l3", "clustering/mnist-l3-pairs"}, 36, 3, []string{"loss.pairing", "miner.", "noise.rate"},
		map[string]string{"loss.name": "triplet-threshold", "loss.alpha": "1.5", "loss.beta": "0.5"}},
	{"L3 of pairs, CIFAR-10", []string{"clustering/cifar10-l3", "clustering/cifar10-l3-pairs"}, 36, 3, []string{"loss.pairing", "miner.", "noise.rate"},
		map[string]string{"loss.name": "triplet-threshold", "loss.alpha": "1.5", "loss.beta": "0.5"}},
	{"tuned margins, MNIST", []string{"clustering/mnist-tune"}, 162, 3, []string{"loss.", "noise.rate"}, map[string]string{"loss.reducer": "sum", "data.split.validation": "0.1"}},
	{"tuned margins, CIFAR-10", []string{"clustering/cifar10-tune"}, 162, 3, []string{"loss.", "noise.rate"}, map[string]string{"loss.reducer": "sum", "data.split.validation": "0.1"}},
	{"double descent, paper", []string{"dibs/paper/double-descent"}, 1500, 15, []string{"batch.scenario", "noise.", "model.width"},
		map[string]string{"batch.pairs": "6000", "eval.pairs": "9000", "train.epochs": "2000", "optimizer.name": "adam", "optimizer.lr": "0.0001", "batch.size": "128"}},
	{"cosine, paper", []string{"dibs/paper/double-descent-cosine"}, 630, 15, []string{"batch.scenario", "noise.", "model.width"},
		map[string]string{"loss.name": "cosine", "batch.pairs": "6000", "train.epochs": "2000"}},
	{"floor, paper", []string{"dibs/paper/floor-classes", "dibs/paper/floor-noise", "dibs/paper/floor-controls"}, 360, 10, []string{"batch.negatives", "noise.", "data.classes"},
		map[string]string{"batch.pairs": "6000", "model.width": "500", "train.epochs": "2000"}},
	{"order, paper", []string{"dibs/paper/order"}, 20, 5, []string{"batch.order", "noise."}, map[string]string{"batch.pairs": "6000"}},
	{"noise-robust losses", []string{"noise-robust/plain", "noise-robust/product", "noise-robust/joint", "noise-robust/backward", "noise-robust/odd", "noise-robust/sigmoid"}, 210, 5, []string{"loss.", "noise."},
		map[string]string{"loss.margin": "0.2", "loss.distance": "squared", "loss.reducer": "mean", "model.normalize": "true"}},
	{"noise that is found", []string{"noise-robust/joint", "noise-robust/found"}, 50, 5, []string{"noise."},
		map[string]string{"loss.weights": "joint", "loss.form": "expected"}},
	{"attacks on plain and robust", []string{"noise-robust/attack-none", "noise-robust/attack-robust"}, 30, 3, []string{"loss.", "noise.rate"},
		map[string]string{"loss.distance": "euclidean", "loss.margin": "0.2", "noise.kind": "sln", "defense.name": "none"}},
	{"attacks on defended", []string{"noise-robust/attack-none", "noise-robust/attack-hm"}, 24, 3, []string{"defense.", "noise.rate"},
		map[string]string{"noise.kind": "sln", "miner.name": "random"}},
	{"clusters, MNIST", []string{"clustering/mnist-l1", "noise-robust/clustering-mnist"}, 36, 3, []string{"loss.", "noise.rate"},
		map[string]string{"loss.margin": "1.5", "loss.distance": "squared", "loss.reducer": "sum"}},
	{"clusters, CIFAR-10", []string{"clustering/cifar10-l1", "noise-robust/clustering-cifar10"}, 36, 3, []string{"loss.", "noise.rate"},
		map[string]string{"loss.margin": "1.5", "loss.distance": "squared", "loss.reducer": "sum"}},
}

func (s noiseStudy) varies(key string) bool {
	return key == "name" || key == "seed" || slices.ContainsFunc(s.vary, func(v string) bool {
		return key == v || strings.HasSuffix(v, ".") && strings.HasPrefix(key, v)
	})
}

// noiseRuns are the runs of a config, each with its resolved keys.
func noiseRuns(t *testing.T, name string) ([]*config.Config, []map[string]string) {
	t.Helper()
	cfg, err := config.Load(filepath.Join("../../configs", name+".yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := run.Variants(cfg)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	keys := make([]map[string]string, len(runs))
	for i, c := range runs {
		if !strings.HasPrefix(c.Name, cfg.Name+"-") {
			t.Errorf("%s: a run is called %s", name, c.Name)
		}
		keys[i] = map[string]string{}
		for _, l := range c.Origins() {
			if section, _, _ := strings.Cut(l.Key, "."); section != "sweep" {
				keys[i][l.Key] = l.Value
			}
		}
	}
	return runs, keys
}

// condition is a run but for its seed and its name.
func condition(keys map[string]string) string {
	var parts []string
	for k, v := range keys {
		if k != "seed" && k != "name" {
			parts = append(parts, k+"="+v)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// Each comparison of the studies of noise is of runs that differ in what is compared,
// the noise and the seed alone, and every point has all its seeds.
func TestNoiseConfigs(t *testing.T) {
	t.Parallel()
	for _, s := range noiseStudies {
		t.Run(s.name, func(t *testing.T) {
			if testutil.Trials(0, 1) == 0 && strings.HasSuffix(s.name, "paper") {
				t.Skip("thousands of runs")
			}
			common, names, seeds, total := map[string]string{}, map[string]bool{}, map[string]map[string]bool{}, 0
			for _, file := range s.files {
				runs, keys := noiseRuns(t, file)
				total += len(runs)
				for i, c := range runs {
					if names[c.Name] {
						t.Errorf("the name %s is listed twice", c.Name)
					}
					names[c.Name] = true
					for k, v := range keys[i] {
						if want, ok := s.fixed[k]; ok && v != want {
							t.Errorf("%s: %s is %s, want %s", c.Name, k, v, want)
						}
						if s.varies(k) {
							continue
						}
						if was, ok := common[k]; ok && was != v {
							t.Errorf("%s: %s is %s, elsewhere %s", c.Name, k, v, was)
						}
						common[k] = v
					}
					at := condition(keys[i])
					if seeds[at] == nil {
						seeds[at] = map[string]bool{}
					}
					seeds[at][keys[i]["seed"]] = true
				}
				for k := range s.fixed {
					section, _, _ := strings.Cut(k, ".")
					if _, ok := keys[0][k]; !ok && section != "loss" && section != "noise" {
						t.Errorf("%s has no %s", file, k)
					}
				}
			}
			if total != s.runs {
				t.Errorf("%d runs, want %d", total, s.runs)
			}
			for at, n := range seeds {
				if len(n) < s.seeds {
					t.Errorf("%d seeds, want %d: %s", len(n), s.seeds, at)
				}
			}
		})
	}
}

// The losses that are compared under noise meet the same noise with the same seeds, and
// each differs from the others.
func TestNoiseRobustCases(t *testing.T) {
	var first []string
	losses := map[string]string{}
	for _, name := range noiseStudies[slices.IndexFunc(noiseStudies, func(s noiseStudy) bool { return s.name == "noise-robust losses" })].files {
		_, keys := noiseRuns(t, name)
		var cases []string
		loss := ""
		for _, k := range keys {
			kinds := map[string]string{"seed": k["seed"]}
			lossKeys := map[string]string{}
			for key, v := range k {
				switch section, _, _ := strings.Cut(key, "."); section {
				case "noise":
					kinds[key] = v
				case "loss":
					lossKeys[key] = v
				}
			}
			cases = append(cases, k["seed"]+" "+condition(kinds))
			if now := condition(lossKeys); loss == "" {
				loss = now
			} else if loss != now {
				t.Errorf("%s: its loss changes: %s", name, now)
			}
		}
		if first == nil {
			first = cases
		}
		if !slices.Equal(cases, first) {
			t.Errorf("%s meets other noise than the first:\n%q\n%q", name, cases, first)
		}
		if other := losses[loss]; other != "" {
			t.Errorf("%s and %s have one loss", name, other)
		}
		losses[loss] = name
	}
}

// Online and offline training show as many pairs in as many steps as the paper's: 480,000
// in 3,750 of 128.
func TestOnlineSizes(t *testing.T) {
	for _, name := range []string{"dibs/online-mnist", "dibs/offline-mnist", "dibs/online-glyphs", "dibs/offline-glyphs"} {
		runs, keys := noiseRuns(t, name)
		for i, c := range runs {
			b := c.Batch.Options.(noise.PairGraph)
			if c.Train.Steps*b.Size != 480000 || b.Pairs != 12000 {
				t.Errorf("%s: %d steps of %d pairs of %d", c.Name, c.Train.Steps, b.Size, b.Pairs)
			}
			online := strings.Contains(name, "online")
			if b.Redraw != online || online && b.Scenario != "s1" {
				t.Errorf("%s: redraw %v, scenario %s", c.Name, b.Redraw, b.Scenario)
			}
			if fresh := keys[i]["data.distort.fresh"]; strings.Contains(name, "mnist") && (fresh == "true") != online {
				t.Errorf("%s: data.distort.fresh is %s", c.Name, fresh)
			}
		}
	}
}
