package rundir_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/archive"
	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
)

// Runs in an archive are read as those in folders; weights, logs and pictures are not in it.
func TestArchivedRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"runs/x-2", "runs/x-10", "runs/y"} {
		rundirtest.Put(t, dir, name+"/manifest.json", rundirtest.Manifest(1, "finished", 100))
		rundirtest.Put(t, dir, name+"/config.yaml", "name: x\n")
		rundirtest.Put(t, dir, name+"/eval.json", rundirtest.EvalFile(0.5, 0.25))
		rundirtest.Put(t, dir, name+"/cluster-kmeans/cluster.json", rundirtest.ClusterFile)
		for _, left := range []string{"events.jsonl", "checkpoints/last.safetensors", "checkpoints/x.json", "figures/tsne.png", "labels.npy", ".eval.json.tmp", "lock"} {
			rundirtest.Put(t, dir, name+"/"+left, "x")
		}
	}
	file := filepath.Join(dir, "runs.zip")
	if n, err := rundir.Archive(file, []string{filepath.Join(dir, "runs/x-2"), filepath.Join(dir, "runs/x-10"), filepath.Join(dir, "runs/y")}, false); err != nil || n != 12 {
		t.Fatalf("%d files, %v", n, err)
	}
	logs := filepath.Join(dir, "logs.zip")
	if n, err := rundir.Archive(logs, []string{filepath.Join(dir, "runs/y")}, true); err != nil || n != 5 {
		t.Errorf("with logs: %d files, %v", n, err)
	}
	if b, err := archive.ReadFile(filepath.Join(logs, "y/events.jsonl"), 10); err != nil || string(b) != "x" {
		t.Errorf("the log: %q, %v", b, err)
	}
	if err := os.Remove(logs); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(dir, "linked")
	if err := os.Symlink(filepath.Join(dir, "runs/y"), linked); err != nil {
		t.Fatal(err)
	}
	if n, err := rundir.Archive(filepath.Join(t.TempDir(), "linked.zip"), []string{linked}, false); err != nil || n != 4 {
		t.Errorf("a link to a run: %d files, %v", n, err)
	}
	for pattern, want := range map[string]string{
		"runs.zip":      "runs.zip/x-2 runs.zip/x-10 runs.zip/y",
		"runs.zip/x-*":  "runs.zip/x-2 runs.zip/x-10",
		"*.zip/y":       "runs.zip/y",
		"*.zip":         "runs.zip/x-2 runs.zip/x-10 runs.zip/y",
		"runs.zip/x-10": "runs.zip/x-10",
	} {
		found, err := rundir.Find([]string{filepath.Join(dir, pattern)})
		for i := range found {
			found[i], _ = filepath.Rel(dir, found[i])
		}
		if got := filepath.ToSlash(strings.Join(found, " ")); err != nil || got != want {
			t.Errorf("%s: %s, %v", pattern, got, err)
		}
	}
	if found, err := rundir.Find([]string{filepath.Join(dir, "*")}); err != nil || len(found) != 3 {
		t.Errorf("an archive with the folder of its runs: %v, %v", found, err)
	}
	a, err := rundir.Read(filepath.Join(dir, "runs", "x-10"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := rundir.Read(filepath.Join(file, "x-10"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.ReadClusterings(), b.ReadClusterings()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(a.Scores(), b.Scores()); d != "" || len(b.Clusterings) != 1 || b.Name() != "x-10" {
		t.Errorf("%d clusterings of %s %s", len(b.Clusterings), b.Name(), d)
	}
}

func TestArchiveRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a/x", "b/x"} {
		rundirtest.Put(t, dir, name+"/manifest.json", rundirtest.Manifest(1, "finished", 100))
	}
	if _, err := rundir.Archive(filepath.Join(dir, "x.zip"), []string{filepath.Join(dir, "a/x"), filepath.Join(dir, "b/x")}, false); !errors.Is(err, rundir.ErrRun) {
		t.Errorf("two runs of one name: %v", err)
	}
	rundirtest.Put(t, dir, "bare/events.jsonl", "x")
	if _, err := rundir.Archive(filepath.Join(dir, "bare.zip"), []string{filepath.Join(dir, "bare")}, false); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), "no documents") {
		t.Errorf("a run without documents: %v", err)
	}
	rundirtest.Put(t, dir, "bad.zip", "no archive")
	for _, pattern := range []string{"bad.zip", "bad.zip/*", "bad.zip/x"} {
		if _, err := rundir.Find([]string{filepath.Join(dir, pattern)}); !errors.Is(err, rundir.ErrRun) || !errors.Is(err, archive.ErrArchive) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
