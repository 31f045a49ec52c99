package commands_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/configs/tables"
	"tercet/internal/cli/report"
	"tercet/internal/config"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/rundir"
)

// Every built-in table reads, no name stands for two, and the ten scores of each
// published row give its ERS: here by the formula as the reference has it, in
// percent. No row is off by more than 0.1; the most, 0.07, comes from the rounding of
// the ten.
func TestBuiltInTables(t *testing.T) {
	rows, full := 0, 0
	seen := map[string]string{}
	for _, name := range tables.All.Names() {
		table, err := report.PaperTable(name)
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
	if rows != 130 || full != 101 {
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
		table, err := report.PaperTable(want.table)
		if err != nil {
			t.Fatal(err)
		}
		r, err := table.Compare(nil, []string{"published"})
		if err != nil {
			t.Fatal(err)
		}
		found, eta := false, ""
		if want.eta > 0 {
			eta = fmt.Sprint(want.eta)
		}
		for _, e := range r.Rows {
			if e.Fields["defense"] == want.label && e.Fields["eta"] == eta {
				found = true
				if got := 1000 * e.Scores["ERS of the ten"].Value; math.Abs(got-want.sum) > 1e-6 || math.Abs(100*e.Scores["ERS"].Value-want.ers) > 1e-9 {
					t.Errorf("%s: sum of the ten %v, ERS %v", want.label, got, e.Scores["ERS"].Value)
				}
			}
		}
		if !found {
			t.Errorf("%s has no row %s with eta %d", want.table, want.label, want.eta)
		}
	}
}

// presetRuns are the runs of all configs of a preset, as far as their labels go.
func presetRuns(t *testing.T, folder string) []*rundir.Run {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../../configs/tables", folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	var out []*rundir.Run
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
			r := &rundir.Run{Dir: c.Name, Manifest: record.Manifest{Status: "finished", Seed: c.Seed}}
			for _, l := range c.Origins() {
				r.Labels = append(r.Labels, rundir.Label{Key: l.Key, Value: l.Value})
			}
			out = append(out, r)
		}
	}
	return out
}

// The configs of the presets load; their runs fill every row of their tables, each
// at most one row.
func TestPresetsFillTheTables(t *testing.T) {
	methods, err := filepath.Glob("../../../configs/tables/methods/*.yaml")
	if err != nil || len(methods) != 16 {
		t.Errorf("%d methods, %v", len(methods), err)
	}
	for _, file := range methods { // runs of no preset are all called run
		if _, err := config.Load(file, nil); err != nil {
			t.Error(err)
		}
	}
	full := presetRuns(t, "full")
	var cub, sop []*rundir.Run
	for _, r := range full {
		switch {
		case strings.HasPrefix(r.Dir, "cub-"):
			cub = append(cub, r)
		case strings.HasPrefix(r.Dir, "sop-"):
			sop = append(sop, r)
		}
	}
	// The runs on CIFAR-10 have tables of their own.
	small := slices.DeleteFunc(presetRuns(t, "small"), func(r *rundir.Run) bool { return !strings.HasPrefix(r.Dir, "small-") })
	for _, x := range []struct {
		table string
		runs  []*rundir.Run
	}{
		{"hm-grid", small}, {"u", small}, {"gradual", small}, {"ics-margin", small}, {"ics-sop", small}, {"destinations", small}, {"ics", small}, {"efficiency", small},
		{"hm-grid", cub}, {"u", cub}, {"gradual", cub}, {"ics-margin", cub}, {"destinations", cub}, {"ics", cub}, {"efficiency", cub},
		{"ics-sop", sop}, {"sota", full}, {"mnist", presetRuns(t, "mnist")},
	} {
		table, err := report.PaperTable(x.table)
		if err != nil {
			t.Fatal(err)
		}
		r, err := table.Compare(x.runs, []string{"published"})
		if err != nil {
			t.Fatal(err)
		}
		ours := map[string]int{}
		for _, e := range r.Rows {
			if len(e.Runs) > 0 {
				ours[e.Fields["row"]]++
			}
		}
		for i, row := range table.Rows {
			if n := ours[fmt.Sprint(i+1)]; n == 0 || n != 1 && x.table != "mnist" {
				t.Errorf("%s: %d kinds of runs for the row %s, eta %d", x.table, n, row.Label, row.Eta)
			}
		}
	}
}
