package commands_test

import (
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/clitest"
	"tercet/internal/record"
	"tercet/internal/theory/measure"
	rule "tercet/internal/verdict"
)

func TestReportOfStability(t *testing.T) {
	t.Chdir(t.TempDir())
	point := func(n int, v, bound float64) record.MetricPoint {
		return record.MetricPoint{
			X: float64(n), Sizes: record.Sizes{Pos: n, Neg: n}, Measured: measure.EstimateOf([]float64{v, v}), Repeats: []float64{v, v},
			Bounds: []record.MetricBound{{Source: "Lemma 4", Form: "paper", Constants: "paper", Value: bound, Crossed: v > bound}},
		}
	}
	yes := true
	doc := record.MetricStability{
		Schema: record.MetricSchema, Claim: "T4", Says: "a claim", Verdict: rule.Supported,
		Data:   record.MetricData{Name: "mnist", Positives: "3", Negatives: "the rest", Dims: 5, Radius: 1},
		Series: []record.MetricSeries{{Name: "s", Quantity: "gamma", Axis: "n", Points: []record.MetricPoint{point(10, .5, .25), point(20, .25, .5)}}},
		Checks: []record.MetricCheck{{Says: "it is crossed", Found: "0.5", Holds: &yes}},
	}
	if err := record.Write("T4.json", doc); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := clitest.Run("report", "--table", "stability", "--format", "csv", "--curves", filepath.Join("pictures", "s"), "T4.json")
	if want := "T4 (S1),mnist,s,gamma,n = 20,0.25,"; code != 0 || !strings.Contains(out, want) || !strings.Contains(out, ",printed,") || stderr != "wrote pictures/s-mnist-t4.png\n" {
		t.Errorf("%d %s%s", code, out, stderr)
	}
	code, out, _ = clitest.Run("report", "--table", "stability-checks", "T4.json")
	if code != 0 || !strings.Contains(out, "it is crossed") || !strings.Contains(out, "T4, mnist: a claim: supported") {
		t.Errorf("%d %s", code, out)
	}
	for want, args := range map[string][]string{
		"name the runs":        {"report", "--table", "stability"},
		"has its own columns":  {"report", "--table", "stability", "--metric", "r@1", "T4.json"},
		"no such file":         {"report", "--table", "stability", "gone"},
		"holds no measurement": {"report", "--table", "stability", "pictures"},
	} {
		if code, _, stderr := clitest.Run(args...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d %s, want %q", args, code, stderr, want)
		}
	}
}
