package commands_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/cli/study"
	"tercet/internal/record/printed"
	"tercet/internal/study/making"
	"tercet/internal/testutil"
	"tercet/studies"
)

func TestStudyCommands(t *testing.T) {
	code, out, _ := clitest.Run("study", "list")
	if code != 0 || !strings.Contains(out, "triplet losses for clustering under label noise") {
		t.Errorf("%d %s", code, out)
	}
	var list printed.Studies
	if code, out, _ := clitest.Run("study", "list", "--json"); code != 0 || json.Unmarshal([]byte(out), &list) != nil || len(list.Studies) != len(studies.All.Names()) {
		t.Errorf("%d %s", code, out)
	}
	for _, e := range list.Studies {
		_, steps, _ := clitest.Run("study", "list", e.Name)
		for _, step := range e.Steps {
			if !strings.Contains(steps, "\n"+step) {
				t.Errorf("no step %s in\n%s", step, steps)
			}
		}
		out += steps
	}
	for line := range strings.Lines(out) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, args := range [][]string{
		{"list", "clusterin"}, {"list", "clustering", "mnist"}, {"run", "clusterin"}, {"run", "none.yaml"}, {"run", "clustering", "mnits"}, {"run", "clustering", "--jobs", "0"}, {"report", "clustering"},
		{"report", "clustering", "--table", "none", "x"}, {"report", "clustering", "--format", "odt", "x"}, {"report", "clustering", "--format", "csv", "x"},
	} {
		if code, out, stderr := clitest.Run(append([]string{"study"}, args...)...); code != base.ExitUsage || out != "" || stderr == "" {
			t.Errorf("%q: %d %s%s", args, code, out, stderr)
		}
	}
	t.Chdir(filepath.Join("..", "..", ".."))
	code, out, _ = clitest.Run("study", "run", "clustering", "mnist", "--set", "sweep.seed=[0]", "--runs-dir", "nowhere", "--dry-run")
	if code != 0 || !strings.HasPrefix(out, "tercet train --config configs/clustering/mnist-l1.yaml --set 'sweep.seed=[0]' --runs-dir nowhere --task 1/6\ntercet cluster --run nowhere/clustering-mnist-l1-rate-0_seed-0") {
		t.Errorf("%d %s", code, out)
	}
}

// A small study from its file to its tables, in this process.
func TestStudyRun(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.WriteFile(t, "mine.yaml", `
title: margins
run:
  - name: small
    configs: ["c.yaml sweep.loss.margin=[0.1,0.2] sweep.seed=[0,1]"]
    then: [{run: "eval --run {run} --if-needed --no-pictures"}]
    tables: [noise-robust]
tables:
  - name: margins
    title: recall by margin
    observe: {status: finished, results: [eval]}
    fields: [{name: margin, from: config.loss.margin, number: true}]
    scores: [{name: recall, from: score.recall@1}]
    rows: [margin]
    columns: [margin as number, n, recall as error]
`)
	clitest.WriteFile(t, "c.yaml", strings.Replace(testutil.Tiny, "name: tiny", "name: s", 1))
	spec, err := study.ReadSpec("mine.yaml")
	if err != nil {
		t.Fatal(err)
	}
	steps, err := making.Plan(spec, nil, "runs", nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	inProcess := func(_ context.Context, args []string, out, log io.Writer) (int, error) {
		lines++
		code, stdout, stderr := clitest.Run(args...)
		fmt.Fprint(out, stdout)
		fmt.Fprint(log, stderr)
		return code, nil
	}
	var out, err2 strings.Builder
	s := base.NewStreams(strings.NewReader(""), &out, &err2)
	if err := study.Make(t.Context(), s, spec, steps, "runs", 1, inProcess); err != nil {
		t.Fatal(err, err2.String())
	}
	if !strings.Contains(out.String(), "triplet losses under noise") || !strings.Contains(err2.String(), "wrote runs/tables/mine-small-noise-robust.txt") {
		t.Errorf("%s%s", out.String(), err2.String())
	}
	for _, file := range []string{"tables/mine-small-noise-robust.csv", "tables/mine-small-noise-robust.json", "logs/s-margin-0.1_seed-0.log"} {
		if _, err := os.Stat(filepath.Join("runs", file)); err != nil {
			t.Error(err)
		}
	}
	code, table, stderr := clitest.Run("study", "report", "mine.yaml", "--format", "csv", "runs")
	if code != 0 || !strings.HasPrefix(table, "margin,n,recall,recall_low,recall_high\n0.1,2,") {
		t.Errorf("%d %s%s", code, table, stderr)
	}
	before := lines
	if err := study.Make(t.Context(), s, spec, steps, "runs", 1, inProcess); err != nil || lines-before != 4+5 {
		t.Errorf("again: %d commands, %v", lines-before, err)
	}
	// One table that cannot be made leaves the others, and the error names the log that says why.
	steps[0].Tables = []string{"gap", "noise-robust"}
	if err := os.Remove("runs/tables/mine-small-noise-robust.csv"); err != nil {
		t.Fatal(err)
	}
	failed := study.Make(t.Context(), s, spec, steps, "runs", 1, inProcess)
	if failed == nil || !strings.Contains(failed.Error(), "see runs/logs/step-small.log") {
		t.Errorf("%v", failed)
	}
	for _, file := range []string{"logs/step-small.log", "tables/mine-small-noise-robust.csv"} {
		if _, err := os.Stat(filepath.Join("runs", file)); err != nil {
			t.Error(err)
		}
	}
}
