package commands_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"tercet/internal/bench"
	"tercet/internal/cli"
	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/record/printed"
)

func TestMeasuresAJob(t *testing.T) {
	code, out, stderr := clitest.Run("bench", "--job", "mlp", "--job", "mlp", "--threads", "1", "--seconds", "0.05", "--json")
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

func TestPrintsATable(t *testing.T) {
	code, out, stderr := clitest.Run("bench", "--job", "mlp", "--threads", "1", "--seconds", "0.05", "--format", "csv")
	if code != 0 || !strings.Contains(out, "mlp") || !strings.Contains(stderr, "mlp (1 of 1): DIBS MLP") {
		t.Errorf("%d\n%s\n%s", code, out, stderr)
	}
}

func TestQuickSaysSo(t *testing.T) {
	code, out, stderr := clitest.Run("bench", "--job", "kmeans-100", "--threads", "1", "--quick", "--seconds", "0.01", "--json")
	var doc printed.Bench
	if err := json.Unmarshal([]byte(out), &doc); code != 0 || err != nil {
		t.Fatal(code, err, stderr)
	}
	if r := doc.Results[0]; !doc.Quick || r.Images != 2000 || !strings.Contains(r.What, "2,000 x 512") || !strings.Contains(stderr, r.What) {
		t.Errorf("quick %v: %+v\n%s", doc.Quick, r, stderr)
	}
}

func TestScaling(t *testing.T) {
	code, out, stderr := clitest.Run("bench", "--job", "mlp", "--scaling", "1,3", "--seconds", "0.02", "--json")
	var doc printed.Bench
	if err := json.Unmarshal([]byte(out), &doc); code != 0 || err != nil || len(doc.Results) != 2 || len(doc.Machine.Peak) != 2 {
		t.Fatal(code, err, stderr, out)
	}
	one, three := doc.Results[0], doc.Results[1]
	if one.Threads != 1 || one.SpeedUp != 1 || one.Efficiency != 1 {
		t.Errorf("%+v", one)
	}
	if want := one.Seconds / three.Seconds; three.Threads != 3 || three.SpeedUp != want || math.Abs(three.Efficiency-want/3) > 1e-15 {
		t.Errorf("%+v; the speed-up is %v", three, want)
	}
	for flags, want := range map[string]string{
		"--scaling 2,1":             "increasing",
		"--scaling 2":               "two or more",
		"--scaling 0,1":             "numbers from 1",
		"--scaling 1,4097":          "give at most 4096",
		"--scaling 1,2 --check":     "cannot be combined",
		"--scaling 1,2 --threads 2": "cannot be combined",
	} {
		if code, _, stderr := clitest.Run(append([]string{"bench", "--job", "mlp"}, strings.Fields(flags)...)...); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d %s", flags, code, stderr)
		}
	}
}

// An interruption keeps what was measured.
func TestBenchInterrupted(t *testing.T) {
	var out bytes.Buffer
	stderr := &clitest.SignalAt{Text: "c2f2 (2 of 2)"}
	code := cli.Main(clitest.ShellWords("bench --job mlp --job c2f2 --threads 1 --seconds 0.05"), strings.NewReader(""), &out, stderr)
	if code != base.ExitInterrupted || !strings.Contains(string(stderr.All), "tercet: job c2f2: interrupted by terminated\n") {
		t.Errorf("code %d\n%s", code, stderr.All)
	}
	if !strings.Contains(out.String(), "│ mlp ") || strings.Contains(out.String(), "c2f2") {
		t.Errorf("stdout:\n%s", out.String())
	}
	out.Reset()
	stderr = &clitest.SignalAt{Text: "c2f2 (1 of 1)"}
	code = cli.Main(clitest.ShellWords("bench --job c2f2 --check"), strings.NewReader(""), &out, stderr)
	if code != base.ExitInterrupted || out.Len() > 0 || !strings.Contains(string(stderr.All), "tercet: job c2f2: interrupted by terminated\n") {
		t.Errorf("check: code %d, stdout %q\n%s", code, out.String(), stderr.All)
	}
}

func TestChecksBits(t *testing.T) {
	code, out, stderr := clitest.Run("bench", "--job", "mlp", "--check", "--quiet")
	if code != 0 || stderr != "" || !strings.Contains(out, "identical") {
		t.Errorf("%d\n%s\n%s", code, out, stderr)
	}
}

func TestMistakes(t *testing.T) {
	for line, want := range map[string]string{
		"bench --job c2f":                   `tercet: unknown job "c2f"; did you mean c2f2? valid: gemm, `,
		"bench --job mlp --seconds 0":       "tercet: --seconds is 0; give a number above 0",
		"bench --job mlp --seconds NaN":     "tercet: --seconds is NaN; give a number above 0",
		"bench --job mlp --format txt":      "txt",
		"bench mlp":                         `tercet bench takes no arguments; got "mlp": write --job mlp`,
		"bench --job mlp --check --seconds": "flag needs an argument",
	} {
		if code, out, stderr := clitest.Run(strings.Fields(line)...); code != base.ExitUsage || !strings.Contains(stderr, want) || out != "" {
			t.Errorf("%s\ngot  %d %q %s\nwant %s", line, code, out, stderr, want)
		}
	}
}

func TestCompletesJobs(t *testing.T) {
	_, out, _ := clitest.Run("__complete", "bench", "--job", "k")
	for _, j := range bench.Jobs() {
		if has := strings.Contains(out, j.Name+"\t"+j.What(false)+"\n"); has != strings.HasPrefix(j.Name, "k") {
			t.Errorf("%s: %v in %q", j.Name, has, out)
		}
	}
}
