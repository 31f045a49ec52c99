package summary

import (
	"strings"
	"testing"

	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
)

// The best of values on different images is none.
func TestNoBestOverDifferentImages(t *testing.T) {
	t.Chdir(t.TempDir())
	other := rundirtest.Replaced(rundirtest.EvalFile(0.75, 0), `"items": 200`, `"items": 199`, "sha256:bb", "sha256:cc")
	a := rundirtest.Fake(t, "a", 0, "finished", map[string]string{"eval.json": rundirtest.EvalFile(0.5, 0)}, rundir.Label{Key: "loss.margin", Value: "0.1"})
	b := rundirtest.Fake(t, "b", 0, "finished", map[string]string{"eval.json": other}, rundir.Label{Key: "loss.margin", Value: "0.2"})
	c := rundirtest.Fake(t, "c", 0, "finished", map[string]string{"eval.json": rundirtest.EvalFile(0.75, 0)}, rundir.Label{Key: "loss.margin", Value: "0.2"})
	for _, x := range []struct {
		runs []*rundir.Run
		bold int
	}{{[]*rundir.Run{a, b}, 0}, {[]*rundir.Run{a, c}, 1}} {
		table := summarize(t, x.runs, Options{Metrics: []string{"recall@1"}}).Table()
		table.MarkBest()
		out := rendered(t, table, "markdown")
		if n := strings.Count(out, "**0.750**"); n != x.bold || strings.Contains(out, "no best value is marked") != (x.bold == 0) {
			t.Errorf("%d marked:\n%s", n, out)
		}
	}
}

// A note about columns goes with them.
func TestChosenColumnsKeepOnlyTheirNotes(t *testing.T) {
	t.Chdir(t.TempDir())
	r := rundirtest.Fake(t, "a", 0, "finished", map[string]string{"eval.json": rundirtest.EvalFile(0.5, 0)})
	for columns, want := range map[string]bool{"run,recall@1": false, "run,backward": true} {
		table := summarize(t, []*rundir.Run{r}, Options{}).Table()
		if err := table.Choose(strings.Split(columns, ","), LabelColumns()...); err != nil {
			t.Fatal(err)
		}
		if out := rendered(t, table, "text"); strings.Contains(out, "images through the network") != want {
			t.Errorf("%s:\n%s", columns, out)
		}
	}
}

// A key without a value is an empty cell, not a word of YAML or JSON.
func TestKeysWithoutValue(t *testing.T) {
	t.Chdir(t.TempDir())
	runs := []*rundir.Run{
		rundirtest.Fake(t, "a", 0, "finished", nil, rundir.Label{Key: "miner.margin", Value: "null"}, rundir.Label{Key: "loss.x", Value: `""`}),
		rundirtest.Fake(t, "b", 0, "finished", nil, rundir.Label{Key: "miner.margin", Value: "0.5"}, rundir.Label{Key: "loss.x", Value: "u"}),
	}
	table := summarize(t, runs, Options{}).Table()
	for _, format := range []string{"text", "latex", "csv", "markdown"} {
		if out := rendered(t, table, format); strings.Contains(out, "null") || strings.Contains(out, `""`) {
			t.Errorf("%s:\n%s", format, out)
		}
	}
}

// A recall@k that no embedding could miss is noted, as eval does.
func TestCertainRecallIsNoted(t *testing.T) {
	t.Chdir(t.TempDir())
	file := strings.Replace(rundirtest.EvalFile(0.5, 0), `"map@10"`, `"recall@199": {"value": 1, "definition": "d"}, "recall@198": {"value": 1, "definition": "d"}, "map@10"`, 1)
	r := rundirtest.Fake(t, "a", 0, "finished", map[string]string{"eval.json": file})
	for score, want := range map[string]bool{"recall@199": true, "recall@198": false} {
		notes := strings.Join(summarize(t, []*rundir.Run{r}, Options{Metrics: []string{score}}).Notes, "\n")
		if strings.Contains(notes, "recall@199 is 1 by definition in a") != want {
			t.Errorf("%s: %s", score, notes)
		}
	}
	s := summarize(t, []*rundir.Run{r}, Options{Metrics: []string{"R@1"}})
	if s.Metrics[0] != "recall@1" {
		t.Errorf("R@1 is %q", s.Metrics)
	}
	_, err := Summarize([]*rundir.Run{r}, Options{Metrics: []string{"recal@1"}})
	if err == nil || !strings.HasSuffix(err.Error(), "(did you mean recall@1?)") {
		t.Errorf("a mistyped score: %v", err)
	}
}

// A run that stopped early says so in a whole sentence, and that its last weights are
// past the best ones.
func TestStoppedRunsAreDescribed(t *testing.T) {
	t.Chdir(t.TempDir())
	rundirtest.Put(t, "s", "manifest.json", strings.Replace(rundirtest.Manifest(0, "finished", 60), `"schema"`, `"best": {"metric": "recall@1", "value": 0.5, "step": 40}, "stopped": {"step": 60, "reason": "recall@1 has not improved"}, "schema"`, 1))
	rundirtest.Put(t, "s", "eval-best.json", evalOf(0.5, "test", "best"))
	r := readAs(t, &rundir.Run{Dir: "s"}, rundir.Of{})
	if got := sentence(r); !strings.HasSuffix(got, "; seed 0, stopped early after 60 of 100 steps, in 12 s: recall@1 has not improved.") {
		t.Error(got)
	}
	const hint = "the last checkpoint is past the best one, of step 40: --checkpoint best is of that"
	for checkpoint, want := range map[string]bool{"last": true, "best": false} {
		notes := strings.Join(summarize(t, []*rundir.Run{readAs(t, r, rundir.Of{Split: "test", Checkpoint: checkpoint})}, Options{}).Notes, "\n")
		if strings.Contains(notes, hint) != want {
			t.Errorf("%s: %s", checkpoint, notes)
		}
	}
}
