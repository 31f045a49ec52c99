package commands_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"tercet/internal/cli/clitest"
	"tercet/internal/config"
	"tercet/internal/record"
	"tercet/internal/record/printed"
)

const searched = `
name: s
data: {size: 16, glyphs: {classes: 20, per_class: 4, test_classes: 10}, split: {validation: 0.5}}
model: {name: mlp, width: 4}
batch: {pairs: 4}
train: {epochs: 2}
eval: {bootstrap: 0}
search: {method: halving, eta: 2, trials: 3, space: {optimizer.lr: [log-uniform, 1e-4, 1e-2], miner.name: [choice, semihard, random]}}
`

// A search trains its trials, promotes the best of each rung, and writes the config of the
// best of the last one. The same command with another number of jobs, after one trial was
// removed, gives the same file.
func TestTune(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.WriteFile(t, "s.yaml", searched)
	code, out, stderr := clitest.Run("tune", "s.yaml", "--json", "-q", "--optuna", "new/s.journal")
	var doc printed.Tuned
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	if len(doc.Runs) != 4 || doc.Runs[3].Rung != 1 || doc.Metric != "recall@1" || doc.Best == nil || *doc.Best != doc.Runs[3].Trial {
		t.Fatalf("%+v", doc)
	}
	best := 0
	for i, r := range doc.Runs[:3] {
		if r.Score == nil || r.Trial != i {
			t.Fatalf("%+v", r)
		}
		if *r.Score > *doc.Runs[best].Score {
			best = i
		}
	}
	if best != *doc.Best {
		t.Errorf("trial %d was promoted, and %d has the highest score: %+v", *doc.Best, best, doc.Runs)
	}
	text, err := os.ReadFile("runs/s-tuned.yaml")
	if err != nil || !strings.Contains(string(text), "the best of 3 trials (halving search, seed 0; 4 runs, 0 without a score)") {
		t.Errorf("%v\n%s", err, text)
	}
	chosen, err := config.Load("runs/s-tuned.yaml", nil)
	if err != nil || chosen.Train.Epochs != 2 || len(chosen.Search.Space) != 0 {
		t.Errorf("%v", err)
	}
	for _, r := range doc.Runs {
		if _, err := os.Stat(r.Run + "/eval.json"); err == nil {
			t.Errorf("%s: test images were evaluated", r.Run)
		}
	}
	journal, err := os.ReadFile("new/s.journal")
	if n := strings.Count(string(journal), "\n"); err != nil || n != 4 || strings.Count(string(journal), `"state":2`) != 2 {
		t.Errorf("%v: no study with one completed and two pruned trials\n%s", err, journal)
	}
	if err := os.RemoveAll(doc.Runs[1].Run); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := clitest.Run("tune", "s.yaml", "--jobs", "2"); code != 0 || !strings.Contains(stderr, "finished before; nothing to do") {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if again, err := os.ReadFile("runs/s-tuned.yaml"); err != nil || string(again) != string(text) {
		t.Errorf("another config: %v\n%s", err, again)
	}
}

// A trial that does not fit the data is one without a score; if none fits, that is the error.
func TestTuneLosesTrialsThatDoNotFit(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.WriteFile(t, "s.yaml", strings.NewReplacer("batch: {pairs: 4}", "batch: {sampler: class-pairs-distinct}", "miner.name: [choice, semihard, random]", "batch.pairs: [integer, 4, 18]").Replace(searched))
	code, out, notes := clitest.Run("tune", "s.yaml", "--json", "--set", "search.trials=6") // of 10 classes
	var doc printed.Tuned
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || doc.Best == nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, notes)
	}
	failed := 0
	for _, r := range doc.Runs {
		if unfit := r.Run == ""; unfit != (r.Score == nil) || unfit != (r.Status == record.Failed) {
			t.Errorf("%+v", r)
		} else if unfit {
			failed++
		}
	}
	if n := strings.Count(notes, "ask for at most 10 pairs"); failed == 0 || n != failed {
		t.Errorf("%d trials do not fit, %d are named: %s", failed, n, notes)
	}
	clitest.Refuse(t, 3, "tune s.yaml --set name=none --set 'search.space={batch.pairs: [choice, 16, 18]}'", "no trial of 3 has a score; narrow search.space: sampler class-pairs-distinct: 10 classes")
}

// What is no search, what would replace a file, and what only a search may train is refused.
func TestTuneRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.WriteFile(t, "s.yaml", searched)
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"tune s.yaml --set search.space=null", "search.space: names no key", 2},
		{"tune s.yaml --set data.split.validation=0", "set data.split.validation", 2},
		{"tune s.yaml --out s.yaml", "is not replaced", 2},
		{"tune s.yaml --optuna s.yaml", "lines that tune did not write", 2},
		{"tune s.yaml --jobs 0", "--jobs", 2},
		{"tune s.yaml --out s.yaml/x.yaml", "s.yaml is not a folder", 2},
		{"train s.yaml", "is for tercet tune", 2},
		{"tune s.yaml --set sweep.seed=[0,1]", "together with a search", 2},
		{"config check s.yaml", "", 0},
		{"tune s.yaml --list", "", 0},
	} {
		if code, _, stderr := clitest.Run(strings.Fields(c.args)...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d\n%s", c.args, code, stderr)
		}
	}
	out := clitest.Must(t, 0, "train s.yaml --set search.method=random --list --set sweep.seed=[0,1] --set search.trials=2")
	if out != "runs/s-seed-0_trial-000\nruns/s-seed-0_trial-001\nruns/s-seed-1_trial-000\nruns/s-seed-1_trial-001\n" {
		t.Error(out)
	}
	if _, err := os.Stat("runs"); err == nil {
		t.Error("something was trained")
	}
}
