package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/metric"
	"tercet/internal/record"
	"tercet/internal/render"
)

// put writes a file below dir and makes its folders.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func manifest(seed int, status string, steps int) string {
	return fmt.Sprintf(`{"schema": "tercet.run/1", "name": "x", "version": "v1", "status": %q, "message": "stopped. Try less.", "seed": %d,
 "config_hash": "0123456789ab", "data": {"name": "glyphs",
  "train": {"items": 400, "classes": 20, "shape": [32, 32, 1], "fingerprint": "sha256:aa"},
  "test": {"items": 200, "classes": 10, "shape": [32, 32, 1], "fingerprint": "sha256:bb"}},
 "model": {"name": "cnn", "embedding": 16, "parameters": 1234}, "steps": %d, "steps_planned": 100,
 "cost": {"Forward": 6400, "Backward": 3200}, "seconds": 12.5, "cpu": "Some CPU", "kernel": "avx2", "os": "linux/amd64", "started": "2026-01-02T03:04:05Z"}`, status, seed, steps)
}

func evalFile(recall, untrained float64) string {
	return fmt.Sprintf(`{"schema": "tercet.eval/1", "source": {"checkpoint": "last", "step": 100, "set": "test", "items": 200, "classes": 10, "dim": 16, "fingerprint": "sha256:bb"},
 "retrieval": {"recall@1": {"value": %v, "ci95": [0.7, 1], "definition": "recall@1(any)"}, "map@10": {"value": 0.5, "definition": "map@10(robrank)"}},
 "clustering": {"nmi": {"value": 0.5, "definition": "nmi(arithmetic)"}}, "queries_excluded": 3, "warnings": ["beware"],
 "baselines": {"pixels": {"retrieval": {"recall@1": {"value": 0.25, "definition": "recall@1(any)"}}},
  "untrained": {"retrieval": {"recall@1": {"value": %v, "definition": "recall@1(any)"}}}},
 "cost": {"Forward": 400, "Backward": 0, "seconds": 1.5}}`, recall, untrained)
}

const attackFile = `{"schema": "tercet.attack/2", "source": {"checkpoint": "last", "step": 100, "set": "test", "items": 200, "dim": 16},
 "options": {"attacks": ["ES"], "norm": "linf", "eps": 0.25, "step": 0.0625, "iterations": 32, "rule": "fixed", "start": "clean", "restarts": 1, "keep": "last"}, "queries": 200,
 "scores": {"fixed": {"ES:D": {"value": 1.5, "definition": "es:d(fixed)"}, "ES:R": {"value": 0.125, "definition": "es:r(fixed)"}},
  "published": {"ES:D": {"value": 1.25, "definition": "es:d(published)"}, "ES:R": {"value": 0.1, "definition": "es:r(published)"}}},
 "clean": {"fixed": {"ES:D": {"value": 0}, "ES:R": {"value": 0.875}}, "published": {"ES:D": {"value": 0}, "ES:R": {"value": 0.75}}},
 "right_when_clean": {"fixed": {"queries": 175, "scores": {"ES:D": {"value": 1}, "ES:R": {"value": 0.14}}}}, "cost": {"Forward": 264, "Backward": 2048, "seconds": 3}}`

const clusterFile = `{"schema": "tercet.cluster/1", "source": {"checkpoint": "last", "step": 100, "set": "test", "items": 200, "dim": 16}, "options": {"method": "kmeans"},
 "clusters": 3, "sizes": [50, 20, 130], "objective": 12.5, "lower_bound": null, "clustering": {"nmi": {"value": 0.75, "definition": "nmi(arithmetic)"}},
 "cost": {"Forward": 200, "seconds": 0.5}, "labels": [0, 1, 2]}`

// fake makes a run directory and reads it.
func fake(t *testing.T, dir string, seed int, status string, results map[string]string, labels ...Label) *RunDir {
	t.Helper()
	steps := 100
	if status != "finished" {
		steps = 40
	}
	put(t, dir, "manifest.json", manifest(seed, status, steps))
	for name, text := range results {
		put(t, dir, name, text)
	}
	r, err := ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	r.Labels = append([]Label{{"name", "x"}, {"seed", fmt.Sprint(seed)}}, labels...)
	return r
}

func TestFindRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, d := range []string{"runs/a-seed-10", "runs/a-seed-2", "runs/b", "other/c[1]"} {
		put(t, d, "manifest.json", "{}")
	}
	put(t, "runs", "notes.txt", "")
	put(t, "runs/pictures", "x.txt", "")
	put(t, "runs/killed", "config.yaml", "") // a broken run is found, so that it is named
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
		got, err := FindRuns(strings.Fields(tc.patterns))
		if err != nil || strings.Join(got, " ") != tc.want {
			t.Errorf("%s: got %v, %v, want %s", tc.patterns, got, err, tc.want)
		}
	}
	for pattern, want := range map[string]string{
		"none":           "none does not exist",
		"none*":          "no folder matches none*",
		"runs/notes*":    "no folder matches runs/notes*",
		"runs/notes.txt": "runs/notes.txt is a file; name the run's directory",
		"runs/pictures":  "neither runs/pictures nor a folder in it has a manifest.json",
		"runs/p*":        "neither runs/pictures nor a folder in it has a manifest.json",
	} {
		if _, err := FindRuns([]string{pattern}); !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", pattern, err, want)
		}
	}
	if _, err := FindRuns([]string{"["}); !errors.Is(err, filepath.ErrBadPattern) {
		t.Errorf("bad glob: %v", err)
	}
}

func TestNaturalOrder(t *testing.T) {
	list := []string{"", "a", "a-2", "a-10", "a-10b", "a-010x", "b1", "b01c"}
	for i, a := range list {
		for j, b := range list {
			if got := natural(a, b); got != cmpInt(i, j) {
				t.Errorf("%q, %q: %d", a, b, got)
			}
		}
	}
}

func cmpInt(i, j int) int {
	switch {
	case i < j:
		return -1
	case i > j:
		return 1
	}
	return 0
}

func TestReadRunKeepsTheOrderOfScores(t *testing.T) {
	r := fake(t, filepath.Join(t.TempDir(), "x"), 3, "finished", map[string]string{"eval.json": evalFile(0.9, 0.4), "attack.json": attackFile, "cluster.json": clusterFile})
	var got []string
	for _, s := range r.scores() {
		got = append(got, fmt.Sprint(s.Key, " ", s.Value.Value))
	}
	want := []string{"recall@1 0.9", "map@10 0.5", "nmi 0.5", "ES:D 1.5", "ES:R 0.125", "ES:D(published) 1.25", "ES:R(published) 0.1", "cluster:clusters 3", "cluster:nmi 0.75"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if m := r.Manifest; m.Cost != (record.Cost{Forward: 6400, Backward: 3200}) || m.Seed != 3 || m.Data.Test.Shape != [3]int{32, 32, 1} {
		t.Errorf("manifest: %+v", m)
	}
	if v, _ := r.scores().Get("recall@1"); v.CI95 == nil || *v.CI95 != [2]float64{0.7, 1} {
		t.Errorf("interval %v", v.CI95)
	}
}

func TestBrokenRunsAreNamed(t *testing.T) {
	score := func(s string) string { return `{"schema": "tercet.eval/1", "retrieval": {` + s + `}}` }
	for _, tc := range []struct{ file, text, want string }{
		{"manifest.json", "", "manifest.json is empty"},
		{"manifest.json", "{\"schema\": \"tercet.run/1\",\n \"seed\": \n", "manifest.json:3: not valid JSON"},
		{"manifest.json", manifest(1, "finished", 1) + "x", "manifest.json:6: not valid JSON"},
		{"manifest.json", "{\"schema\": \"tercet.run/1\",\n\"seed\": -1}", "manifest.json:2: not valid JSON of a run"},
		{"manifest.json", `{"schema": "tercet.run/2"}`, `manifest.json: schema is "tercet.run/2"; this version reads tercet.run/1`},
		{"manifest.json", `[]`, "manifest.json:1: not valid JSON of a run"},
		{"eval.json", `{}`, `eval.json: schema is ""`},
		{"eval.json", `{"schema": "tercet.eval/1"}`, `eval.json has no scores under "retrieval"`},
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
		put(t, dir, "manifest.json", manifest(0, "finished", 100))
		put(t, dir, tc.file, tc.text)
		if _, err := ReadRun(dir); !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s %s\ngot  %v\nwant %s", tc.file, tc.text, err, tc.want)
		}
	}
	dir := t.TempDir()
	put(t, dir, "config.yaml", "")
	if _, err := ReadRun(dir); !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), "manifest.json") {
		t.Errorf("no manifest: %v", err)
	}
}

func TestFiguresMustBePictures(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "figures/pca.png", "")
	r := fake(t, dir, 0, "finished", nil)
	if err := r.CheckFigures(); !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), "pca.png is not a PNG") {
		t.Errorf("got %v", err)
	}
	if err := render.ContactSheet(filepath.Join(dir, "figures/pca.png"), "", []render.Tile{{Image: grayTile(), Caption: ""}}, 1); err != nil {
		t.Fatal(err)
	}
	if err := r.CheckFigures(); err != nil {
		t.Error(err)
	}
}

func TestEvalTableShowsTheHeadline(t *testing.T) {
	own := record.Evaluated{
		Retrieval: metric.Scores{{Key: "recall@16", Value: metric.Value{Value: 0.5, CI95: &[2]float64{0.25, 0.75}}}, {Key: "map@10", Value: metric.Value{Value: 0.25}},
			{Key: "recall@1(position-masked)", Value: metric.Value{Value: 0.1}}},
		Clustering: metric.Scores{{Key: "bcubed_f1", Value: metric.Value{Value: 0.75}}, {Key: "bcubed_recall", Value: metric.Value{Value: 1}}},
		Excluded:   2,
	}
	base := map[string]record.Evaluated{"pixels": {Retrieval: metric.Scores{{Key: "recall@16", Value: metric.Value{Value: 0.125}}}}}
	table, left := EvalTable("x", "trained", own, base, false)
	want := "score,trained,trained_low,trained_high,pixels\nrecall@16,0.5,0.25,0.75,0.125\nbcubed_f1,0.75,,,\n"
	if got := rendered(t, table, "csv"); got != want || left != 3 {
		t.Errorf("left %d, got\n%s", left, got)
	}
	if len(table.Notes) != 1 || !strings.HasPrefix(table.Notes[0], "2 queries left out") {
		t.Errorf("notes %q", table.Notes)
	}
	if table, left = EvalTable("x", "trained", own, nil, true); left != 0 || len(table.Rows) != 5 || len(table.Columns) != 2 {
		t.Errorf("all: %d left, %d rows", left, len(table.Rows))
	}
}
