package summary

import (
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
)

// CSV has no notes below: its last column says what is to be said of a row's runs, and a
// column of its own of how many values a mean is.
func TestCSVTellsOfItsRows(t *testing.T) {
	t.Chdir(t.TempDir())
	part := rundirtest.Replaced(rundirtest.EvalFile(0.5, 0), `"items": 200`, `"items": 20`, `"step": 100`, `"step": 78`)
	runs := []*rundir.Run{
		rundirtest.Fake(t, "a-seed-0", 0, "finished", map[string]string{"eval.json": rundirtest.EvalFile(0.5, 0)}),
		rundirtest.Fake(t, "a-seed-1", 1, "interrupted", map[string]string{"eval.json": part}),
		rundirtest.Fake(t, "a-seed-2", 2, "finished", map[string]string{"eval.json": rundirtest.Replaced(rundirtest.EvalFile(0.7, 0), `"recall@1"`, `"recall@7"`)}),
	}
	lines := strings.Split(rendered(t, summarize(t, runs, Options{Metrics: []string{"recall@1", "recall@7"}}).Table(), "csv"), "\n")
	if want := "run,n,status,recall@1,recall@1_n,recall@7,recall@7_n,training (s),forward,backward,notes"; lines[0] != want {
		t.Errorf("header %q, want %q", lines[0], want)
	}
	if want := `a,3,"2 finished, 1 interrupted",,,0.7,1,12.5,6400,3200,a-seed-1: 20 of 200 test images; stale: step 78 of 40; interrupted at step 40 of 100`; lines[1] != want {
		t.Errorf("row %q, want %q", lines[1], want)
	}
	if alone := rendered(t, summarize(t, runs[:1], Options{}).Table(), "csv"); strings.Contains(alone, "notes") {
		t.Errorf("a run of which nothing is to be said:\n%s", alone)
	}
	if table := summarize(t, []*rundir.Run{runs[0], runs[2]}, Options{Metrics: []string{"recall@1"}}).Table(); !strings.Contains(rendered(t, table, "text"), "0.500 (n=1)") {
		t.Errorf("no (n=1) in\n%s", rendered(t, table, "text"))
	}
	// Runs in rows of their own that are not measured in the same way say by what.
	cosine := rundirtest.Fake(t, "b", 0, "finished", map[string]string{"eval.json": evalWith(0.25, `"distance": "cosine"`)}, rundir.Label{Key: "x", Value: "1"})
	s := summarize(t, []*rundir.Run{runs[0], cosine}, Options{Metrics: []string{"recall@1"}})
	if got := rendered(t, s.Table(), "csv"); !strings.Contains(got, ",distance euclidean\n") || !strings.Contains(got, ",distance cosine\n") {
		t.Error(got)
	}
	if notes := strings.Join(s.Notes, "\n"); !strings.Contains(notes, "not measured in the same way in all rows: recall@1: distance euclidean (a-seed-0), cosine (b)") {
		t.Error(notes)
	}
}

// What limits the scores of runs is said in text and CSV.
func TestNotesOfEveryKind(t *testing.T) {
	t.Chdir(t.TempDir())
	loss := rundir.Label{Key: "loss.name", Value: "triplet"}
	part := rundirtest.Replaced(rundirtest.EvalFile(0.5, 0), `"items": 200`, `"items": 20`)
	runs := []*rundir.Run{
		rundirtest.Fake(t, "a", 0, "finished", map[string]string{"eval.json": part}, loss),
		rundirtest.Fake(t, "b", 1, "finished", map[string]string{"eval.json": part}, loss),
		rundirtest.Fake(t, "c", 2, "finished", map[string]string{"eval.json": rundirtest.Replaced(part, `"set": "test"`, `"set": "train"`)}, loss),
	}
	for _, r := range runs {
		r.Manifest.Selection = &record.Selection{Split: "test", Metric: "recall@1"}
		r.Manifest.Of = 200
	}
	for what, table := range map[string]*render.Table{"summary": summarize(t, runs, Options{}).Table()} {
		text, csv := rendered(t, table, "text"), rendered(t, table, "csv")
		for _, want := range []string{
			"a/eval.json is of 20 of the 200 test images\n",
			"the stopping step was chosen on test images, so the test scores are too good: ",
			"c/eval.json is of the train images, checkpoint last, not of the test images, checkpoint last: left out\n",
			"stopping step chosen on test images",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", what, want, text)
			}
		}
		if strings.Contains(text, "no eval.json") {
			t.Errorf("%s: c has an eval.json:\n%s", what, text)
		}
		if !strings.Contains(csv, "20 of 200 test images") || !strings.Contains(csv, ",stopping step chosen on test images,") {
			t.Errorf("%s:\n%s", what, csv)
		}
	}
}
