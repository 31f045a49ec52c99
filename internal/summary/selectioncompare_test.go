package summary

import (
	"errors"
	"strings"
	"testing"

	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
)

// The candidates stand in every format, with n, the score and its interval; of those that
// are not selected no test score is shown.
func TestCandidatesAreShown(t *testing.T) {
	by, scored := sweep(t, map[string][4]float64{"0.1": {0.5, 0.6, 0.9, 0.9}, "0.2": {0.75, 0.65, 0.5, 0.7}})
	sel, err := Select(by, scored, SelectOptions{Split: "validation", Metric: "recall@1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"text", "markdown", "latex", "csv"} {
		out := rendered(t, sel.Table(), format)
		for _, want := range []string{"m-0.1", "m-0.2", "0.55", "-0.085", "1.185"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s has no %s:\n%s", format, want, out)
			}
		}
		if strings.Contains(out, "0.9") {
			t.Errorf("%s shows a test score of a candidate that is not selected:\n%s", format, out)
		}
	}
}

// Scores on other images, or on another number of them, are no reason to select a
// configuration.
func TestScoresOnDifferentImagesAreNotCompared(t *testing.T) {
	for _, c := range []struct{ was, now, want string }{
		{`"items": 200, "classes": 10, "dim"`, `"items": 10, "classes": 10, "dim"`, "10 with fingerprint bb (m-0.2)"},
		{`"items": 200, "classes": 10, "dim": 16, "fingerprint": "sha256:bb"`, `"items": 199, "classes": 10, "dim": 16, "fingerprint": "sha256:cc"`, "199 with fingerprint cc (m-0.2)"},
	} {
		by, scored := sweep(t, map[string][4]float64{"0.1": {0.5, 0.6, 0.9, 0.9}, "0.2": {0.75, 0.65, 0.5, 0.7}})
		for i, r := range by {
			if strings.HasPrefix(r.Dir, "m-0.2") {
				rundirtest.Put(t, r.Dir, "eval-validation.json", strings.Replace(readText(t, r.Dir+"/eval-validation.json"), c.was, c.now, 1))
				by[i] = readAs(t, r, r.Of)
			}
		}
		_, err := Select(by, scored, SelectOptions{Split: "validation", Metric: "recall@1"})
		if !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "200 with fingerprint bb (m-0.1)") {
			t.Errorf("%s: %v", c.want, err)
		}
		if _, err := Select(by[:2], scored[:2], SelectOptions{Split: "validation", Metric: "recall@1"}); err != nil {
			t.Errorf("runs on the same images: %v", err)
		}
		if _, err := Select(by[2:], scored[2:], SelectOptions{Split: "validation", Metric: "recall@1"}); err != nil {
			t.Errorf("runs on the same other images: %v", err)
		}
	}
}

// A mean over fewer runs is noted, as is a stopping step that test images chose.
func TestSelectionNotesWhatCandidatesDifferIn(t *testing.T) {
	by, scored := sweep(t, map[string][4]float64{"0.1": {0.5, 0.6, 0.9, 0.9}, "0.2": {0.75, 0.65, 0.5, 0.7}})
	stopped := strings.Replace(rundirtest.Manifest(0, "finished", 60), `"schema"`, `"selection": {"split": "test", "metric": "recall@1"}, "stopped": {"step": 60, "reason": "r"}, "schema"`, 1)
	rundirtest.Put(t, by[0].Dir, "manifest.json", stopped)
	by[0], scored[0] = readAs(t, by[0], by[0].Of), readAs(t, scored[0], rundir.Of{})
	sel, err := Select(by[:3], scored[:3], SelectOptions{Split: "validation", Metric: "recall@1"})
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(sel.Notes, "\n")
	if strings.Contains(notes, "no part") || !strings.Contains(sel.Notes[0], "; but test images chose the stopping step of m-0.1_seed-0") {
		t.Errorf("%q", sel.Notes)
	}
	for _, want := range []string{"the candidates have 1 to 2 runs (column n)", "m-0.1_seed-0/eval-validation.json is of step 100, the run is at step 60"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note %q in %q", want, sel.Notes)
		}
	}
}

// A table without test scores does not speak of them.
func TestNoteOfChosenWeightsFitsTheSplit(t *testing.T) {
	t.Chdir(t.TempDir())
	chosen := strings.Replace(rundirtest.Manifest(0, "finished", 100), `"schema"`, `"selection": {"split": "test", "metric": "recall@1"}, "schema"`, 1)
	rundirtest.Put(t, "x", "manifest.json", chosen)
	rundirtest.Put(t, "x", "eval-train-best.json", evalOf(0.5, "train", "best"))
	rundirtest.Put(t, "x", "eval-best.json", evalOf(0.5, "test", "best"))
	for split, good := range map[string]bool{"train": false, "test": true} {
		notes := strings.Join(summarize(t, []*rundir.Run{readAs(t, &rundir.Run{Dir: "x"}, rundir.Of{Split: split, Checkpoint: "best"})}, Options{}).Notes, "\n")
		if !strings.Contains(notes, "the best checkpoint was chosen on test images") || strings.Contains(notes, "too good") != good {
			t.Errorf("%s: %s", split, notes)
		}
	}
}
