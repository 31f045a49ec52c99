package commands_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/study"
)

// attackFake adds attack.json, as tercet attack writes it, to a run of FakeRun.
func attackFake(t *testing.T, dir string, ers float64) {
	t.Helper()
	scores := record.Scores{{Key: "TMA", Value: record.Value{Value: 0.5}}, {Key: "ERS", Value: record.Value{Value: ers}}}
	doc := record.Attack{Schema: "tercet.attack/2", Queries: 8, Scores: map[string]record.Scores{"published": scores, "fixed": scores}}
	doc.Source.Checkpoint, doc.Source.Set, doc.Source.Step, doc.Source.Items = "last", "test", 10, 100
	if err := record.Write(filepath.Join(dir, "attack.json"), doc); err != nil {
		t.Fatal(err)
	}
}

func TestTable(t *testing.T) {
	t.Chdir(t.TempDir())
	for seed, recall := range []float64{0.8, 0.9, 1} {
		dir := clitest.FakeRun(t, fmt.Sprint("u-seed-", seed), uint64(seed), recall, "defense.name=hm", "defense.source=softhard", "defense.destination={name: lga, u: 2.2}")
		attackFake(t, dir, 0.25)
	}
	clitest.FakeRun(t, "plain", 0, 0.5)
	code, out, stderr := clitest.Run("report", "--table", "tab7", "--format", "csv", "runs")
	if code != 0 || stderr != "" {
		t.Fatalf("%d %s", code, stderr)
	}
	if want := "HM[S,g_LGA] u=2.2\",8,\"ours, published\","; !strings.Contains(out, want) || strings.Contains(out, "plain") {
		t.Errorf("no %s in\n%s", want, out)
	}
	code, out, _ = clitest.Run("report", "--table", "u", "--variant", "both", "--json", "runs")
	var doc study.Document
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatal(err, code)
	}
	ours := slices.DeleteFunc(doc.Rows, func(r *study.Row) bool { return len(r.Runs) == 0 })
	if doc.Schema != "tercet.study/1" || !slices.Contains(doc.Notes, "of no row of this table: runs/plain") || len(ours) != 2 || ours[1].Fields["numbers"] != "ours, fixed" || ours[0].Fields["row"] != "2" || ours[0].N != 3 ||
		math.Abs(ours[0].Scores["R@1"].Value-0.9) > 1e-12 || math.Abs(ours[0].Scores["R@1"].CI95[0]-0.651586228824967) > 1e-9 {
		t.Errorf("%s", out)
	}
	for _, f := range render.Formats() {
		if code, out, stderr := clitest.Run("report", "--table", "u", "--format", f, "runs/u-*"); code != 0 || !strings.Contains(out, "LGA") {
			t.Errorf("%s: %d %s%s", f, code, out, stderr)
		}
	}
}

func TestGrid(t *testing.T) {
	code, out, stderr := clitest.Run("report", "--table", "tab11", "--grid", "R@1,ERS", "--format", "csv")
	if want := "\nhardest,paper,51.0 / 4.7,52.2 / 4.8,*collapse*,52.6 / 5.1,48.9 / 5.0\n"; code != 0 || !strings.Contains(out, want) {
		t.Errorf("%d %s%s", code, out, stderr)
	}
}

func TestTableFromFile(t *testing.T) {
	t.Chdir(t.TempDir())
	row := "{label: a, match: {defense.name: none}, paper: [50]}"
	clitest.WriteFile(t, "mine.yaml", "title: Mine\ncolumns: [R@1]\nrows:\n  - "+row+"\n")
	clitest.FakeRun(t, "a", 0, 0.75)
	code, out, stderr := clitest.Run("report", "--table", "mine.yaml", "--format", "csv", "runs/a")
	if want := "defense,numbers,data,n,R@1,R@1_low,R@1_high\na,paper,,,0.5,,\na,ours,,1,0.75,0.65,0.85\n"; code != 0 || out != want {
		t.Errorf("%d %s%s", code, out, stderr)
	}
	for text, want := range map[string]string{
		"title: x\ncolums: [R@1]\n": "bad.yaml:2: unknown key \"colums\"",
		"title: x\n":                "bad.yaml: a table needs columns and rows",
		"columns: [R@1]\nrows:\n  - {label: a, match: {defence.name: hm}}\n":                    "bad.yaml: rows[1].match.defence.name: unknown config key",
		"columns: [R@1]\nrows:\n  - {label: a, match: {defense.name: none}}\n  - " + row + "\n": "a belongs to two rows",
	} {
		clitest.WriteFile(t, "bad.yaml", text)
		if code, _, stderr := clitest.Run("report", "--table", "bad.yaml", "runs/a"); code != base.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%d %q, not %q", code, stderr, want)
		}
	}
	if err := os.Remove("bad.yaml"); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--table", "bad.yaml"}, {"--table", "tab12"}, {"--table", "../u"}, {"--table", "u", "--variant", "mended"},
		{"--table", "u", "--metric", "nmi"}, {"--table", "u", "--out", "x.md"}, {"--variant", "fixed", "runs/a"}, {},
		{"--table", "u", "--grid", "R@1"}, {"--table", "hm-grid", "--grid", "R@3"}, {"--grid", "R@1", "runs/a"},
	} {
		if code, out, stderr := clitest.Run(append([]string{"report"}, args...)...); code != base.ExitUsage || out != "" || stderr == "" {
			t.Errorf("%q: %d %s%s", args, code, out, stderr)
		}
	}
}
