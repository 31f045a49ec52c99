package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"tercet/internal/bench"
	"tercet/internal/engine/kernel"
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

// Markdown has the parts, as the text does; csv is one table.
func TestBenchPrintsParts(t *testing.T) {
	doc := &benchDocument{Machine: &bench.Machine{CPU: "one", Level: "avx2", Threads: 2, Peak: []bench.Speed{{Threads: 2, GFLOPS: 100}}}, Quick: true,
		Results: []*bench.Result{{Job: "gemm", Threads: 2, Seconds: 1, Parts: []bench.Part{{Name: "64x64x64 nn", Seconds: 1e-3, GFLOPS: 12.5, PeakShare: 0.125}}}}}
	for format, parts := range map[string]bool{"text": true, "markdown": true, "csv": false, "json": false} {
		var out strings.Builder
		if err := printBench(&out, doc, format); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "64x64x64 nn") != parts || parts && !strings.Contains(out.String(), "quick") {
			t.Errorf("%s:\n%s", format, out.String())
		}
		for line := range strings.Lines(out.String()) {
			if format != "json" && utf8.RuneCountInString(line) > 101 {
				t.Errorf("%s: more than 100 columns: %s", format, line)
			}
		}
	}
}

func TestBenchQuickSaysSo(t *testing.T) {
	code, out, stderr := cli("bench", "--job", "kmeans-100", "--quick", "--seconds", "0.01", "--json")
	var doc benchDocument
	if err := json.Unmarshal([]byte(out), &doc); code != 0 || err != nil {
		t.Fatal(code, err, stderr)
	}
	if r := doc.Results[0]; !doc.Quick || r.Images != 2000 || !strings.Contains(r.What, "2,000 x 512") || !strings.Contains(stderr, r.What) {
		t.Errorf("quick %v: %+v\n%s", doc.Quick, r, stderr)
	}
}

// What the last bits and the speed depend on is part of the document.
func TestBenchNamesTheEnvironment(t *testing.T) {
	line := "bench --job mlp --check --json --quiet"
	for env, want := range map[string]string{
		kernel.EnvLevel + "=generic": `"kernel": "generic"`,
		kernel.EnvWinograd + "=off":  `"kernel": "` + kernel.Current().String() + `, winograd off"`,
		kernel.EnvLevel + "=sse":     `environment variable TERCET_KERNEL: unknown kernel level \"sse\": known are generic, avx2, avx512`,
		kernel.EnvWinograd + "=on":   `environment variable TERCET_WINOGRAD: unknown choice \"on\": known are auto, measure, off`,
	} {
		cmd := program(t, line)
		cmd.Env = append(cmd.Env, env)
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want %s in\n%s", env, err, want, out)
		}
		if wrong := strings.Contains(want, "unknown"); wrong != (cmd.ProcessState.ExitCode() == ExitUsage) {
			t.Errorf("%s: %v", env, err)
		}
	}
}

// An interruption keeps what was measured.
func TestBenchInterrupted(t *testing.T) {
	var out bytes.Buffer
	stderr := &signalAt{text: "c2f2 (2 of 2)"}
	code := Main(shellWords("bench --job mlp --job c2f2 --threads 1 --seconds 0.05"), strings.NewReader(""), &out, stderr)
	if code != ExitInterrupted || !strings.Contains(string(stderr.all), "tercet: job c2f2: interrupted by terminated\n") {
		t.Errorf("code %d\n%s", code, stderr.all)
	}
	if !strings.Contains(out.String(), "│ mlp ") || strings.Contains(out.String(), "c2f2") {
		t.Errorf("stdout:\n%s", out.String())
	}
	out.Reset()
	stderr = &signalAt{text: "c2f2 (1 of 1)"}
	code = Main(shellWords("bench --job c2f2 --check"), strings.NewReader(""), &out, stderr)
	if code != ExitInterrupted || out.Len() > 0 || !strings.Contains(string(stderr.all), "tercet: job c2f2: interrupted by terminated\n") {
		t.Errorf("check: code %d, stdout %q\n%s", code, out.String(), stderr.all)
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
		"bench mlp":                         `tercet bench takes no arguments; got "mlp": write --job mlp`,
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
		if has := strings.Contains(out, j.Name+"\t"+j.What(false)+"\n"); has != strings.HasPrefix(j.Name, "k") {
			t.Errorf("%s: %v in %q", j.Name, has, out)
		}
	}
}
