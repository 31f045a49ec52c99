package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"tercet/internal/bench"
)

func TestBenchMeasuresAJob(t *testing.T) {
	code, out, stderr := cli("bench", "--job", "mlp", "--job", "mlp", "--threads", "1", "--seconds", "0.05", "--json")
	if code != 0 {
		t.Fatal(stderr)
	}
	var doc struct {
		Schema  string
		Machine struct {
			Kernel string
			Peak   []struct {
				Threads int
				GFLOPS  float64
			}
			Copy []struct {
				GBPerS float64 `json:"gb_per_s"`
			}
		}
		Results []map[string]any
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != "tercet.bench/1" || doc.Machine.Kernel == "" || len(doc.Machine.Peak) != 1 || !(doc.Machine.Peak[0].GFLOPS > 0) ||
		len(doc.Machine.Copy) != 1 || !(doc.Machine.Copy[0].GBPerS > 0) || len(doc.Results) != 1 {
		t.Fatalf("%s", out)
	}
	r := doc.Results[0]
	if r["job"] != "mlp" || r["threads"] != 1.0 {
		t.Errorf("%v", r)
	}
	for _, key := range []string{"seconds", "images_per_s", "gflops", "peak_share"} {
		if v, ok := r[key].(float64); !ok || !(v > 0) {
			t.Errorf("%s is %v", key, r[key])
		}
	}
}

func TestBenchPrintsATable(t *testing.T) {
	code, out, stderr := cli("bench", "--job", "mlp", "--threads", "1", "--seconds", "0.05", "--format", "csv")
	if code != 0 || !strings.Contains(out, "mlp") || !strings.Contains(stderr, "mlp (1 of 1): DIBS MLP") {
		t.Errorf("%d\n%s\n%s", code, out, stderr)
	}
}

func TestBenchChecksBits(t *testing.T) {
	code, out, stderr := cli("bench", "--job", "mlp", "--check", "--quiet")
	if code != 0 || stderr != "" || !strings.Contains(out, "identical") {
		t.Errorf("%d\n%s\n%s", code, out, stderr)
	}
}

func TestBenchMistakes(t *testing.T) {
	for line, want := range map[string]string{
		"bench --job c2f":                   `tercet: there is no job "c2f"; did you mean c2f2? jobs: gemm, `,
		"bench --job mlp --seconds 0":       "tercet: --seconds is 0; give a number above 0",
		"bench --job mlp --seconds NaN":     "tercet: --seconds is NaN; give a number above 0",
		"bench --job mlp --format txt":      "txt",
		"bench mlp":                         `unknown command "mlp"`,
		"bench --job mlp --check --seconds": "flag needs an argument",
	} {
		if code, out, stderr := cli(strings.Fields(line)...); code != ExitUsage || !strings.Contains(stderr, want) || out != "" {
			t.Errorf("%s\ngot  %d %q %s\nwant %s", line, code, out, stderr, want)
		}
	}
}

func TestBenchCompletesJobs(t *testing.T) {
	_, out, _ := cli("__complete", "bench", "--job", "k")
	for _, j := range bench.Jobs() {
		if has := strings.Contains(out, j.Name+"\t"+j.What+"\n"); has != strings.HasPrefix(j.Name, "k") {
			t.Errorf("%s: %v in %q", j.Name, has, out)
		}
	}
}
