package config

import (
	"strings"
	"testing"
)

// What cannot be searched, and what views, memories and schedules of validation images ask
// of the rest, is refused with its line and what to do.
func TestSearchMistakes(t *testing.T) {
	t.Parallel()
	const head = "name: x\ndata: {split: {validation: 0.2}}\nsearch:\n  space:\n"
	for _, c := range []struct{ text, want string }{
		{head + "    loss.margin: [uniform, 0.1, 0.5]", ""},
		{head + "    loss: [choice, triplet, margin]", ""},
		{head + "    loss.margin: [normal, 0.1, 0.5]", "f.yaml:5: search.space.loss.margin: must be [uniform, LOW, HIGH]"},
		{head + "    loss.margin: [uniform, 0.1]", "is [uniform, 0.1]"},
		{head + "    loss.margin: [uniform, 0.5, 0.1]", "LOW 0.5 is above HIGH 0.1"},
		{head + "    optimizer.lr: [log-uniform, 0, 0.1]", "above 0, and LOW is 0"},
		{head + "    batch.pairs: [integer, 2.5, 8]", "whole numbers"},
		{head + "    batch.pairs: [integer, low, 8]", "two numbers, not low and 8"},
		{head + "    batch.pairs: [integer, 1, 8]", "(with the search's batch.pairs=1)"},
		{head + "    loss.margn: [uniform, 0.1, 0.5]", "loss.margn: unknown key"},
		{head + "    seed: [integer, 0, 9]", "cannot be searched"},
		{head + "    data.split.validation: [uniform, 0, 0.5]", "cannot be searched"},
		{head + "    data.glyphs.difficulty: [uniform, 0, 1]", "cannot be searched"},
		{head + "    data: [choice, {name: glyphs}]", "cannot be searched"},
		{head + "    data.augment.flip: [choice, true, false]", ""},
		{head + "    train.early_stop.metric: [choice, retrieval.recall@1, clustering.nmi]", "cannot be searched"},
		{head + "    train: [choice, {eval_samples: 10}]", "cannot be searched"},
		{head + "    train.ema: [choice, 0, 0.9]", ""},
		{head + "    train.epochs: [integer, 2, 8]", ""},
		{head + "    train.epochs: [integer, 2, 8]\n  method: halving", "halving sets the length of its runs"},
		{head + "    loss.margin: [uniform, 0.1, 0.5]\nsweep: {loss.margin: [0.2, 0.3]}", "f.yaml:5: search.space.loss.margin: is in the sweep, too"},
		{"name: x\nsearch: {space: {loss.margin: [uniform, 0.1, 0.5]}}", "none are held out: set data.split.validation"},
		{head + "    loss.margin: [uniform, 0.1, 0.5]\nsweep: {seed: [0, 1]}", ""},
		{head + "    loss.margin: [uniform, 0.1, 0.5]\ntrain: {eval_every: 0}", "set train.eval_every"},
		{head + "    loss.margin: [uniform, 0.1, 0.5]\ntrain: {early_stop: {metric: retrieval.recall@1, on: test}}", "of test images"},
		{"name: x\nbatch: {views: 2}", "batch.views: views of an image differ by random changes"},
		{"name: x\nbatch: {sampler: triplet-list, views: 2}\ndata: {augment: {flip: true}}", "each image once"},
		{"name: x\nloss: {name: nt-xent, positives: views}", "loss.positives: views are those of an image"},
		{"name: x\nloss: {name: multi-similarity, memory: {size: 10}}", "multi-similarity takes every pair of a batch"},
		{"name: x\nloss: {name: supcon, memory: {size: 10}}", "supcon takes the labels of a batch"},
		{"name: x\nloss: {memory: {size: 10}}\ndefense: est", "that defense est perturbs"},
		{"name: x\nloss: {memory: {size: 10}}\nbatch: triplet-list", "sampler triplet-list gives"},
		{"name: x\nloss: {memory: {warmup: 10}}", "loss.memory.warmup: has no effect"},
		{"name: x\ntrain: {ema: 0.99999999}", "train.ema: must be >=0 and <=0.99999"}, // 1 in float32: the average would never move
		{"name: x\noptimizer: {schedule: plateau}", "plateau follows scores of validation images"},
		{"name: x\noptimizer: {schedule: {name: one-cycle, warmup: 3 epochs}}", "must be 0 with schedule one-cycle"},
	} {
		_, err := LoadBytes([]byte(c.text), "f.yaml", nil)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.text, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

// A value that is given for a searched key would be lost without a word.
func TestSearchedKeyIsGiven(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"loss.margin=0.3", "miner.margin=0.3"} {
		_, err := LoadBytes([]byte("name: x\ndata: {split: {validation: 0.2}}\nsearch: {space: {loss.margin: [uniform, 0.1, 0.5], miner: [choice, semihard, random]}}"), "f.yaml", []string{set})
		if err == nil || !strings.Contains(err.Error(), "is searched by this config") {
			t.Errorf("%s: %v", set, err)
		}
	}
}

// A trial's config is what a user would write without the search, and the resolved config
// reads back with it.
func TestSearchedVariant(t *testing.T) {
	t.Parallel()
	cfg, err := LoadBytes([]byte("name: x\ndata: {split: {validation: 0.2}}\nsearch: {trials: 3, space: {loss.margin: [uniform, 0.1, 0.5], miner.name: [choice, semihard, random]}}"), "f.yaml", []string{"search.space.optimizer.lr=[log-uniform, 1e-4, 1e-2]"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := cfg.Resolved()
	if err != nil {
		t.Fatal(err)
	}
	again, err := LoadBytes(text, "again.yaml", nil)
	if err != nil || again.Hash() != cfg.Hash() || len(again.Search.Space) != 3 {
		t.Fatalf("%v\n%s", err, text)
	}
	v, err := again.Variant(Variant{Name: "trial-000", Sets: []string{"loss.margin=0.25", "miner.name=random"}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := LoadBytes([]byte("name: x-trial-000\ndata: {split: {validation: 0.2}}\nloss: {margin: 0.25}\nminer: random"), "w.yaml", nil)
	if err != nil || v.Hash() != want.Hash() {
		t.Errorf("%v: %s, want %s", err, v.Hash(), want.Hash())
	}
}
