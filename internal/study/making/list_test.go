package making

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
	"tercet/internal/study"
)

const choosing = `title: x
run:
  - name: clean
    configs: ["a.yaml sweep.seed=[0,1]"]
  - name: noise
    like: clean
    chosen: best
    override: ["name=noise-{config.name}", noise.kind=sln, noise.rate=0.2]
    then: [{run: "eval --run {run}"}]
  - name: attack
    like: clean
    chosen: best
    then: [{run: "attack --run {run}"}]
tables:
  - name: best
    title: x
    observe: {status: finished, results: [eval]}
    fields: [{name: margin, from: config.loss.margin}]
    scores: [{name: held_out, from: "eval-validation.json#retrieval.recall@1.value"}]
    rows: [margin]
    best: {by: held_out, names: "{margin}"}
    columns: [margin, held_out]
`

// A step makes the runs again that each seed of another one chose by its held-out score, with
// its overrides, and only when all of these have ended.
func TestPlanOfChosen(t *testing.T) {
	t.Chdir(t.TempDir())
	rundirtest.Put(t, ".", "a.yaml", "name: x\ndata: {name: glyphs}\nmodel: {name: cnn}\nbatch: {sampler: class-pairs, pairs: 8}\nloss: {name: triplet}\nsweep: {loss.margin: [0.1, 0.2, 0.3]}\n")
	s, err := study.Read([]byte(choosing), "x.yaml", "x")
	if err != nil {
		t.Fatal(err)
	}
	finish := func(margin string, seed int, status string, results ...string) {
		dir := fmt.Sprintf("runs/x-margin-%s_seed-%d", margin, seed)
		rundirtest.Put(t, dir, "manifest.json", rundirtest.Manifest(seed, status, 100))
		for i := 0; i+1 < len(results); i += 2 {
			rundirtest.Put(t, dir, results[i], results[i+1])
		}
	}
	for _, r := range []struct {
		margin  string
		seed    int
		heldOut float64
	}{{"0.1", 0, 0.5}, {"0.2", 0, 0.7}, {"0.3", 0, 0.6}, {"0.1", 1, 0.9}, {"0.2", 1, 0.8}} {
		heldOut := rundirtest.Replaced(rundirtest.EvalFile(r.heldOut, 0.1), `"set": "test"`, `"set": "validation"`)
		finish(r.margin, r.seed, "finished", "eval.json", rundirtest.EvalFile(1-r.heldOut, 0.1), "eval-validation.json", heldOut) // the test scores would choose others
	}
	_, err = Plan(s, []string{"noise"}, "runs", nil)
	if !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), "1 of its 6 runs have not ended; run step clean first") {
		t.Fatalf("%v", err)
	}
	finish("0.3", 1, "diverged") // has no score, and is not chosen
	steps, err := Plan(s, []string{"noise", "attack"}, "runs", nil)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, step := range steps {
		for _, task := range step.Tasks {
			for _, c := range task.Commands {
				lines = append(lines, strings.Join(c.Args, " "))
			}
		}
	}
	got := strings.Join(lines, "\n")
	if len(steps[0].Runs) != 2 || len(steps[1].Runs) != 2 {
		t.Fatalf("%d and %d runs\n%s", len(steps[0].Runs), len(steps[1].Runs), got)
	}
	for _, name := range []string{"x-margin-0.2_seed-0", "x-margin-0.1_seed-1"} {
		for _, want := range []string{"eval --run runs/noise-" + name, "attack --run runs/" + name} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
	}
	if !strings.Contains(got, "--set name=noise-x --set noise.kind=sln --set noise.rate=0.2 --runs-dir runs --task 3/6") {
		t.Error(got)
	}
}
