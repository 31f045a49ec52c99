package rundir_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
)

func TestFindRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, d := range []string{"runs/a-seed-10", "runs/a-seed-2", "runs/b", "other/c[1]"} {
		rundirtest.Put(t, d, "manifest.json", "{}")
	}
	rundirtest.Put(t, "runs", "notes.txt", "")
	rundirtest.Put(t, "runs/pictures", "x.txt", "")
	rundirtest.Put(t, "runs/killed", "config.yaml", "") // a broken run is found, so that it is named
	for _, tc := range []struct {
		patterns, want string
	}{
		{"runs/b", "runs/b"},
		{"runs/b/", "runs/b"},
		{"runs", "runs/a-seed-2 runs/a-seed-10 runs/b runs/killed"},
		{"runs/a-*", "runs/a-seed-2 runs/a-seed-10"},
		{"runs/b runs/a-seed-2 runs/b runs/../runs/b", "runs/b runs/a-seed-2"},
		{"other/c[1]", "other/c[1]"},
		{"*", "other/c[1] runs/a-seed-2 runs/a-seed-10 runs/b runs/killed"},
	} {
		got, err := rundir.Find(strings.Fields(tc.patterns))
		if err != nil || strings.Join(got, " ") != tc.want {
			t.Errorf("%s: got %v, %v, want %s", tc.patterns, got, err, tc.want)
		}
	}
	for pattern, want := range map[string]string{
		"none":           "none does not exist; a run directory is what `tercet train` makes",
		"b":              "b does not exist; did you mean runs/b?",
		"none*":          "no folder matches none*",
		"runs/notes*":    "no folder matches runs/notes*",
		"runs/notes.txt": "runs/notes.txt is a file; name the run's directory",
		"runs/pictures":  "neither runs/pictures nor a folder in it has a manifest.json",
		"runs/p*":        "neither runs/pictures nor a folder in it has a manifest.json",
	} {
		if _, err := rundir.Find([]string{pattern}); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", pattern, err, want)
		}
	}
	rundirtest.Put(t, "b", "1.png", "") // images of the run's name
	if got := rundir.NoRun("b"); got != "b has no config.yaml; did you mean runs/b?" {
		t.Error(got)
	}
	if _, err := rundir.Find([]string{"["}); !errors.Is(err, filepath.ErrBadPattern) {
		t.Errorf("bad glob: %v", err)
	}
}

func TestReadRunKeepsTheOrderOfScores(t *testing.T) {
	r := rundirtest.Fake(t, filepath.Join(t.TempDir(), "x"), 3, "finished", map[string]string{"eval.json": rundirtest.EvalFile(0.9, 0.4), "attack.json": rundirtest.AttackFile, "cluster.json": rundirtest.ClusterFile})
	var got []string
	for _, s := range r.Scores() {
		got = append(got, fmt.Sprint(s.Key, " ", s.Value.Value))
	}
	want := []string{"recall@1 0.9", "map@10 0.5", "nmi 0.5", "ES:D 1.5", "ES:R 0.125", "ES:D(published) 1.25", "ES:R(published) 0.1", "cluster:clusters 3", "cluster:nmi 0.75"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if m := r.Manifest; m.Cost != (record.Cost{Forward: 6400, Backward: 3200}) || m.Seed != 3 || m.Data.Test.Shape != [3]int{32, 32, 1} {
		t.Errorf("manifest: %+v", m)
	}
	if v, _ := r.Scores().Get("recall@1"); v.CI95 == nil || *v.CI95 != [2]float64{0.7, 1} {
		t.Errorf("interval %v", v.CI95)
	}
}

func TestBrokenRunsAreNamed(t *testing.T) {
	score := func(s string) string { return `{"schema": "tercet.eval/1", "retrieval": {` + s + `}}` }
	for _, tc := range []struct{ file, text, want string }{
		{"manifest.json", "", "manifest.json is empty"},
		{"manifest.json", "{\"schema\": \"tercet.run/1\",\n \"seed\": \n", "manifest.json:3: not valid JSON"},
		{"manifest.json", rundirtest.Manifest(1, "finished", 1) + "x", "manifest.json:6: not valid JSON"},
		{"manifest.json", "{\"schema\": \"tercet.run/1\",\n\"seed\": -1}", "manifest.json:2: not valid JSON of a run"},
		{"manifest.json", `{"schema": "tercet.run/2"}`, `manifest.json: schema is "tercet.run/2"; this version reads tercet.run/1`},
		{"manifest.json", `[]`, "manifest.json:1: not valid JSON of a run"},
		{"eval.json", `{}`, `eval.json: schema is ""`},
		{"eval.json", `{"schema": "tercet.eval/1", "source": {"checkpoint": "last", "set": "test"}}`, `eval.json has no scores under "retrieval"`},
		{"eval.json", score(`"map": {}`), `eval.json: score "map" has no value`},
		{"eval.json", score(`"map": {"value": null}`), `eval.json: score "map" has no value`},
		{"eval.json", score(`"map": {"value": "0.5"}`), `eval.json: score "map": json: cannot unmarshal string`},
		{"eval.json", score(`"map": {"value": 1, "ci95": [1]}`), `eval.json: score "map": ci95 is not two numbers`},
		{"eval.json", score(`"map": {"value": 1, "ci95": [1, null]}`), `eval.json: score "map": ci95 is not two numbers`},
		{"eval.json", score(`"map": {"value": 1}, "map": {"value": 2}`), `eval.json: score "map" is listed twice`},
		{"eval.json", `{"schema": "tercet.eval/1", "retrieval": [1]}`, "eval.json: scores are an object of name and value, not [1]"},
		{"attack.json", "\x89PNG", "attack.json:1: not valid JSON"},
		{"cluster.json", `{"schema": "tercet.cluster/1", "sizes": 3}`, "cluster.json:1: not valid JSON of a run"},
		{"cluster.json/x", "", "cluster.json is a folder; give a regular file"},
	} {
		dir := filepath.Join(t.TempDir(), "x")
		rundirtest.Put(t, dir, "manifest.json", rundirtest.Manifest(0, "finished", 100))
		rundirtest.Put(t, dir, tc.file, tc.text)
		if _, err := rundir.Read(dir); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s %s\ngot  %v\nwant %s", tc.file, tc.text, err, tc.want)
		}
	}
	dir := t.TempDir()
	rundirtest.Put(t, dir, "config.yaml", "")
	if _, err := rundir.Read(dir); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), "manifest.json") {
		t.Errorf("no manifest: %v", err)
	}
}

func TestFiguresMustBePictures(t *testing.T) {
	dir := t.TempDir()
	rundirtest.Put(t, dir, "figures/pca.png", "")
	r := rundirtest.Fake(t, dir, 0, "finished", nil)
	if err := r.CheckFigures(); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), "pca.png is not a PNG") {
		t.Errorf("got %v", err)
	}
	rundirtest.Picture(t, filepath.Join(dir, "figures/pca.png"))
	if err := r.CheckFigures(); err != nil {
		t.Error(err)
	}
}

// A number that was changed after it was written is not reported.
func TestAResultThatDoesNotMatchItsDigest(t *testing.T) {
	t.Chdir(t.TempDir())
	rundirtest.Fake(t, "a", 0, "finished", nil)
	doc, err := record.Seal([]byte(rundirtest.EvalFile(0.5, 0)))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("a", "eval.json")
	for _, tc := range []struct {
		text string
		ok   bool
	}{{string(doc), true}, {strings.Replace(string(doc), "0.5", "0.7", 1), false}} {
		if err := os.WriteFile(path, []byte(tc.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := rundir.Read("a")
		if ok := err == nil; ok != tc.ok || !ok && !(errors.Is(err, rundir.ErrRun) && errors.Is(err, record.ErrDigest) && strings.Contains(err.Error(), path)) {
			t.Errorf("%v", err)
		}
	}
}

func TestCommonName(t *testing.T) {
	for _, tc := range []struct {
		names []string // the index is the seed
		want  string
	}{
		{[]string{"x-seed-0"}, "x-seed-0"},
		{[]string{"x-seed-0", "x-seed-1"}, "x"},
		{[]string{"x-seed-0_w-8", "x-seed-1_w-8"}, "x-w-8"},
		{[]string{"x-w-8_seed-0_a-1", "x-w-8_seed-1_a-1"}, "x-w-8_a-1"},
		{[]string{"x-seed-00", "x-seed-01"}, "x-seed-0*"},
		{[]string{"first", "second"}, "first and 1 more"},
	} {
		var runs []*rundir.Run
		for i, n := range tc.names {
			r := &rundir.Run{Dir: n}
			r.Manifest.Seed = uint64(i)
			runs = append(runs, r)
		}
		if got := rundir.CommonName(runs); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.names, got, tc.want)
		}
	}
}

// withCheckpoints turns a run's manifest into one with the given best and last checkpoints.
func withCheckpoints(r *rundir.Run, status record.Status, last, best int) *rundir.Run {
	r.Manifest.Status, r.Manifest.Steps, r.Manifest.Checkpoint = status, last, last
	r.Manifest.Best = &record.Best{Metric: "recall@1", Step: best}
	return r
}

func TestStaleResultsAreNoted(t *testing.T) {
	of := func(checkpoint string, step int) *rundir.Run {
		r := &rundir.Run{Dir: "a", Of: rundir.Of{"test", checkpoint}, Eval: &record.Eval{Source: record.Source{Checkpoint: checkpoint, Step: step, Set: "test"}}}
		return r
	}
	for _, tc := range []struct {
		run  *rundir.Run
		want string
	}{
		{withCheckpoints(of("best", 78), "finished", 1560, 1560), "a/eval-best.json is of step 78, the best checkpoint is of step 1560; tercet eval --run a --checkpoint best recomputes it"},
		{withCheckpoints(of("best", 78), "finished", 1560, 78), ""},
		{withCheckpoints(of("last", 224), "running", 546, 0), "a/eval.json is of step 224, the run has come to step 546; tercet eval --run a recomputes it"},
		{withCheckpoints(of("last", 560), "running", 546, 0), ""}, // killed before the manifest was written
		{withCheckpoints(of("last", 224), "interrupted", 546, 0), "a/eval.json is of step 224, the run is at step 546; tercet eval --run a recomputes it"},
		{withCheckpoints(of("last", 546), "running", 546, 0), ""},
	} {
		if got := strings.Join(tc.run.Stale(), "\n"); got != tc.want {
			t.Errorf("got %q\nwant %q", got, tc.want)
		}
	}
}

// What holds out no validation images is not advised to be evaluated on them.
func TestNoAdviceWithoutValidationImages(t *testing.T) {
	r := &rundir.Run{Dir: "a", Of: rundir.Of{"validation", "last"}}
	if got := rundir.Without("eval", []*rundir.Run{r}); got != "no validation images in a; data.split.validation holds some out, in a new training" {
		t.Error(got)
	}
	r.Manifest.Data.Validation = &record.Set{Items: 5}
	if got := rundir.Without("eval", []*rundir.Run{r}); got != "no eval-validation.json in a; tercet eval --run a --split validation makes it" {
		t.Error(got)
	}
}
