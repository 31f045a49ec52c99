package report

import (
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/render"
)

// withCheckpoints turns a run's manifest into one with the given best and last checkpoints.
func withCheckpoints(r *RunDir, status record.Status, last, best int) *RunDir {
	r.Manifest.Status, r.Manifest.Steps, r.Manifest.Checkpoint = status, last, last
	r.Manifest.Best = &record.Best{Metric: "recall@1", Step: best}
	return r
}

func TestStaleResultsAreNoted(t *testing.T) {
	of := func(checkpoint string, step int) *RunDir {
		r := &RunDir{Dir: "a", Of: Of{"test", checkpoint}, Eval: &record.Eval{Source: record.Source{Checkpoint: checkpoint, Step: step, Set: "test"}}}
		return r
	}
	for _, tc := range []struct {
		run  *RunDir
		want string
	}{
		{withCheckpoints(of("best", 78), "finished", 1560, 1560), "a/eval-best.json is of step 78, the best checkpoint is of step 1560; tercet eval --run a --checkpoint best recomputes it"},
		{withCheckpoints(of("best", 78), "finished", 1560, 78), ""},
		{withCheckpoints(of("last", 224), "running", 546, 0), "a/eval.json is of step 224, the run has come to step 546; tercet eval --run a recomputes it"},
		{withCheckpoints(of("last", 560), "running", 546, 0), ""}, // killed before the manifest was written
		{withCheckpoints(of("last", 224), "interrupted", 546, 0), "a/eval.json is of step 224, the run is at step 546; tercet eval --run a recomputes it"},
		{withCheckpoints(of("last", 546), "running", 546, 0), ""},
	} {
		if got := strings.Join(tc.run.stale(), "\n"); got != tc.want {
			t.Errorf("got %q\nwant %q", got, tc.want)
		}
	}
}

// CSV has no notes below: its last column says what is to be said of a row's runs, and a
// column of its own of how many values a mean is.
func TestCSVTellsOfItsRows(t *testing.T) {
	t.Chdir(t.TempDir())
	part := replaced(evalFile(0.5, 0), `"items": 200`, `"items": 20`, `"step": 100`, `"step": 78`)
	runs := []*RunDir{
		fake(t, "a-seed-0", 0, "finished", map[string]string{"eval.json": evalFile(0.5, 0)}),
		fake(t, "a-seed-1", 1, "interrupted", map[string]string{"eval.json": part}),
		fake(t, "a-seed-2", 2, "finished", map[string]string{"eval.json": replaced(evalFile(0.7, 0), `"recall@1"`, `"recall@7"`)}),
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
	if table := summarize(t, []*RunDir{runs[0], runs[2]}, Options{Metrics: []string{"recall@1"}}).Table(); !strings.Contains(rendered(t, table, "text"), "0.500 (n=1)") {
		t.Errorf("no (n=1) in\n%s", rendered(t, table, "text"))
	}
	// Runs in rows of their own that are not measured in the same way say by what.
	cosine := fake(t, "b", 0, "finished", map[string]string{"eval.json": evalWith(0.25, `"distance": "cosine"`)}, Label{"x", "1"})
	s := summarize(t, []*RunDir{runs[0], cosine}, Options{Metrics: []string{"recall@1"}})
	if got := rendered(t, s.Table(), "csv"); !strings.Contains(got, ",distance euclidean\n") || !strings.Contains(got, ",distance cosine\n") {
		t.Error(got)
	}
	if notes := strings.Join(s.Notes, "\n"); !strings.Contains(notes, "not measured in the same way in all rows: recall@1: distance euclidean (a-seed-0), cosine (b)") {
		t.Error(notes)
	}
}

// The tables of papers say what the summary says.
func TestEveryTableHasTheSameNotes(t *testing.T) {
	t.Chdir(t.TempDir())
	loss := Label{"loss.name", "triplet"}
	part := replaced(evalFile(0.5, 0), `"items": 200`, `"items": 20`)
	runs := []*RunDir{
		fake(t, "a", 0, "finished", map[string]string{"eval.json": part}, loss),
		fake(t, "b", 1, "finished", map[string]string{"eval.json": part}, loss),
		fake(t, "c", 2, "finished", map[string]string{"eval.json": replaced(part, `"set": "test"`, `"set": "train"`)}, loss),
	}
	for _, r := range runs {
		r.Manifest.Selection = &record.Selection{Split: "test", Metric: "recall@1"}
		r.Manifest.Of = 200
	}
	paper := &PaperTable{Columns: []string{"R@1"}, Rows: []PaperRow{{Label: "x", Match: map[string]any{"loss.name": "triplet"}}}}
	if err := paper.Check(); err != nil {
		t.Fatal(err)
	}
	compared, err := ComparePaper(paper, "x", runs, []string{"fixed"})
	if err != nil {
		t.Fatal(err)
	}
	for what, table := range map[string]*render.Table{"paper": compared.Layout(), "summary": summarize(t, runs, Options{}).Table()} {
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
		if what == "paper" && !strings.Contains(csv, `"ours, fixed",glyphs,2,0.5`) {
			t.Errorf("n is not the number of values:\n%s", csv)
		}
	}
}

// What holds out no validation images is not advised to be evaluated on them.
func TestNoAdviceWithoutValidationImages(t *testing.T) {
	r := &RunDir{Dir: "a", Of: Of{"validation", "last"}}
	if got := kinds[0].missing([]*RunDir{r}); got != "no validation images in a; data.split.validation holds some out, in a new training" {
		t.Error(got)
	}
	r.Manifest.Data.Validation = &record.Set{Items: 5}
	if got := kinds[0].missing([]*RunDir{r}); got != "no eval-validation.json in a; tercet eval --run a --split validation makes it" {
		t.Error(got)
	}
}
