package summary

import (
	"errors"
	"os"
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
	"tercet/internal/testutil"
)

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sweep has configurations of two seeds each, with validation and test scores.
func sweep(t *testing.T, scores map[string][4]float64) (by, scored []*rundir.Run) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, margin := range []string{"0.1", "0.2", "0.3", "0.4"} {
		v, ok := scores[margin]
		if !ok {
			continue
		}
		for seed := range 2 {
			files := map[string]string{"eval.json": rundirtest.EvalFile(v[2+seed], 0)}
			if v[seed] >= 0 {
				files["eval-validation.json"] = evalOf(v[seed], "validation", "last")
			}
			dir := "m-" + margin + "_seed-" + string(rune('0'+seed))
			scored = append(scored, rundirtest.Fake(t, dir, seed, "finished", files, rundir.Label{Key: "loss.margin", Value: margin}))
			by = append(by, readAs(t, scored[len(scored)-1], rundir.Of{Split: "validation"}))
		}
	}
	return by, scored
}

// The best on validation is not the best on test; a configuration with a missing seed is
// no candidate, however good the other seed is.
func TestSelectOnValidation(t *testing.T) {
	by, scored := sweep(t, map[string][4]float64{
		"0.1": {0.5, 0.6, 0.9, 0.9}, "0.2": {0.75, 0.65, 0.5, 0.7}, "0.3": {0.1, 0.2, 0.3, 0.4}, "0.4": {1, -1, 1, 1},
	})
	sel, err := Select(by, scored, SelectOptions{Split: "validation", Metric: "recall@1"})
	if err != nil {
		t.Fatal(err)
	}
	if sel.Selected.Labels["loss.margin"] != "0.2" || len(sel.Candidates) != 3 || sel.Selected.N != 2 {
		t.Errorf("%+v", sel.Selected)
	}
	testutil.Near(t, "validation", *sel.Candidates[0].Score.Value, 0.7, 1e-6)
	testutil.Near(t, "test", *sel.Selected.Scores["recall@1"].Value, 0.6, 1e-6)
	if want := "selected among 3 configurations by the mean over their runs of recall@1 on the validation images (higher is better); test images were not used in this selection"; sel.Notes[0] != want {
		t.Errorf("note %q", sel.Notes[0])
	}
	if notes := strings.Join(sel.Notes, "\n"); !strings.Contains(notes, "no candidates, since a run of theirs has no recall@1 on validation images: m-0.4") {
		t.Error(notes)
	}
	csv := rendered(t, sel.Table(), "csv")
	if !strings.Contains(csv, "validation:recall@1,") || !strings.Contains(csv, "test:recall@1,") || strings.Count(csv, "\n") != 4 {
		t.Error(csv)
	}
	one, err := Select(by, scored, SelectOptions{Options: Options{PerRun: true}, Split: "validation", Metric: "recall@1"})
	if err != nil || one.Selected.Dirs[0] != "m-0.4_seed-0" || len(one.Candidates) != 7 {
		t.Errorf("by run: %+v, %v", one, err)
	}
}

// Selection by test scores is said in every format, CSV too; ties and directions count.
func TestSelectOnTestIsSaid(t *testing.T) {
	by, scored := sweep(t, map[string][4]float64{"0.1": {0.5, 0.5, 0.75, 0.25}, "0.2": {0.5, 0.5, 0.5, 0.5}})
	sel, err := Select(scored, scored, SelectOptions{Split: "test", Metric: "recall@1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range render.Formats() {
		if out := rendered(t, sel.Table(), format); !strings.Contains(out, "too good") {
			t.Errorf("%s:\n%s", format, out)
		}
	}
	if !strings.Contains(sel.Notes[0], "the selection used test images") || sel.Notes[1] != "m-0.2: the same recall@1 as m-0.1; the first by name is taken" {
		t.Errorf("%q", sel.Notes)
	}
	if _, err := Select(by, scored, SelectOptions{Split: "validation", Metric: "recall@7"}); err == nil || !strings.Contains(err.Error(), `no run has the score "recall@7"`) {
		t.Errorf("unknown score: %v", err)
	}
	for _, r := range by {
		r.Eval, r.Manifest.Data.Validation = nil, &record.Set{Items: 5}
	}
	_, err = Select(by, scored, SelectOptions{Split: "validation", Metric: "recall@1"})
	if !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), "tercet eval --run m-0.1_seed-0 --split validation makes it") {
		t.Errorf("nothing to select by: %v", err)
	}
	for score, want := range map[string]bool{"recall@1": true, "triplet_error": false, "pairs.eer": false, "TMA(published)": false, "ES:R": true, "clean:ERS": true} {
		if got, err := HigherIsBetter(score); got != want || err != nil {
			t.Errorf("%s: %v, %v", score, got, err)
		}
	}
	if _, err := HigherIsBetter("cluster:clusters"); err == nil {
		t.Error("a number of clusters has a direction")
	}
}

func TestBestInBold(t *testing.T) {
	by, _ := sweep(t, map[string][4]float64{"0.1": {0.5, 0.5, 1, 1}, "0.2": {0.25, 0.25, 1, 1}})
	table := summarize(t, by, Options{Metrics: []string{"recall@1"}}).Table()
	table.MarkBest()
	if out := rendered(t, table, "latex"); strings.Count(out, `$\mathbf{0.500}\;[0.500,\,0.500]$`) != 1 || strings.Count(out, "mathbf") != 1 || !strings.Contains(out, `\toprule`) {
		t.Error(out)
	}
	if out := rendered(t, table, "markdown"); strings.Count(out, "**0.500 [0.500, 0.500]**") != 1 {
		t.Error(out)
	}
	if err := table.Choose([]string{"recal@1"}); err == nil || !strings.Contains(err.Error(), "did you mean recall@1?") {
		t.Error(err)
	}
}

// Baselines on different images within one group have different names.
func TestBaselinesOfOneGroupHaveTheirOwnNames(t *testing.T) {
	t.Chdir(t.TempDir())
	runs := []*rundir.Run{
		rundirtest.Fake(t, "a_seed-0", 0, "finished", map[string]string{"eval.json": rundirtest.EvalFile(0.5, 0.1)}),
		rundirtest.Fake(t, "a_seed-1", 1, "finished", map[string]string{"eval.json": rundirtest.Replaced(rundirtest.EvalFile(0.5, 0.2), `"items": 200`, `"items": 199`, "sha256:bb", "sha256:cc")}),
	}
	names := map[string]bool{}
	for _, row := range summarize(t, runs, Options{}).Table().Rows {
		if names[row[0].Words()] {
			t.Errorf("two rows are named %q", row[0].Words())
		}
		names[row[0].Words()] = true
	}
	if !names["untrained: a_seed-1"] {
		t.Errorf("%v", names)
	}
}

// Means that differ by rounding alone are equal.
func TestSelectTakesRoundingForATie(t *testing.T) {
	by, scored := sweep(t, map[string][4]float64{"0.1": {0.3, 0.3, 1, 1}, "0.2": {0.1, 0.5, 1, 1}, "0.3": {0.2, 0.1 + 0.3, 1, 1}})
	sel, err := Select(by, scored, SelectOptions{Split: "validation", Metric: "recall@1"})
	if err != nil || sel.Selected.Name != "m-0.1" || !strings.Contains(strings.Join(sel.Notes, "\n"), "m-0.2, m-0.3: the same recall@1 as m-0.1; the first by name is taken") {
		t.Errorf("%q, %v", sel.Notes, err)
	}
	if render.CompareValues(0.1+0.2, 0.3) != 0 || render.CompareValues(0.3, 0.3001) != -1 {
		t.Error("rounding")
	}
}
