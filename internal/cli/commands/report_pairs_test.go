package commands_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/render"
	"tercet/internal/study"
)

func TestReportOfPairs(t *testing.T) {
	t.Chdir(t.TempDir())
	for seed := range uint64(3) {
		for i, width := range []int{4, 8, 16} {
			dir := clitest.PairFake(t, fmt.Sprintf("w%d-%d", width, seed), width, seed, []float64{0.25, 0.5, 0.125}[i])
			clitest.WriteFile(t, filepath.Join(dir, "events.jsonl"), `{"event":"eval","step":5,"epoch":1,"metrics":{"pair_accuracy":0.5,"pair_train_accuracy":0.75}}
{"event":"eval","step":10,"epoch":2,"metrics":{"pair_accuracy":0.75,"pair_train_accuracy":1}}
`)
		}
	}
	if code, _, stderr := clitest.Run("bound", "partition", "runs"); code != 0 {
		t.Fatal(stderr)
	}
	for table, want := range map[string]string{
		"pairs":          "mnist,10,s2,same-index,shuffled,offline,,PLN 10 %,mlp,8,8000,10,3,0.10000000000000002,0.09999999999999998,0.10000000000000006,0.005,0.005,0.005,0.10000000000000002,0.09999999999999998,0.10000000000000006,0.5,0.5,0.5,",
		"pair-claims":    "C1,mnist,mlp,,10,\"s2, PLN 10 %\",rise to the peak at width 8,3,0.25,0.25,0.25,interval above 0,supported",
		"double-descent": ",3,3,8,8000,0.5,0.5,0.5,0.25,0.25,0.25,0.375,0.375,0.375,0.125,0.125,0.125,4,supported",
		"pair-epochs":    ",mlp,4,4000,3,2,0.25,0.25,0.25,,,,,2,0.25,0.25,0.25,0,0,0,inconclusive",
		"pair-floor":     ",mlp,16,16000,3,0.005,0.005,0.005,0.005,0.005,0.005,0,0,0,supported,,,,,0.0",
		"online-offline": ",mlp,16,16000,3,10,0.25,0.25,0.25,,",
	} {
		args := []string{"report", "--table", table, "--format", "csv", "runs"}
		note := ""
		if table != "pairs" && table != "pair-claims" {
			args, note = append(args, "--curves", "pictures/"+table), "wrote pictures/"+table+"-mnist.png\n"
		}
		code, out, stderr := clitest.Run(args...)
		if code != 0 || !strings.Contains(out, want) || stderr != note {
			t.Errorf("%s: %d %s%s", table, code, out, stderr)
		}
		if _, err := os.Stat("pictures/" + table + "-mnist.svg"); err != nil && note != "" {
			t.Error(err)
		}
		for _, f := range render.Formats() {
			if code, out, stderr := clitest.Run("report", "--table", table, "--format", f, "runs"); code != 0 || out == "" {
				t.Errorf("%s as %s: %d %s", table, f, code, stderr)
			}
		}
	}
	code, out, _ := clitest.Run("report", "--table", "double-descent", "--json", "runs")
	var doc study.Document
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || doc.Schema != "tercet.study/1" || len(doc.Rows) != 1 || doc.Rows[0].Fields["peak"] != "8" {
		t.Errorf("%v %s", err, out)
	}
	code, out, stderr := clitest.Run("report", "--table", "noise-robust", "runs/w4-0")
	if code != 0 || !strings.Contains(out, "contrastive") {
		t.Errorf("%d %s%s", code, out, stderr)
	}
	// A table without a row says what is missing.
	if err := os.Remove("runs/w16-1/pairs.json"); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"noise-attack runs/w4-0":      "no attack.json in runs/w4-0; tercet attack --run runs/w4-0 makes it",
		"noise-clustering runs/w4-0":  "not clustered: runs/w4-0",
		"pairs runs/w16-1":            "no pairs.json in runs/w16-1",
		"pair-claims runs/w16-1":      "table pair-claims has no row of 1 run",
		"clustering-claims runs/w4-0": "not clustered: runs/w4-0",
	} {
		if code, out, stderr = clitest.Run(append([]string{"report", "--table"}, strings.Fields(args)...)...); code != base.ExitData || out != "" || !strings.Contains(stderr, "no usable run: table ") || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d %s%s", args, code, out, stderr)
		}
	}
	clitest.WriteFile(t, "runs/w4-0/pairs.json", "{")
	if code, _, stderr := clitest.Run("report", "--table", "pairs", "runs"); code != base.ExitData || !strings.Contains(stderr, "pairs.json") {
		t.Errorf("%d %s", code, stderr)
	}
	for _, args := range [][]string{
		{"--table", "pairs"}, {"--table", "pair-claims", "--curves", "x", "runs/w8-0"}, {"--table", "pairs", "--metric", "nmi", "runs/w8-0"}, {"--table", "pairs", "--curves", "x", "runs/w8-0"}, {"--table", "pair-floor", "--out", "x.md", "runs/w8-0"},
		{"--table", "double-descent", "--curves", "x", "runs/w8-0"}, {"--table", "pairs", "runs/w8-0", "--format", "odt"},
	} {
		if code, out, stderr := clitest.Run(append([]string{"report"}, args...)...); code != base.ExitUsage || out != "" || stderr == "" {
			t.Errorf("%q: %d %s%s", args, code, out, stderr)
		}
	}
}
