package commands_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/cli"
	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/record"
	"tercet/internal/run"
)

const sweepLine = "train -c tiny.yaml --set 'sweep={seed: [0, 1, 2]}'"

func TestJobsChangeNoByte(t *testing.T) {
	clitest.InTiny(t)
	dirs := strings.Fields(clitest.Must(t, 0, sweepLine+" --out alone --threads 2"))
	code, out, stderr := clitest.Run(clitest.ShellWords(sweepLine + " --jobs 2")...)
	if code != 0 || out != strings.ReplaceAll(strings.Join(dirs, "\n")+"\n", "alone/", "runs/") {
		t.Fatalf("code %d, printed %q\n%s", code, out, stderr)
	}
	if !strings.HasPrefix(stderr, "3 runs, 2 at once, each on one thread\n") || strings.Count(stderr, ": done in ") != 3 || strings.Count(stderr, "data: ") != 1 || strings.Contains(stderr, "mean loss") {
		t.Errorf("said\n%s", stderr)
	}
	for _, dir := range dirs {
		if clitest.Checkpoints(t, dir) != clitest.Checkpoints(t, strings.Replace(dir, "alone/", "runs/", 1)) {
			t.Errorf("%s: other bytes with --jobs 2", dir)
		}
	}
	// Again: nothing to do. The document has them in the order of the sweep.
	runs := clitest.Document(t, sweepLine+" --jobs auto")["runs"].([]any)
	for i, r := range runs {
		if got := "alone/" + r.(map[string]any)["name"].(string); got != dirs[i] {
			t.Errorf("run %d is %s, want %s", i, got, dirs[i])
		}
	}
	// One run alone is on all threads, and is shown as always.
	_, _, stderr = clitest.Run(clitest.ShellWords("train -c tiny.yaml --jobs 8 --set name=single")...)
	if strings.Contains(stderr, "at once") || !strings.Contains(stderr, "epoch 2, step 18: mean loss") {
		t.Errorf("said\n%s", stderr)
	}
	for _, tc := range []struct{ line, want string }{
		{sweepLine + " --jobs 0", `--jobs is "0"; give a number of runs`},
		{sweepLine + " --jobs -1", `--jobs is "-1"`},
		{sweepLine + " --jobs many", `--jobs is "many"`},
		{sweepLine + " --jobs ''", `--jobs is ""`},
		{"train --resume runs/tiny --jobs 2", "resume"},
	} {
		clitest.Refuse(t, base.ExitUsage, tc.line, tc.want)
	}
}

func TestTheEndNamesRunsThatAreBusyOrLost(t *testing.T) {
	clitest.InTiny(t)
	line := "train -c tiny.yaml --set 'sweep={optimizer.lr: [1e30, 1e-3, 1e-2, 1e31]}' --set train.epochs=1"
	dirs := strings.Fields(clitest.Must(t, 0, line+" --list"))
	clitest.Must(t, 0, "train -c tiny.yaml --set optimizer.lr=1e-3 --set train.epochs=1 --set name="+filepath.Base(dirs[1]))
	r, err := run.Open(dirs[1]) // another open file: another holder of the lock
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Lock(); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, jobs := range []string{"1", "2"} {
		code, out, stderr := clitest.Run(clitest.ShellWords(line + " --out runs --quiet --jobs " + jobs)...)
		want := []string{
			"tercet: 3 of 4 runs were not trained to their end:",
			"  " + dirs[1] + ": another process is working on this run",
			"  " + dirs[0] + ": ", "  " + dirs[3] + ": ",
		}
		for _, w := range want {
			if strings.Count(stderr, w) != 1 {
				t.Errorf("--jobs %s: said %q %d times in\n%s", jobs, w, strings.Count(stderr, w), stderr)
			}
		}
		if code != base.ExitFailed || !slices.Equal(strings.Fields(out), dirs) {
			t.Errorf("--jobs %s: code %d, printed %q", jobs, code, out)
		}
		if _, err := os.Stat(dirs[2] + "/checkpoints/best.safetensors"); err != nil {
			t.Error(err)
		}
		os.RemoveAll(dirs[2])
	}
	r.Close()
	code, _, stderr := clitest.Run(clitest.ShellWords(line + " --quiet --jobs 2")...)
	if code != base.ExitDiverged || !strings.Contains(stderr, "2 of 4 runs were not trained to their end") {
		t.Errorf("code %d, said\n%s", code, stderr)
	}
}

func TestAFailedRunEndsTheSweep(t *testing.T) {
	clitest.InTiny(t)
	dirs := strings.Fields(clitest.Must(t, 0, sweepLine+" --list"))
	clitest.Put(t, dirs[0]+"/todo.txt", "mine")
	for _, jobs := range []string{"1", "2"} {
		clitest.Refuse(t, base.ExitUsage, sweepLine+" --jobs "+jobs, dirs[0]+" is not empty and holds no run")
		if _, err := os.Stat(dirs[2]); err == nil && jobs == "1" {
			t.Errorf("--jobs %s: %s was begun", jobs, dirs[2])
		}
	}
	if _, err := os.Stat(dirs[1] + "/checkpoints/last.safetensors"); err != nil {
		t.Errorf("the one in training beside it: %v", err)
	}
}

func TestASignalInterruptsAllThatAreInTraining(t *testing.T) {
	clitest.InTiny(t)
	line := "train -c tiny.yaml --set 'sweep={seed: [0, 1, 2]}' --set train.epochs=200"
	dirs := strings.Fields(clitest.Must(t, 0, line+" --list"))
	var out bytes.Buffer
	stderr := &clitest.SignalAt{Text: "sampler "} // a note before the first step
	code := cli.Main(clitest.ShellWords(line+" --jobs 2"), strings.NewReader(""), &out, stderr)
	said := string(stderr.All)
	if code != base.ExitInterrupted || out.Len() > 0 || !strings.Contains(said, "interrupted; the checkpoint is written; the same command resumes the sweep") {
		t.Fatalf("code %d, stdout %q, stderr %s", code, out.String(), said)
	}
	for _, dir := range dirs {
		r, err := run.Open(dir)
		if err != nil {
			continue // not begun
		}
		if r.Manifest.Status != record.Interrupted || !strings.Contains(said, dir+": interrupted") {
			t.Errorf("%s: %s\n%s", dir, r.Manifest.Status, said)
		}
		if _, err := os.Stat(dir + "/checkpoints/last.safetensors"); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(dirs[2]); err == nil {
		t.Error("the third was begun")
	}
}

func TestASweepNamesTheRunInEachLine(t *testing.T) {
	clitest.InTiny(t)
	_, _, stderr := clitest.Run(clitest.ShellWords(sweepLine)...)
	for i, name := range []string{"tiny-seed-0", "tiny-seed-1", "tiny-seed-2"} {
		line := fmt.Sprintf("run %d of 3: %s\n%[2]s: data: ", i+1, name)
		if strings.Count(stderr, line) != 1 {
			t.Errorf("%q is not in\n%s", line, stderr)
		}
	}
	for line := range strings.Lines(stderr) {
		if !strings.Contains(line, "tiny-seed-") {
			t.Errorf("a line names no run: %s", line)
		}
	}
	if _, _, stderr := clitest.Run("train", "-c", "tiny.yaml"); strings.Contains("\n"+stderr, "\ntiny: ") || strings.Contains(stderr, "run 1 of 1") {
		t.Errorf("said\n%s", stderr)
	}
}

// With --log-format json each line on stderr is an object, that of an error too.
func TestLogOfASweepIsJSON(t *testing.T) {
	clitest.InTiny(t)
	_, out, stderr := clitest.Run(append(clitest.ShellWords(sweepLine), "--log-format", "json")...)
	_, _, failed := clitest.Run("eval", "runs/there-is-none", "--log-format", "json")
	levels := map[string]int{}
	for line := range strings.Lines(stderr + failed) {
		var o struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &o); err != nil || o.Time == "" || o.Msg == "" {
			t.Fatalf("%v: %s", err, line)
		}
		if levels[o.Level]++; o.Level != "ERROR" && !strings.Contains(o.Msg, "tiny-seed-") {
			t.Errorf("a line names no run: %s", line)
		}
	}
	if levels["ERROR"] != 1 || levels["INFO"] < 9 || strings.Contains(out, "{") {
		t.Errorf("%v, and on stdout\n%s", levels, out)
	}
}
