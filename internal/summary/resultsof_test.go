package summary

import (
	"encoding/json"
	"strings"
	"testing"

	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
)

// of is an eval.json of other images or weights.
func evalOf(recall float64, split, checkpoint string) string {
	return strings.NewReplacer(`"checkpoint": "last"`, `"checkpoint": "`+checkpoint+`"`, `"set": "test"`, `"set": "`+split+`"`).Replace(rundirtest.EvalFile(recall, 0))
}

// readAs reads a run of fake with the results of other images.
func readAs(t *testing.T, r *rundir.Run, of rundir.Of) *rundir.Run {
	t.Helper()
	other, err := rundir.ReadOf(r.Dir, of)
	if err != nil {
		t.Fatal(err)
	}
	other.Labels = r.Labels
	return other
}

// Older versions wrote eval.json whatever it was of. That is never shown as a test score.
func TestScoresOfOtherImagesAreNoTestScores(t *testing.T) {
	t.Chdir(t.TempDir())
	old := rundirtest.Fake(t, "old", 0, "finished", map[string]string{"eval.json": evalOf(0.861, "train", "last"), "figures/retrieval.png": "x"})
	s := summarize(t, []*rundir.Run{old}, Options{})
	for _, format := range render.Formats() {
		if out := rendered(t, s.Table(), format); strings.Contains(out, "0.861") {
			t.Errorf("%s:\n%s", format, out)
		}
	}
	if len(s.Notes) == 0 || s.Notes[0] != "old/eval.json is of the train images, checkpoint last, not of the test images, checkpoint last: left out" || len(old.Figures) != 0 {
		t.Errorf("notes %q, figures %v", s.Notes, old.Figures)
	}
	best := rundirtest.Fake(t, "best", 0, "finished", map[string]string{"eval.json": evalOf(0.9, "test", "best")})
	if best.Eval != nil {
		t.Error("scores of checkpoint best are shown as those of last")
	}
	if r := readAs(t, old, rundir.Of{Split: "train"}); r.Eval == nil || r.Left != nil {
		t.Errorf("asked for: %+v, %q", r.Eval, r.Left)
	}
}

// Whatever is not of test images and the last checkpoint says so in every format.
func TestScoresOfOtherImagesAreLabeled(t *testing.T) {
	t.Chdir(t.TempDir())
	files := map[string]string{
		"eval.json": rundirtest.EvalFile(0.5, 0), "eval-validation.json": evalOf(0.75, "validation", "last"), "eval-validation-best.json": evalOf(0.875, "validation", "best"),
		"cluster-validation/cluster.json": strings.Replace(rundirtest.ClusterFile, `"set": "test"`, `"set": "validation"`, 1),
	}
	r := rundirtest.Fake(t, "x", 0, "finished", files)
	v := readAs(t, r, rundir.Of{Split: "validation"})
	if v.Cluster == nil || r.Cluster != nil {
		t.Errorf("clusters %v, of test images %v", v.Cluster, r.Cluster)
	}
	s := summarize(t, []*rundir.Run{v}, Options{Metrics: []string{"recall@1"}})
	for format, want := range map[string]string{
		"text": "│ validation │", "markdown": "| validation |", "latex": " & validation & ", "csv": ",validation,last,0.75", "json": `"split":"validation"`,
	} {
		out := rendered(t, s.Table(), format)
		if !strings.Contains(strings.ReplaceAll(out, `"split": "`, `"split":"`), want) {
			t.Errorf("%s lacks %q:\n%s", format, want, out)
		}
		if note := "all scores are of the validation images, checkpoint last: they are not test scores"; format != "csv" && !strings.Contains(out, note) {
			t.Errorf("%s has no note:\n%s", format, out)
		}
	}
	b, err := json.Marshal(s)
	if err != nil || !strings.Contains(string(b), `"split":"validation","checkpoint":"last"`) {
		t.Errorf("%s, %v", b, err)
	}
	if err := RunPage(s, []*rundir.Run{v}, true).WriteMarkdown("p.md"); err != nil {
		t.Fatal(err)
	}
	if page := readText(t, "p.md"); !strings.Contains(page, "they are not test scores") || !strings.Contains(page, "validation images of 10 classes") {
		t.Error(page)
	}
	both := readAs(t, r, rundir.Of{Split: "validation", Checkpoint: "best"})
	if v, _ := both.Scores().Get("recall@1"); v.Value != 0.875 {
		t.Errorf("best on validation: %v", v)
	}
	table := summarize(t, []*rundir.Run{v}, Options{}).Table()
	if err := table.Choose([]string{"recall@1", "run"}, LabelColumns()...); err != nil {
		t.Fatal(err)
	}
	if got := rendered(t, table, "csv"); !strings.HasPrefix(got, "recall@1,run,split,checkpoint\n") {
		t.Errorf("chosen columns lose the label: %s", got)
	}
	missing := summarize(t, []*rundir.Run{readAs(t, r, rundir.Of{Split: "train"})}, Options{}).Notes
	if !strings.Contains(strings.Join(missing, "\n"), "no eval-train.json in x; tercet eval --run x --split train makes it") {
		t.Errorf("notes %q", missing)
	}
}

// Weights that were chosen on test images are noted first and labeled in every format.
func TestSelectionOnTestImagesIsSaid(t *testing.T) {
	t.Chdir(t.TempDir())
	r := rundirtest.Fake(t, "x", 0, "finished", map[string]string{"eval.json": rundirtest.EvalFile(0.5, 0), "eval-best.json": evalOf(0.6, "test", "best")})
	stopped := strings.Replace(rundirtest.Manifest(0, "finished", 60), `"schema"`, `"selection": {"split": "test", "metric": "recall@1"}, "stopped": {"step": 60, "reason": "r"}, "schema"`, 1)
	rundirtest.Put(t, "s", "manifest.json", stopped)
	rundirtest.Put(t, "s", "eval.json", strings.ReplaceAll(rundirtest.EvalFile(0.5, 0), `"step": 100`, `"step": 60`))
	s := readAs(t, &rundir.Run{Dir: "s"}, rundir.Of{})
	for _, c := range []struct {
		run  *rundir.Run
		want string
	}{
		{r, ""}, {s, "stopping step"}, {readAs(t, &rundir.Run{Dir: "s"}, rundir.Of{Checkpoint: "best"}), "best checkpoint"},
	} {
		sum := summarize(t, []*rundir.Run{c.run}, Options{})
		first := strings.Join(sum.Notes, "\n")
		if strings.Contains(first, "was chosen on test images") != (c.want != "") || !strings.Contains(first, c.want) {
			t.Errorf("%s: %q", c.want, sum.Notes)
		}
		if csv := rendered(t, sum.Table(), "csv"); strings.Contains(csv, c.want+" chosen on test images") != (c.want != "") {
			t.Errorf("%s: %s", c.want, csv)
		}
	}
	if n := summarize(t, []*rundir.Run{s}, Options{}); !strings.HasPrefix(n.Notes[0], "the stopping step was chosen on test images") || n.Runs[0].Selection == "" || n.Runs[0].Stopped != "r" {
		t.Errorf("%q, %+v", n.Notes, n.Runs[0])
	}
}
