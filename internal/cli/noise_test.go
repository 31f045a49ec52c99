package cli_test

import (
	"os"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/record/printed"
)

const graphFlags = " --set data.glyphs.classes=6 --set data.glyphs.test_classes=3 --set data.glyphs.per_class=10" +
	" --set batch.sampler=pair-graph --set batch.pairs=60 --set loss=contrastive"

// Rates wanted and found, in words and in the document, of every kind.
func TestInspectShowsNoise(t *testing.T) {
	for _, tc := range []struct{ line, kind, said string }{
		{clitest.FewGlyphs + " --noise sln,effective=0.1", "sln", "noise: sln: "},
		{clitest.FewGlyphs + " --noise pair-flip,rate=0.5,seed=3", "pair-flip", "noise: pair-flip: "},
		{graphFlags + " --noise pln,effective=0.25", "pln", "noise: pln: "},
	} {
		var doc printed.Inspected
		clitest.RunJSON(t, "data inspect --json"+tc.line, &doc)
		if doc.Noise == nil || doc.Noise.Kind != tc.kind || doc.Noise.Wanted <= 0 || doc.Noise.Items == 0 {
			t.Errorf("%s: %+v", tc.line, doc.Noise)
		}
		code, out, stderr := clitest.Run(strings.Fields("data inspect" + tc.line)...)
		if code != 0 || !strings.Contains(out, tc.said) || !strings.Contains(out, "(target ") {
			t.Errorf("%s: %d, %s%s", tc.line, code, out, stderr)
		}
	}
	var doc printed.Inspected
	clitest.RunJSON(t, "data inspect --json"+graphFlags+" --noise pln,effective=0.25", &doc)
	if g := doc.Graph; g == nil || g.Pairs != 60 || g.Scenario != "s2" || doc.Noise.Effective != 0.25 {
		t.Errorf("%+v", g)
	}
	code, out, _ := clitest.Run(strings.Fields("data inspect" + graphFlags)...)
	if code != 0 || !strings.Contains(out, "pair graph, epoch 0: 60 pairs (30 similar, 30 different) of 30 images, scenario s2") {
		t.Errorf("%d, %s", code, out)
	}
	code, out, _ = clitest.Run("data", "inspect", "--set", "data.glyphs.classes=6", "--set", "data.glyphs.per_class=4", "--set", "batch={sampler: triplet-list, triplets: 50}", "--noise", "{kind: triplet-flip, rate: 1}")
	if code != 0 || !strings.Contains(out, "triplets, epoch 0: 50 triplets") || !strings.Contains(out, "50 exchanged (1.0000, target 1.0000)") {
		t.Errorf("%d, %s", code, out)
	}
	code, out, _ = clitest.Run("data", "inspect", "--set", "data.glyphs.classes=6", "--set", "data.glyphs.per_class=4", "--set", "batch={sampler: triplet-list, triplets: 50}", "--noise", "pln,effective=0.2")
	if code != 0 || !strings.Contains(out, "of 100 pairs have the other label") || !strings.Contains(out, "(target 0.2)") || !strings.Contains(out, "labels of their pairs wrong") {
		t.Errorf("%d %s", code, out)
	}
	for line, want := range map[string]string{
		"data inspect --noise slm":                                    `unknown noise "slm"; did you mean sln?`,
		"data inspect --noise sln,effective=0.7":                      "noise.effective: must be >=0 and <=0.5, is 0.7",
		"data inspect --noise pln":                                    "pln perturbs the labels of given pairs",
		"data inspect --noise sln --embeddings x.npy --labels y.npy ": "cannot be combined",
	} {
		if code, _, stderr := clitest.Run(strings.Fields(line)...); code != base.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %s", line, code, stderr)
		}
	}
}

// A run on pairs from beginning to end: plan, training, evaluation, noise rate.
func TestRunOnPairs(t *testing.T) {
	t.Chdir(t.TempDir())
	config := "name: p\ndata: {name: glyphs, size: 16, glyphs: {classes: 6, per_class: 40, test_classes: 3}, split: {kind: fraction, train: 0.5}, classes: 2}\n" +
		"noise: {kind: pln, effective: 0.2}\nmodel: {name: mlp, width: 8, normalize: false}\nbatch: {sampler: pair-graph, scenario: full, size: 16}\n" +
		"loss: contrastive\ntrain: {epochs: 2}\neval: {pairs: 40, bootstrap: 0, kmeans: {n_init: 1}}\n"
	if err := os.WriteFile("p.yaml", []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := clitest.Must(t, 0, "train -c p.yaml --dry-run"); !strings.Contains(out, "32 images (5 an epoch)") {
		t.Error(out)
	}
	clitest.Must(t, 0, "train -c p.yaml")
	doc := clitest.Document(t, "eval --run runs/p --no-pictures")
	if doc["pairs"] == nil || doc["retrieval"] == nil {
		t.Errorf("%v", doc)
	}
	clitest.Must(t, 0, "eval --run runs/p --no-pictures --fail-under accuracy=0")
	found := clitest.Document(t, "noise --run runs/p")
	if found["schema"] != "tercet.noise/1" || found["of"] != "pairs" || found["truth"] == nil {
		t.Errorf("%v", found)
	}
	if out := clitest.Must(t, 0, "noise --run runs/p"); !strings.Contains(out, "contradictions") || !strings.Contains(out, "truth (pln)") {
		t.Error(out)
	}
	clitest.Must(t, 0, "train -c p.yaml --set name=r --set noise=sln --set batch.sampler=class-pairs --set batch.pairs=4 --set loss=triplet-robust --set loss.noise_from=runs/p/noise.json --dry-run")
	clitest.Refuse(t, base.ExitUsage, "noise --run runs/p --k 1", "unknown flag: --k; it is a flag of tercet attack, tercet eval and tercet search (flags: tercet noise --help)")
	clitest.Refuse(t, base.ExitUsage, "noise", "give --run")
	clitest.Refuse(t, base.ExitUsage, "noise --run runs/p --checkpoint first", "give last, best or step-N")
	clitest.Refuse(t, base.ExitUsage, "noise --run runs/p --format pdf", "pdf")
	for flag, old := range map[string]string{"": "--noise-rate is now a command: tercet noise --run RUN", "--quiet ": ""} {
		code, out, stderr := clitest.Run(strings.Fields(flag + "eval --run runs/p --noise-rate --no-pictures --json")...)
		if code != 0 || !strings.Contains(out, "tercet.noise/1") || strings.TrimSpace(stderr) != old {
			t.Errorf("%d, %q\n%s", code, stderr, out)
		}
	}
}
