package compare

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/stat"
	"tercet/internal/theory/measure"
	"tercet/internal/verdict"
)

// stabilityDoc is one with a series of three points, bounds of two theorems, and a check.
func stabilityDoc(claim, data string) record.MetricStability {
	s := record.MetricSeries{Name: "sigma = 0.5", Quantity: "gamma", Axis: "n", Expected: &[2]float64{-1.15, -0.85}}
	for i, n := range []int{20, 40, 80} {
		v := 0.4 / float64(int(1)<<i)
		repeats := []float64{0.9 * v, 1.1 * v}
		s.Points = append(s.Points, record.MetricPoint{
			X: float64(n), Sizes: record.Sizes{Pos: n, Neg: n + 1}, Measured: measure.EstimateOf(repeats), Repeats: repeats,
			Bounds: []record.MetricBound{
				{Source: "Lemma 4", Form: "paper", Constants: "paper", Value: 0.05, Crossed: i < 2},
				{Source: "Lemma 4", Form: "paper", Constants: "tight", Value: 0.01, Crossed: true},
				{Source: "Lemma 4", Form: "corrected", Constants: "tight", Value: 64 * v},
				{Source: "Lemma 6", Form: "corrected", Constants: "tight", Value: 32 * v},
			},
		})
	}
	rate, err := stat.Slope([]float64{20, 40, 80}, [][]float64{s.Points[0].Repeats, s.Points[1].Repeats, s.Points[2].Repeats}, 200, 1)
	if err != nil {
		panic(err)
	}
	s.Rate = new(record.Rate(rate))
	yes := true
	return record.MetricStability{
		Schema: record.MetricSchema, Claim: claim, Says: "a claim", Series: []record.MetricSeries{s}, Verdict: verdict.Inconclusive,
		Data:   record.MetricData{Name: data, Positives: "digit 3", Negatives: "the rest", Dims: 5, Radius: 1},
		Checks: []record.MetricCheck{{Says: "it is so", Found: "0.5", Holds: &yes}, {Says: "it is open", Found: "none"}},
		Notes:  []string{"a note"},
	}
}

func writeStability(t *testing.T, file string, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	writeStability(t, filepath.Join(dir, "a", "stability", "T4.json"), stabilityDoc("T4", "mnist"))
	writeStability(t, filepath.Join(dir, "a", "stability", "T3.json"), stabilityDoc("T3", "mnist"))
	writeStability(t, filepath.Join(dir, "a", "stability.json"), stabilityDoc("", "mnist"))
	writeStability(t, filepath.Join(dir, "a", "eval.json"), map[string]string{"schema": "tercet.eval/1"})
	writeStability(t, filepath.Join(dir, "b.json"), stabilityDoc("T3", "omniglot"))
	s, err := Read([]string{filepath.Join(dir, "a"), filepath.Join(dir, "b.json")})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range s.Documents {
		names = append(names, d.label()+" "+d.Data.Name)
	}
	if got := strings.Join(names, "; "); got != "T3 mnist; T3 omniglot; T4 (S1) mnist;  mnist" {
		t.Errorf("documents %s", got)
	}
	table, full := s.Table(Layout{}), s.Table(Layout{Settings: true, Exact: true})
	if len(table.Rows) != 8 || len(full.Rows) != 24 {
		t.Errorf("%d rows, %d in full", len(table.Rows), len(full.Rows))
	}
	if out := rendered(t, full, "csv"); !strings.Contains(out, "T3,mnist,sigma = 0.5,gamma,n = 80 (80 + 81),0.1,") {
		t.Error(out)
	}
	for format, want := range map[string]string{
		"markdown": "| Lemma 4 | 0.05 | 0.01 | 6.4 | printed; printed, tight | -1.000 [",
		"text":     "-1.15 to -0.85",
		"latex":    "Lemma 6",
	} {
		if out := rendered(t, table, format); !strings.Contains(out, want) {
			t.Errorf("%s lacks %q:\n%s", format, want, out)
		}
	}
	checks := rendered(t, s.ChecksTable(), "text")
	for _, want := range []string{"it is so", "supported", "inconclusive", "T4, mnist: a claim: inconclusive; positives: digit 3, negatives: the rest"} {
		if !strings.Contains(checks, want) {
			t.Errorf("checks lack %q:\n%s", want, checks)
		}
	}
	files, err := s.Curves(filepath.Join(dir, "curves.png"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"curves-mnist-t3.png", "curves-omniglot-t3.png", "curves-mnist-t4.png", "curves-mnist-stability.png"} {
		if filepath.Base(files[i]) != want {
			t.Errorf("file %s, want %s", files[i], want)
		}
		for _, f := range []string{files[i], strings.TrimSuffix(files[i], "png") + "svg"} {
			if info, err := os.Stat(f); err != nil || info.Size() < 1000 {
				t.Errorf("%s: %v", f, err)
			}
		}
	}
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	writeStability(t, at("none/eval.json"), map[string]string{"schema": "tercet.eval/1"})
	writeStability(t, at("twice/x.json"), stabilityDoc("T3", "mnist"))
	writeStability(t, at("twice/y.json"), stabilityDoc("T3", "mnist"))
	if err := os.MkdirAll(at("broken"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("broken/x.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	empty := stabilityDoc("T3", "mnist")
	empty.Series[0].Points = nil
	writeStability(t, at("empty/x.json"), empty)
	for name, want := range map[string]string{
		"none": "holds no measurement", "twice": "are both claim T3", "broken": "x.json", "gone": "no such file", "empty": "has no points",
	} {
		if _, err := Read([]string{at(name)}); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	gone := stabilityDoc("", "mnist")
	for i := range gone.Series[0].Points {
		gone.Series[0].Points[i].Measured.Value = -1
	}
	s := &Study{Documents: []Document{{File: "x.json", MetricStability: gone}}}
	if _, err := s.Curves(at("c")); err == nil || !strings.Contains(err.Error(), "no mean is above 0") {
		t.Errorf("a picture of nothing: %v", err)
	}
}
