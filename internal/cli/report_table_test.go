package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/configs/tables"
	"tercet/internal/config"
	"tercet/internal/metric"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/report"
	"tercet/internal/run"
)

// Every built-in table reads, no name stands for two, and the ten scores of each
// published row give its ERS: here by the formula as the reference has it, in
// percent. No row is off by more than 0.1; the most, 0.07, comes from the rounding of
// the ten.
func TestBuiltInTables(t *testing.T) {
	rows, full := 0, 0
	seen := map[string]string{}
	for _, name := range tables.Names() {
		_, table, err := paperTable(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range append(table.Aliases, name) {
			if other, twice := seen[n]; twice {
				t.Errorf("%s is %s and %s", n, other, name)
			}
			seen[n] = name
		}
		if table.Title == "" || table.Source == "" || table.Setup == "" {
			t.Errorf("%s says too little of itself", name)
		}
		for i, r := range table.Rows {
			rows++
			list, ok := r.Paper.([]any)
			if !ok {
				continue
			}
			v := map[string]float64{}
			for j, x := range list {
				switch x := x.(type) {
				case float64:
					v[table.Columns[j]] = x
				case int:
					v[table.Columns[j]] = float64(x)
				}
			}
			if len(v) != 15 {
				continue
			}
			full++
			ers := (2*v["CA+"] + (100 - v["CA-"]) + 2*v["QA+"] + (100 - v["QA-"]) + 100*(1-v["TMA"]) +
				100*(2-v["ES:D"])/2 + v["ES:R"] + v["LTM"] + v["GTM"] + v["GTT"]) / 10
			if math.Abs(ers-v["ERS"]) > 0.1 {
				t.Errorf("%s, row %d (%s): ERS %v, its scores give %v", name, i+1, r.Label, v["ERS"], ers)
			}
		}
	}
	if rows != 117 || full != 101 {
		t.Errorf("%d rows, %d of them with all scores", rows, full)
	}
}

// The four rows by which the reference checks its formula, found in the tables.
func TestTablesHaveTheCheckRows(t *testing.T) {
	for _, want := range []struct {
		table, label string
		eta          int
		ers, sum     float64
	}{
		{"tab7", "HM[S,g_LGA]", 8, 32.4, 324.45}, {"tab8", "HM[S,g_LGA]&ICS lambda=0.5", 8, 60.1, 600.65},
		{"tab11", "HM[R,R]", 0, 3.8, 37.8}, {"efficiency", "ACT[R]", 8, 31.3, 313.3},
	} {
		name, table, err := paperTable(want.table)
		if err != nil {
			t.Fatal(err)
		}
		r, err := report.ComparePaper(table, name, nil, []string{"published"})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range r.Rows {
			if e.Label == want.label && e.Eta == want.eta {
				found = true
				if got := 1000 * *e.Paper.Recomputed; math.Abs(got-want.sum) > 1e-6 || math.Abs(100*e.Paper.Scores["ERS"]-want.ers) > 1e-9 {
					t.Errorf("%s: sum of the ten %v, ERS %v", want.label, got, e.Paper.Scores["ERS"])
				}
			}
		}
		if !found {
			t.Errorf("%s has no row %s with eta %d", want.table, want.label, want.eta)
		}
	}
}

// presetRuns are the runs of all configs of a preset, as far as their labels go.
func presetRuns(t *testing.T, folder string) []*report.RunDir {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../configs/tables", folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	var out []*report.RunDir
	seen := map[string]string{}
	for _, file := range files {
		cfg, err := config.Load(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		list, err := run.Variants(cfg)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range list {
			if err := c.Validate(); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			if len(cfg.Axes) == 0 {
				continue // what others include
			}
			if other, twice := seen[c.Name]; twice {
				t.Errorf("the run %s is of %s and of %s", c.Name, other, file)
			}
			seen[c.Name] = file
			r := &report.RunDir{Dir: c.Name, Manifest: record.Manifest{Status: "finished", Seed: c.Seed}}
			for _, l := range c.Origins() {
				r.Labels = append(r.Labels, report.Label{Key: l.Key, Value: l.Value})
			}
			out = append(out, r)
		}
	}
	return out
}

// The configs of the presets load; their runs fill every row of their tables, each
// at most one row.
func TestPresetsFillTheTables(t *testing.T) {
	methods, err := filepath.Glob("../../configs/tables/methods/*.yaml")
	if err != nil || len(methods) != 16 {
		t.Errorf("%d methods, %v", len(methods), err)
	}
	for _, file := range methods { // runs of no preset are all called run
		if _, err := config.Load(file, nil); err != nil {
			t.Error(err)
		}
	}
	full := presetRuns(t, "full")
	var cub, sop []*report.RunDir
	for _, r := range full {
		switch {
		case strings.HasPrefix(r.Dir, "cub-"):
			cub = append(cub, r)
		case strings.HasPrefix(r.Dir, "sop-"):
			sop = append(sop, r)
		}
	}
	small := presetRuns(t, "small")
	for _, x := range []struct {
		table string
		runs  []*report.RunDir
	}{
		{"hm-grid", small}, {"u", small}, {"gradual", small}, {"ics-margin", small}, {"ics-sop", small}, {"destinations", small}, {"ics", small}, {"efficiency", small},
		{"hm-grid", cub}, {"u", cub}, {"gradual", cub}, {"ics-margin", cub}, {"destinations", cub}, {"ics", cub}, {"efficiency", cub},
		{"ics-sop", sop}, {"sota", full}, {"mnist", presetRuns(t, "mnist")},
	} {
		_, table, err := paperTable(x.table)
		if err != nil {
			t.Fatal(err)
		}
		r, err := report.ComparePaper(table, x.table, x.runs, []string{"published"})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range r.Rows {
			if len(e.Ours) == 0 || len(e.Ours) != 1 && x.table != "mnist" {
				t.Errorf("%s: %d kinds of runs for the row %s, eta %d", x.table, len(e.Ours), e.Label, e.Eta)
			}
		}
	}
}

// attackFake adds attack.json, as tercet attack writes it, to a run of fakeRun.
func attackFake(t *testing.T, dir string, ers float64) {
	t.Helper()
	scores := metric.Scores{{Key: "TMA", Value: metric.Value{Value: 0.5}}, {Key: "ERS", Value: metric.Value{Value: ers}}}
	doc := record.Attack{Schema: "tercet.attack/2", Queries: 8, Scores: map[string]metric.Scores{"published": scores, "fixed": scores}}
	doc.Source.Checkpoint, doc.Source.Step, doc.Source.Items = "last", 10, 100
	if err := record.Write(filepath.Join(dir, "attack.json"), doc); err != nil {
		t.Fatal(err)
	}
}

func TestReportTable(t *testing.T) {
	t.Chdir(t.TempDir())
	for seed, recall := range []float64{0.8, 0.9, 1} {
		dir := fakeRun(t, fmt.Sprint("u-seed-", seed), uint64(seed), recall, "defense.name=hm", "defense.source=softhard", "defense.destination={name: lga, u: 2.2}")
		attackFake(t, dir, 0.25)
	}
	fakeRun(t, "plain", 0, 0.5)
	code, out, stderr := cli("report", "--table", "tab7", "--format", "csv", "runs")
	if code != 0 || stderr != "" {
		t.Fatalf("%d %s", code, stderr)
	}
	if want := "HM[S,g_LGA] u=2.2\",8,\"ours, published\","; !strings.Contains(out, want) || strings.Contains(out, "plain") {
		t.Errorf("no %s in\n%s", want, out)
	}
	code, out, _ = cli("report", "--table", "u", "--variant", "both", "--json", "runs")
	var doc report.PaperReport
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatal(err, code)
	}
	ours := doc.Rows[1].Ours
	if doc.Schema != "tercet.papertable/1" || len(doc.Unmatched) != 1 || len(ours) != 2 || ours[1].Variant != "fixed" || ours[0].N != 3 ||
		math.Abs(*ours[0].Scores["R@1"].Value-0.9) > 1e-12 || math.Abs(ours[0].Scores["R@1"].CI95[0]-0.651586228824967) > 1e-9 {
		t.Errorf("%s", out)
	}
	for _, f := range render.Formats() {
		if code, out, stderr := cli("report", "--table", "u", "--format", f, "runs/u-*"); code != 0 || !strings.Contains(out, "LGA") {
			t.Errorf("%s: %d %s%s", f, code, out, stderr)
		}
	}
}

func TestReportGrid(t *testing.T) {
	code, out, stderr := cli("report", "--table", "tab11", "--grid", "R@1,ERS", "--format", "csv")
	if want := "\nhardest,paper,51.0 / 4.7,52.2 / 4.8,*collapse*,52.6 / 5.1,48.9 / 5.0\n"; code != 0 || !strings.Contains(out, want) {
		t.Errorf("%d %s%s", code, out, stderr)
	}
}

func TestReportTableFromFile(t *testing.T) {
	t.Chdir(t.TempDir())
	row := "{label: a, match: {defense.name: none}, paper: [50]}"
	writeFile(t, "mine.yaml", "title: Mine\ncolumns: [R@1]\nrows:\n  - "+row+"\n")
	fakeRun(t, "a", 0, 0.75)
	code, out, stderr := cli("report", "--table", "mine.yaml", "--format", "csv", "runs/a")
	if want := "defense,eta,numbers,data,n,R@1,R@1_low,R@1_high\na,,paper,,,0.5,,\na,,\"ours, published\",,1,0.75,0.65,0.85\n"; code != 0 || out != want {
		t.Errorf("%d %s%s", code, out, stderr)
	}
	for text, want := range map[string]string{
		"title: x\ncolums: [R@1]\n": "bad.yaml:2: there is no key \"colums\" here",
		"title: x\n":                "bad.yaml: a table needs columns and rows",
		"columns: [R@1]\nrows:\n  - {label: a, match: {defence.name: hm}}\n":                    "bad.yaml: rows[1].match.defence.name: there is no such config key",
		"columns: [R@1]\nrows:\n  - {label: a, match: {defense.name: none}}\n  - " + row + "\n": "a belongs to two rows",
	} {
		writeFile(t, "bad.yaml", text)
		if code, _, stderr := cli("report", "--table", "bad.yaml", "runs/a"); code != ExitUsage || !strings.Contains(stderr, want) {
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
		if code, out, stderr := cli(append([]string{"report"}, args...)...); code != ExitUsage || out != "" || stderr == "" {
			t.Errorf("%q: %d %s%s", args, code, out, stderr)
		}
	}
}
