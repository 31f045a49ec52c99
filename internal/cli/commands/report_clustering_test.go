package commands_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/render"
	"tercet/internal/study"
)

// clusterFake adds RUN/cluster-METHOD/cluster.json to a run of FakeRun.
func clusterFake(t *testing.T, dir, method string, nmi float64) {
	t.Helper()
	of, _, _ := strings.Cut(method, "-")
	folder := filepath.Join(dir, "cluster-"+method)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, filepath.Join(folder, "cluster.json"), fmt.Sprintf(`{"schema": "tercet.cluster/2", "source": {"checkpoint": "last", "step": 10, "set": "test", "items": 9},
 "options": {"method": %q}, "clusters": 10, "sizes": [9], "clustering": {"nmi": {"value": %v}, "acc": {"value": 0.5}}}`, of, nmi))
}

func TestClustering(t *testing.T) {
	t.Chdir(t.TempDir())
	for seed := range 3 {
		for _, rate := range []string{"0", "0.5"} {
			for loss, gain := range map[string]float64{"{name: triplet, distance: squared}": 0, "{name: triplet-threshold}": 0.25} {
				dir := clitest.FakeRun(t, fmt.Sprintf("x%v-%v-%v", gain, rate, seed), uint64(seed), 0.5, "loss="+loss, "noise={kind: sln, rate: "+rate+"}")
				clusterFake(t, dir, "kmeans", 0.25+gain)
				clusterFake(t, dir, "multicut-fit", 0.5)
			}
		}
	}
	code, out, stderr := clitest.Run("report", "--table", "clustering", "--format", "csv", "--curves", "pictures/curves", "runs")
	if want := ",kmeans,0.5,L3,3,0.5,0.5,0.5,0.5,0.5,0.5,"; code != 0 || !strings.Contains(out, want) || stderr != "wrote pictures/curves-.png\n" {
		t.Errorf("%d %s%s", code, out, stderr)
	}
	if _, err := os.Stat("pictures/curves-.svg"); err != nil {
		t.Error(err)
	}
	code, out, stderr = clitest.Run("report", "--table", "clustering-differences", "--format", "csv", "runs")
	if want := ",L3 - L1,kmeans,> 0,"; code != 0 || strings.Contains(out, want) || !strings.Contains(out, ",L3 - L1,kmeans,0.5,3,0,0,0,0.25,0.25,0.25,") {
		t.Errorf("one rate above 0 needs no mean: %d %s%s", code, out, stderr)
	}
	code, out, _ = clitest.Run("report", "--table", "clustering", "--json", "runs")
	var doc study.Document
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatal(err, code)
	}
	if doc.Schema != "tercet.study/1" || len(doc.Rows) != 8 || len(doc.Notes) != 0 || math.Abs(doc.Rows[1].Scores["nmi"].Value-0.5) > 1e-12 || doc.Rows[1].Fields["loss"] != "L3" {
		t.Errorf("%s", out)
	}
	for _, f := range render.Formats() {
		if code, out, stderr := clitest.Run("report", "--table", "clustering", "--format", f, "runs"); code != 0 || !strings.Contains(out, "multicut-fit") {
			t.Errorf("%s: %d %s%s", f, code, out, stderr)
		}
	}
	clusterFake(t, filepath.Join("runs", "x0-0-0"), "multicut-fit", 0.5)
	clitest.WriteFile(t, filepath.Join("runs", "x0-0-0", "cluster-kmeans", "cluster.json"), "{")
	if code, _, stderr := clitest.Run("report", "--table", "clustering", "runs"); code != base.ExitData || !strings.Contains(stderr, "cluster-kmeans") {
		t.Errorf("%d %s", code, stderr)
	}
	for _, args := range [][]string{
		{"--table", "clustering"}, {"--table", "clustering", "--metric", "nmi", "runs"}, {"--table", "clustering", "--out", "x.md", "runs"},
		{"--table", "u", "--curves", "x"}, {"--curves", "x", "runs"}, {"--table", "clustering", "--variant", "both", "runs"},
	} {
		if code, out, stderr := clitest.Run(append([]string{"report"}, args...)...); code != base.ExitUsage || out != "" || stderr == "" {
			t.Errorf("%q: %d %s%s", args, code, out, stderr)
		}
	}
}
