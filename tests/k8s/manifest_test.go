package k8s

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// emitted is what the program at TERCET prints for a sweep of so many runs.
func emitted(t *testing.T, format string, runs int) string {
	t.Helper()
	program := os.Getenv("TERCET")
	if program == "" {
		t.Fatal("the variable TERCET names no program; make k8s-test sets it")
	}
	var seeds []string
	for i := range runs {
		seeds = append(seeds, fmt.Sprint(i))
	}
	config := filepath.Join(t.TempDir(), "sweep.yaml")
	text := `name: tiny
data: {name: glyphs, size: 12, glyphs: {classes: 4, per_class: 4, test_classes: 2}}
model: {name: mlp, width: 4, embedding: 2}
batch: {sampler: class-pairs, pairs: 2}
train: {epochs: 1}
sweep: {seed: [` + strings.Join(seeds, ", ") + "]}\n"
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "train", config, "--emit", format, "--quiet", "--set", "train.shards=2")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestEmittedManifestsAreAccepted(t *testing.T) {
	for _, format := range []string{"kubernetes", "jobset", "mpijob"} {
		for _, runs := range []int{1, 7, 1000} {
			for _, err := range Check([]byte(emitted(t, format, runs))) {
				t.Errorf("%s, %d runs: %v", format, runs, err)
			}
		}
	}
	goldens, err := filepath.Glob("../../internal/emit/testdata/*-*.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range goldens {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\napiVersion: ") {
			continue
		}
		n++
		for _, err := range Check(text) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if n < 6 {
		t.Errorf("%d manifests among the goldens", n)
	}
}

// Each change of a manifest is refused, with the field in the message.
func TestBrokenManifestsAreRefused(t *testing.T) {
	for _, tc := range []struct{ format, old, new, want string }{
		{"kubernetes", "backoffLimitPerIndex:", "backoffLimitPerIndx:", `unknown field "backoffLimitPerIndx"`},
		{"kubernetes", "values: [1, 130]", "values: [0, 130]", "spec.podFailurePolicy.rules[3].onExitCodes.values[0]"},
		{"kubernetes", "restartPolicy: Never", "restartPolicy: OnFailure", "spec.template.spec.restartPolicy"},
		{"kubernetes", "completionMode: Indexed", "completionMode: NonIndexed", "spec.backoffLimitPerIndex"},
		{"kubernetes", "containerName: tercet, operator: In, values: [2]", "containerName: terce, operator: In, values: [2]", "spec.podFailurePolicy.rules[1].onExitCodes.containerName"},
		{"jobset", "replicatedJobs:", "replicatedJob:", `unknown field "replicatedJob"`},
		{"jobset", "maxRestarts: 0", "maxRestarts: none", "maxRestarts"},
		{"jobset", "- name: train", "- name: Train", "spec.replicatedJobs[0].name"},
		{"jobset", "failurePolicy: {maxRestarts: 0}", "failurePolicy: {restartStrategy: Never}", "spec.failurePolicy.restartStrategy"},
		{"jobset", "restartPolicy: Never", "restartPolicy: OnFailure", "spec.replicatedJobs[0].template.spec.template.spec.restartPolicy"},
		{"mpijob", "slotsPerWorker: 1", "slotPerWorker: 1", `unknown field "slotPerWorker"`},
		{"mpijob", "mpiImplementation: OpenMPI", "mpiImplementation: LAM", "spec.mpiImplementation"},
		{"mpijob", "    Launcher:", "    Starter:", "spec.mpiReplicaSpecs"},
		{"mpijob", "cleanPodPolicy: Running", "cleanPodPolicy: Some", "spec.runPolicy.cleanPodPolicy"},
		{"mpijob", "requests: {cpu: 100m, memory: 256Mi}", "requests: {cpu: lots, memory: 256Mi}", "quantities must match"},
	} {
		good := emitted(t, tc.format, 4)
		if strings.Count(good, tc.old) != 1 {
			t.Errorf("%s: %q is there %d times", tc.format, tc.old, strings.Count(good, tc.old))
		}
		var said []string
		for _, err := range Check([]byte(strings.Replace(good, tc.old, tc.new, 1))) {
			said = append(said, err.Error())
		}
		if !strings.Contains(strings.Join(said, "\n"), tc.want) {
			t.Errorf("%s with %q: said %q, want %s", tc.format, tc.new, said, tc.want)
		} else {
			t.Logf("%s with %q: %s", tc.format, tc.new, strings.Join(said, "; "))
		}
	}
	if errs := Check([]byte("apiVersion: v1\nkind: Secret\n")); len(errs) != 1 {
		t.Errorf("an unknown kind: %v", errs)
	}
}
