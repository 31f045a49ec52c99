package commands_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/config"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/run"
	"tercet/internal/testutil"
)

const sixSeeds = " -c tiny.yaml --set 'sweep={seed: [0, 1, 2, 3, 4, 5]}'"

// stand makes the runs of sixSeeds with the given states; "" is a run that was not begun.
func stand(t *testing.T, states ...record.Status) []*config.Config {
	t.Helper()
	clitest.InTiny(t)
	cfg, err := config.Load("tiny.yaml", []string{"sweep={seed: [0, 1, 2, 3, 4, 5]}"})
	if err != nil {
		t.Fatal(err)
	}
	variants, err := run.Variants(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i, state := range states {
		if state == "" {
			continue
		}
		r, err := run.Create("runs", variants[i])
		if err != nil {
			t.Fatal(err)
		}
		r.Manifest.Status, r.Manifest.Steps, r.Manifest.Of = state, 10*i, 100
		if err := r.SaveManifest(); err != nil {
			t.Fatal(err)
		}
		if state != printed.InTraining {
			r.Close()
		} else {
			t.Cleanup(r.Close)
		}
	}
	return variants
}

func statusOf(t *testing.T, args string) printed.SweepStatus {
	t.Helper()
	var doc printed.SweepStatus
	if err := json.Unmarshal([]byte(clitest.Must(t, 0, "sweep status --json "+args)), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestStatus(t *testing.T) {
	variants := stand(t, record.Finished, record.Running, "", printed.InTraining, record.Diverged, record.Interrupted)
	testutil.Write(t, "runs/"+variants[1].Name+"/lock", "process 12 on n7, Slurm job 55, task 2") // as a killed one leaves it
	before := clitest.Snapshot(t, ".")
	doc := statusOf(t, sixSeeds)
	var got []record.Status
	for _, r := range doc.Runs {
		got = append(got, r.Status)
	}
	want := []record.Status{record.Finished, printed.Dead, printed.NotBegun, printed.InTraining, record.Diverged, record.Interrupted}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if dead := doc.Runs[1]; dead.By != "process 12 on n7, Slurm job 55, task 2" || dead.Steps != 10 || dead.Of != 100 {
		t.Errorf("the dead run is %+v", dead)
	}
	if held := doc.Runs[3]; !strings.HasPrefix(held.By, "process ") {
		t.Errorf("the run in training is %+v", held)
	}
	// A task with a run in training has a process, which trains its other runs next.
	for tasks, want := range map[string]string{"": "2,3,6", " --tasks 6": "2,3,6", " --tasks 3": "2,3", " --tasks 2": "1", " --tasks 1": "", " --tasks 9": "2,3,6"} {
		if got := statusOf(t, sixSeeds+tasks).Array; got != want {
			t.Errorf("%q: submit %q again, want %q", tasks, got, want)
		}
	}
	out := clitest.Must(t, 0, "sweep status"+sixSeeds)
	for _, want := range []string{
		"6 runs: 1 finished, 1 training, 1 interrupted, 1 dead, 1 not begun, 1 diverged\n",
		"\ndead         runs/" + variants[1].Name + ": step 10 of 100; process 12 on n7, Slurm job 55, task 2\n",
		"\nsubmit again: --array=2,3,6 (of 6 tasks)\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	// Without the config, runs that were not begun are not known.
	if out := clitest.Must(t, 0, "sweep status runs"); !strings.HasPrefix(out, "5 runs: ") || strings.Contains(out, "again") {
		t.Errorf("printed\n%s", out)
	}
	clitest.Unchanged(t, ".", before, nil)
}

func TestStatusOfWhatCannotBeRun(t *testing.T) {
	variants := stand(t, record.Finished, record.Finished, record.Finished)
	testutil.Write(t, "runs/"+variants[0].Name+"/manifest.json", "{")
	clitest.Must(t, 0, "train -c tiny.yaml --set train.epochs=1 --set name="+variants[3].Name)
	os.RemoveAll("runs/" + variants[1].Name)
	clitest.Put(t, "runs/"+variants[1].Name+"/notes.txt", "mine")
	doc := statusOf(t, sixSeeds)
	want := map[string]int{"unreadable": 1, "other": 2, "finished": 1, "not begun": 2}
	if d := cmp.Diff(want, doc.Counts); d != "" || doc.Array != "5,6" {
		t.Errorf("submit %q again; %s", doc.Array, d)
	}
	if out := clitest.Must(t, 0, "sweep status"+sixSeeds); !strings.Contains(out, variants[0].Name+": runs/"+variants[0].Name+"/manifest.json") {
		t.Errorf("printed\n%s", out)
	}
	for line, want := range map[string]string{
		"sweep status tiny.yaml":               "write --config tiny.yaml",
		"sweep status runs --tasks 3":          "--tasks needs --config",
		"sweep status a b -c tiny.yaml":        "a and b",
		"sweep status -c tiny.yaml --tasks=-1": "--tasks is -1",
		"sweep status -c nowhere.yaml":         "nowhere.yaml",
	} {
		clitest.Refuse(t, base.ExitUsage, line, want)
	}
	clitest.Refuse(t, base.ExitData, "sweep status nowhere", "nowhere does not exist")
}
