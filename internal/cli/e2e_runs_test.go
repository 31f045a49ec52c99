package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/run"
)

func TestOutputFoldersOfOthers(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	clitest.Put(t, "runs/notes/todo.txt", "mine")
	clitest.Put(t, "runs/file", "mine")
	before := clitest.Snapshot(t, ".")
	clitest.Refuse(t, 2, "train -c tiny.yaml --seed 1", "holds a run of another config; first difference:\n  there: seed: 0\n  here:  seed: 1\n")
	clitest.Refuse(t, 2, "train -c tiny.yaml --set name=notes", "is not empty and holds no run")
	clitest.Refuse(t, 2, "train -c tiny.yaml --set name=file", "is a file")
	clitest.Refuse(t, 3, "train --resume runs/notes", "has no config.yaml")
	clitest.Refuse(t, 3, "eval --run runs/notes", "runs/notes has no config.yaml; a run directory is what")
	clitest.Refuse(t, 3, "eval runs/t*", "runs/t* is a pattern of 1 run; name one, such as runs/tiny")
	clitest.Refuse(t, 3, "eval runs/z*", "runs/z* does not exist; a run")
	clitest.Refuse(t, 3, "eval tiny", "tiny does not exist; did you mean runs/tiny?")
	clitest.Refuse(t, 3, "eval runs", "runs has no config.yaml, but 1 run; name one, such as runs/tiny")
	clitest.Refuse(t, 1, "train -c tiny.yaml --runs-dir tiny.yaml", "not a directory")
	clitest.Unchanged(t, ".", before, nil)
}

func TestBadRuns(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	clitest.Must(t, 0, "train -c tiny.yaml --set name=other --seed 1")
	const last = "runs/tiny/checkpoints/last.safetensors"
	good := map[string]string{}
	for _, path := range []string{last, "runs/tiny/config.yaml", "runs/tiny/manifest.json"} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		good[path] = string(b)
	}
	other, err := os.ReadFile("runs/other/checkpoints/last.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	header := good[last][:8]
	for _, tc := range []struct{ path, content, want string }{
		{last, good[last][:len(good[last])-1], last},
		{last, good[last][:100], last},
		{last, "", last},
		{last, "\xff\xff\xff\xff\xff\xff\xff\x7f" + good[last][8:], last},
		{last, header + strings.Repeat("{", len(good[last])-8), last},
		{last, string(other), "belongs to another config"},
		{"runs/tiny/config.yaml", good["runs/tiny/config.yaml"] + "sed: 1\n", "sed: unknown key; did you mean seed?"},
		{"runs/tiny/config.yaml", "name: [tiny\n", "runs/tiny/config.yaml"},
		{"runs/tiny/config.yaml", strings.Replace(good["runs/tiny/config.yaml"], "seed: 0", "seed: 7", 1), "was changed since the run began"},
		{"runs/tiny/manifest.json", good["runs/tiny/manifest.json"][:40], "runs/tiny/manifest.json"},
	} {
		clitest.Put(t, tc.path, tc.content)
		before := clitest.Snapshot(t, ".")
		for _, line := range []string{"eval --run runs/tiny", "attack --run runs/tiny", "cluster --run runs/tiny"} {
			clitest.Refuse(t, base.ExitData, line, tc.want)
		}
		clitest.Unchanged(t, ".", before, func(path string) bool { return filepath.Base(path) == "lock" })
		clitest.Put(t, tc.path, good[tc.path])
	}
	clitest.Must(t, 0, "eval --run runs/tiny")
}

func TestBadConfigs(t *testing.T) {
	clitest.InTiny(t)
	clitest.Put(t, "torn.yaml", clitest.Tiny[:len(clitest.Tiny)-20])
	clitest.Put(t, "binary.yaml", "\x00\x01\x02")
	before := clitest.Snapshot(t, ".")
	for _, tc := range []struct{ line, want string }{
		{"train -c torn.yaml", "torn.yaml:"},
		{"train -c binary.yaml", "binary.yaml"},
		{"train -c gone.yaml", "gone.yaml: no such config file"},
		{"train -c tiny.yaml --set model.widht=3", "did you mean width?"},
		{"train -c tiny.yaml --set train.epochs=0", "train.epochs"},
		{"train -c tiny.yaml --set data.split.validation=1", "data.split.validation: must be >=0 and <=0.9, is 1"},
		{"train -c tiny.yaml --set name=../up", "names a folder"},
		{"train -c tiny.yaml --resume runs/x", "resume"},
		{"train -c tiny.yaml --set train.early_stop.metric=retrieval.nmi --set train.early_stop.on=test --set name=m", `retrieval has no score "nmi"`},
	} {
		clitest.Refuse(t, base.ExitUsage, tc.line, tc.want)
	}
	clitest.Unchanged(t, ".", before, func(path string) bool { return strings.HasPrefix(path, "runs/m/") })
	if _, err := os.Stat("../up"); err == nil {
		t.Error("a run outside its folder")
	}
}

func TestTwoProcessesOnOneRun(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml --set train.epochs=1")
	r, err := run.Open("runs/tiny") // another open file: another holder of the lock
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_JOB_ID", "17")
	t.Setenv("SLURM_ARRAY_TASK_ID", "3")
	if err := r.Lock(); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	before := clitest.Snapshot(t, "runs")
	clitest.Refuse(t, base.ExitFailed, "train -c tiny.yaml", fmt.Sprintf("another process is working on this run (process %d on %s, Slurm job 17, task 3): runs/tiny", os.Getpid(), host))
	clitest.Unchanged(t, "runs", before, nil)
	// Evaluating a run does not change its training.
	for _, line := range []string{"eval --run runs/tiny", "attack --run runs/tiny", "cluster --run runs/tiny"} {
		clitest.Must(t, 0, line)
	}
	r.Close()
}

func TestDryRunWritesNothing(t *testing.T) {
	clitest.InTiny(t)
	before := clitest.Snapshot(t, ".")
	plan := clitest.Must(t, 0, "train -c tiny.yaml --dry-run --set data.split.validation=0.25")
	if !strings.Contains(plan, "54 training images of 9 classes, 18 validation images of 3 classes, 36 test images of 6 classes, 16x16x1") {
		t.Errorf("plan\n%s", plan)
	}
	doc := clitest.Document(t, "train -c tiny.yaml --dry-run")
	run := doc["runs"].([]any)[0].(map[string]any)
	if doc["schema"] != "tercet.plan/1" || run["steps"] != 18.0 || run["passes"].(map[string]any)["forward"] != 288.0 {
		t.Errorf("plan %v", run)
	}
	clitest.Refuse(t, base.ExitData, "train -c tiny.yaml --dry-run --set data=mnist --set data.root=gone", "gone")
	clitest.Unchanged(t, ".", before, nil)
}

func TestValidationSetOnTheCommandLine(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml --set data.split.validation=0.25")
	doc := clitest.Document(t, "eval --run runs/tiny --split validation")
	src := doc["source"].(map[string]any)
	if src["set"] != "validation" || src["items"] != 18.0 || src["classes"] != 3.0 {
		t.Errorf("source %v", src)
	}
	clitest.Document(t, "cluster --run runs/tiny --split validation")
	clitest.Must(t, 0, "train -c tiny.yaml --set name=none")
	clitest.Refuse(t, base.ExitData, "eval --run runs/none --split validation", "data.split.validation holds one out")
}
