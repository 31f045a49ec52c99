package config

import (
	"strings"
	"testing"

	"tercet/internal/engine/loss"
	"tercet/internal/noise"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/component"
)

const onGraph = "batch: {sampler: pair-graph}\nloss: contrastive\n"

func TestTupleRules(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"triplet loss on pairs":      {"batch: pair-graph", "loss.name: sampler pair-graph gives pairs, and triplet needs triplets"},
		"pairs for triplets":         {"batch: {sampler: triplet-list}\nloss: cosine", "f.yaml:2: loss.name: sampler triplet-list gives triplets, and cosine needs pairs: set loss: triplet"},
		"robust loss on pairs":       {"batch: {sampler: pair-graph}\nloss: triplet-robust", "f.yaml:2: loss.name: sampler pair-graph gives pairs, and triplet-robust needs triplets: set loss: contrastive or cosine"},
		"pairing of triplets":        {"batch: {sampler: pair-graph}\nloss: triplet-threshold", "loss.pairing: sampler pair-graph gives pairs: set loss.pairing: pairs"},
		"pairing of pairs":           {"batch: {sampler: triplet-list}\nloss: {name: triplet-threshold, pairing: pairs}", "f.yaml:2: loss.pairing: sampler triplet-list gives triplets: set loss.pairing: triplets"},
		"labels of given pairs":      {"batch: {sampler: pair-graph}\nloss: supcon", "f.yaml:2: loss.name: sampler pair-graph gives pairs, and supcon needs labels: set loss: contrastive or cosine"},
		"proxies of given triplets":  {"batch: {sampler: triplet-list}\nloss: proxy-anchor", "f.yaml:2: loss.name: sampler triplet-list gives triplets, and proxy-anchor needs labels: set loss: triplet"},
		"a miner of labels":          {"loss: arcface\nminer: random", "f.yaml:2: miner.name: loss arcface takes the labels of a batch, so no miner is used: remove miner"},
		"a defense of labels":        {"loss: circle\ndefense: minmax", "f.yaml:2: defense.name: minmax perturbs triplets, but loss circle trains on labels"},
		"classes of given triplets":  {"batch: triplet-list\nloss: margin", "loss.learn: needs the labels of images, and sampler triplet-list gives triplets without: set loss.learn: global, or batch.sampler: class-pairs"},
		"classes of a defense":       {"loss: margin\ndefense: minmax", "loss.learn: needs the labels of images, and defense minmax trains on its own triplets: set loss.learn: global"},
		"a miner of given pairs":     {onGraph + "miner: hardest", "f.yaml:3: miner.name: sampler pair-graph gives its pairs, so no miner is used: remove miner"},
		"a miner of all pairs":       {"loss: contrastive\nminer: random", "f.yaml:2: miner.name: loss contrastive takes every pair of a batch"},
		"a defense of triplets":      {onGraph + "defense: minmax", "f.yaml:3: defense.name: minmax perturbs triplets, but loss contrastive trains on pairs"},
		"hm with given triplets":     {"batch: triplet-list\ndefense: hm", "defense.name: hm samples its own triplets"},
		"an odd number of pairs":     {"batch: {sampler: pair-graph, pairs: 7}\nloss: cosine", "f.yaml:1: batch.pairs: must be even, half similar and half different, is 7"},
		"no pairs":                   {"batch: {sampler: pair-graph, pairs: 0, scenario: s1}\nloss: cosine", "f.yaml:1: batch.pairs: must be set for scenario s1"},
		"no triplets":                {"batch: {sampler: triplet-list, triplets: 0}", "f.yaml:1: batch.triplets: must be >=1 and <=100000000, is 0"},
		"odd test pairs":             {"eval: {pairs: 9001}", "f.yaml:1: eval.pairs: must be even, half similar and half different, is 9001"},
		"noisy pairs without noise":  {onGraph + "eval: {noisy_pairs: true}", "f.yaml:3: eval.noisy_pairs: puts the noise of pairs on test pairs too, and there is none: set noise.kind: pln"},
		"noisy pairs of triplets":    {"batch: triplet-list\nnoise: pln\neval: {noisy_pairs: true}", "f.yaml:3: eval.noisy_pairs: test pairs are evaluated where pairs are trained on"},
		"pair noise without pairs":   {"noise: pln", "noise.kind: pln perturbs the labels of given pairs: set batch.sampler: pair-graph, or triplet-list"},
		"flips without triplets":     {"noise: triplet-flip", "noise.kind: triplet-flip exchanges positive and negative of given triplets: set batch.sampler: triplet-list"},
		"flips of pairs":             {onGraph + "noise: {kind: triplet-flip}", "f.yaml:3: noise.kind: triplet-flip"},
		"effective above a half":     {"noise: {kind: sln, effective: 0.6}", "f.yaml:1: noise.effective: must be >=0 and <=0.5, is 0.6"},
		"q above 1":                  {onGraph + "noise: {kind: pln, q: 1.5}", "f.yaml:3: noise.q: must be >=0 and <=1, is 1.5"},
		"rate below 0":               {"noise: {kind: pair-flip, rate: -0.1}", "f.yaml:1: noise.rate: must be >=0 and <=1, is -0.1"},
		"two amounts":                {"noise: {kind: sln, rate: 0.1, q: 0.2}", "f.yaml:1: noise.kind: set exactly one of noise.rate, noise.q and noise.effective"},
		"no amount":                  {onGraph + "noise: {kind: pln, q: null}", "f.yaml:3: noise.kind: set exactly one of noise.q, noise.effective, and noise.beta with noise.gamma"},
		"no matrix":                  {"noise: confusion", "noise.matrix: must be set: a CSV file"},
		"one class":                  {"data: {classes: 1}", "f.yaml:1: data.classes: is 1: nothing is different"},
		"fresh maps of nothing":      {"data: {distort: {fresh: true}}", "f.yaml:1: data.distort.fresh: draws no maps at a strength of 0"},
		"pair accuracy elsewhere":    {"train: {early_stop: {metric: pair_accuracy}}", "f.yaml:1: train.early_stop.metric: pair_accuracy is measured on runs that train on pairs"},
		"pair accuracy of no pairs":  {onGraph + "eval: {pairs: 0}\ntrain: {early_stop: {metric: pair_accuracy}}", "f.yaml:4: train.early_stop.metric: pair_accuracy is measured on held-out pairs: set eval.pairs"},
		"half of beta and gamma":     {"loss: {name: triplet-robust, beta: 0.9}", "f.yaml:1: loss.beta: beta and gamma must be set together"},
		"no signal":                  {"loss: {name: triplet-robust, beta: 0.4, gamma: 0.6}", "f.yaml:1: loss.beta: beta + gamma is 1: at 1 the triplets carry no information"},
		"beta beyond 1":              {"loss: {name: triplet-robust, beta: 1.1, gamma: 1}", "f.yaml:1: loss.beta: must be >0 and <=1, is 1.1"},
		"gamma of 0":                 {"loss: {name: triplet-robust, beta: 1, gamma: 0}", "f.yaml:1: loss.gamma: must be >0 and <=1, is 0"},
		"a word for beta":            {"loss: {name: triplet-robust, beta: most, gamma: auto}", `f.yaml:1: loss.beta: must be auto or a number such as 0.9, got "most"`},
		"rho of a half":              {"loss: {name: triplet-robust, rho: 0.5}", "f.yaml:1: loss.rho: must be >=0 and <0.5, is 0.5"},
		"rho and beta":               {"loss: {name: triplet-robust, rho: 0.1, beta: 1, gamma: 1}", "f.yaml:1: loss.rho: is another way to say what beta and gamma say"},
		"a file and beta":            {"loss: {name: triplet-robust, noise_from: x, beta: 1, gamma: 1}", "f.yaml:1: loss.noise_from: is read for beta and gamma that are auto"},
		"auto of a matrix":           {"loss: triplet-robust\nnoise: {kind: pair-flip}", "loss.beta: auto does not follow from noise pair-flip"},
		"a coin for each label":      {"batch: triplet-list\nloss: triplet-robust\nnoise: {kind: pln, q: 1}", "loss.beta: beta + gamma is 1 under noise pln: triplets carry no information about classes"},
		"labels drawn at random":     {"loss: {name: triplet-robust, weights: product}\nnoise: {kind: sln, q: 1}", "loss.beta: beta + gamma is 1 under noise sln"},
		"no amount, and its weights": {"batch: triplet-list\nloss: triplet-robust\nnoise: {kind: pln, q: null}", "noise.kind: set exactly one of noise.q, noise.effective, and noise.beta with noise.gamma"},
		"backward without a bound":   {"loss: {name: triplet-robust, form: backward}\nmodel: {normalize: false}", "f.yaml:1: loss.form: backward has no lowest value"},
		"odd without a bound":        {"loss: {name: triplet-robust, form: odd}\nmodel: {normalize: false}", "f.yaml:1: loss.form: odd has no lowest value"},
		"contrastive without margin": {"loss: {name: contrastive, margin: 0}", "f.yaml:1: loss.margin: must be >0, is 0"},
		"cosine beyond 1":            {"loss: {name: cosine, margin: 1}", "f.yaml:1: loss.margin: must be >=-1 and <1, is 1"},
	} {
		_, err := LoadBytes([]byte(tc.text), "f.yaml", nil)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got  %v\nwant %s", name, err, tc.want)
		}
	}
}

func TestTuplesThatFit(t *testing.T) {
	for _, text := range []string{
		onGraph, onGraph + "defense: est", onGraph + "noise: {kind: pln, effective: 0.1}\neval: {noisy_pairs: true}",
		onGraph + "train: {early_stop: {metric: pair_train_accuracy}}", onGraph + "noise: {kind: sln, q: 1}",
		"batch: {sampler: pair-graph, scenario: full, pairs: 0}\nloss: {name: triplet-threshold, pairing: pairs}",
		"batch: triplet-list\nloss: triplet-robust\nnoise: {kind: triplet-flip, rate: 0.3}", "batch: triplet-list\ndefense: act",
		"batch: triplet-list\nloss: triplet-robust\nnoise: {kind: pln, effective: 0.1}",
		"loss: cosine", "loss: {name: triplet-robust, rho: 0.2}\nnoise: {kind: pair-flip}", "loss: {name: triplet-robust, form: backward, beta: 0.9, gamma: 1}",
	} {
		checkFixedPoint(t, mustLoad(t, text))
	}
}

// One of rate, q and effective is set; the one of a later layer replaces the others.
func TestAmountsOfNoise(t *testing.T) {
	of := func(sets ...string) noise.SymmetricKeys {
		return mustLoad(t, "noise: sln", sets...).Noise.Options.(noise.SymmetricKeys)
	}
	for _, tc := range []struct {
		sets []string
		want noise.SymmetricKeys
	}{
		{nil, noise.SymmetricKeys{Rate: new(0.2)}},
		{[]string{"noise.effective=0.1"}, noise.SymmetricKeys{Effective: new(0.1)}},
		{[]string{"noise={kind: sln, q: 0.3}"}, noise.SymmetricKeys{Q: new(0.3)}},
	} {
		if d := cmp.Diff(tc.want, of(tc.sets...)); d != "" {
			t.Errorf("%v: %s", tc.sets, d)
		}
	}
	text, _ := mustLoad(t, "noise: {kind: sln, q: 0.3}").Resolved()
	again, err := LoadBytes(text, "resolved.yaml", []string{"noise.effective=0.2"})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(noise.SymmetricKeys{Effective: new(0.2)}, again.Noise.Options); d != "" {
		t.Error(d)
	}
}

// Resolved configs of earlier versions have none of the newer keys and load as they
// were meant.
func TestOlderResolvedConfigs(t *testing.T) {
	c := mustLoad(t, "name: x\nnoise:\n  kind: sln\n  rate: 0.3\n  seed: null\n")
	if d := cmp.Diff(noise.SymmetricKeys{Rate: new(0.3)}, c.Noise.Options); d != "" {
		t.Error(d)
	}
	if c.Data.Distort != (Distort{}) || c.Data.Classes != 0 {
		t.Errorf("%+v", c.Data)
	}
}

func TestListsAreSeenWhole(t *testing.T) {
	if c := mustLoad(t, onGraph); c.Batch.DropLast {
		t.Error("a pair graph's last pairs are dropped")
	}
	if c := mustLoad(t, "batch: {sampler: pair-graph, drop_last: true}\nloss: cosine\n"); !c.Batch.DropLast {
		t.Error("drop_last: true was not kept")
	}
}

func TestAutoOrNumber(t *testing.T) {
	c := mustLoad(t, "loss: {name: triplet-robust, beta: auto, gamma: auto}", "loss.beta=0.9", "loss.gamma=49/50")
	if o := c.Loss.Options.(loss.RobustOptions); o.Beta != (component.Auto{Given: true, N: 0.9}) || o.Gamma != (component.Auto{Given: true, N: 0.98}) {
		t.Errorf("%+v", o)
	}
	checkFixedPoint(t, c)
}
