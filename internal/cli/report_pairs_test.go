package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/study"
)

// pairFake is a run of fakeRun on a pair graph, by the types with which train writes it.
func pairFake(t *testing.T, name string, width int, seed uint64, test float64) string {
	t.Helper()
	dir := fakeRun(t, name, seed, 0.5, "batch={sampler: pair-graph, scenario: s2, pairs: 600}", "loss=contrastive", "noise={kind: pln, effective: 0.1}", fmt.Sprintf("model={name: mlp, width: %d}", width))
	m := record.Manifest{Schema: "tercet.run/1", Name: name, Version: "v1", Status: record.Finished, Seed: seed, Steps: 10, Of: 10}
	m.Data.Name, m.Data.Train.Classes, m.Model.Name = "mnist", 10, "mlp"
	m.Data.Noise = &noise.Report{Kind: noise.PairLabel, Wanted: 0.1, Effective: 0.1}
	m.Data.Graph = &noise.GraphReport{Scenario: noise.Dense, Negatives: noise.SameIndex, Order: noise.Shuffled, Pairs: 600, Effective: 0.1}
	score := func(v float64) record.PairScore { return record.PairScore{Pairs: 600, Error: v} }
	held := score(test)
	doc := record.Pairs{Schema: "tercet.pairs/1", Parameters: 1000 * width, Steps: 10, Train: score(0.005), TrainClean: score(0.1), Test: &held, FloorDuplicates: 0.005}
	for file, v := range map[string]any{"manifest.json": m, "pairs.json": doc} {
		if err := record.Write(filepath.Join(dir, file), v); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReportPairs(t *testing.T) {
	t.Chdir(t.TempDir())
	for seed := range uint64(2) {
		for i, width := range []int{4, 8, 16} {
			dir := pairFake(t, fmt.Sprintf("w%d-%d", width, seed), width, seed, []float64{0.25, 0.5, 0.125}[i])
			writeFile(t, filepath.Join(dir, "events.jsonl"), `{"event":"eval","step":5,"epoch":1,"metrics":{"pair_accuracy":0.5,"pair_train_accuracy":0.75}}
{"event":"eval","step":10,"epoch":2,"metrics":{"pair_accuracy":0.75,"pair_train_accuracy":1}}
`)
		}
	}
	if code, _, stderr := cli("bound", "partition", "runs"); code != 0 {
		t.Fatal(stderr)
	}
	for table, want := range map[string]string{
		"pairs":          "mnist,10,s2,same-index,shuffled,offline,,PLN 10 %,mlp,8,8000,10,2,0.1,0.1,0.1,0.005,0.005,0.005,0.1,0.1,0.1,0.5,0.5,0.5,",
		"pair-claims":    "C1,mnist,mlp,,10,\"s2, PLN 10 %\",rise to the peak at width 8,2,0.25,0.25,0.25,interval above 0,supported",
		"double-descent": ",3,2,8,8000,0.5,0.5,0.5,0.25,0.25,0.25,0.375,0.375,0.375,0.125,0.125,0.125,4,supported",
		"pair-epochs":    ",mlp,4,4000,2,2,0.25,0.25,0.25,,,,,2,0.25,0.25,0.25,0,0,0,inconclusive",
		"pair-floor":     ",mlp,16,16000,2,0.005,0.005,0.005,0.005,0.005,0.005,0,0,0,supported,,,,,0.0",
		"online-offline": ",mlp,16,16000,2,10,0.25,0.25,0.25,,",
	} {
		args := []string{"report", "--table", table, "--format", "csv", "runs"}
		note := ""
		if table != "pairs" && table != "pair-claims" {
			args, note = append(args, "--curves", "pictures/"+table), "wrote pictures/"+table+"-mnist.png\n"
		}
		code, out, stderr := cli(args...)
		if code != 0 || !strings.Contains(out, want) || stderr != note {
			t.Errorf("%s: %d %s%s", table, code, out, stderr)
		}
		if _, err := os.Stat("pictures/" + table + "-mnist.svg"); err != nil && note != "" {
			t.Error(err)
		}
		for _, f := range render.Formats() {
			if code, out, stderr := cli("report", "--table", table, "--format", f, "runs"); code != 0 || out == "" {
				t.Errorf("%s as %s: %d %s", table, f, code, stderr)
			}
		}
	}
	code, out, _ := cli("report", "--table", "double-descent", "--json", "runs")
	var doc study.Document
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || doc.Schema != "tercet.study/1" || len(doc.Rows) != 1 || doc.Rows[0].Fields["peak"] != "8" {
		t.Errorf("%v %s", err, out)
	}
	code, out, stderr := cli("report", "--table", "noise-robust", "runs/w4-0")
	if code != 0 || !strings.Contains(out, "contrastive") {
		t.Errorf("%d %s%s", code, out, stderr)
	}
	if code, out, stderr = cli("report", "--table", "noise-attack", "runs/w4-0"); code != 0 || !strings.Contains(out, "no attack.json in runs/w4-0; tercet attack --run runs/w4-0 makes it") {
		t.Errorf("%d %s%s", code, out, stderr)
	}
	if code, out, stderr = cli("report", "--table", "noise-clustering", "runs/w4-0"); code != 0 || !strings.Contains(out, "not clustered: runs/w4-0") {
		t.Errorf("%d %s%s", code, out, stderr)
	}
	writeFile(t, "runs/w4-0/pairs.json", "{")
	if code, _, stderr := cli("report", "--table", "pairs", "runs"); code != ExitData || !strings.Contains(stderr, "pairs.json") {
		t.Errorf("%d %s", code, stderr)
	}
	for _, args := range [][]string{
		{"--table", "pairs"}, {"--table", "pair-claims", "--curves", "x", "runs/w8-0"}, {"--table", "pairs", "--metric", "nmi", "runs/w8-0"}, {"--table", "pairs", "--curves", "x", "runs/w8-0"}, {"--table", "pair-floor", "--out", "x.md", "runs/w8-0"},
		{"--table", "double-descent", "--curves", "x", "runs/w8-0"}, {"--table", "pairs", "runs/w8-0", "--format", "odt"},
	} {
		if code, out, stderr := cli(append([]string{"report"}, args...)...); code != ExitUsage || out != "" || stderr == "" {
			t.Errorf("%q: %d %s%s", args, code, out, stderr)
		}
	}
}
