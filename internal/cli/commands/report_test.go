package commands_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"tercet/internal/cli/clitest"
	"tercet/internal/record"
)

func fakeStudy(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for seed, recall := range []float64{0.8, 0.9, 1} {
		clitest.FakeRun(t, fmt.Sprint("a-seed-", seed), uint64(seed), recall)
	}
	clitest.FakeRun(t, "b", 0, 0.5, "loss.margin=0.75")
}

// The interval is that of three seeds with mean 0.9 and deviation 0.1:
// 0.9 +- 4.302653 * 0.1 / sqrt(3).
func TestOverSeeds(t *testing.T) {
	fakeStudy(t)
	code, out, stderr := clitest.Run("report", "--runs", "runs/*", "--page", "pages/all.html")
	if code != 0 || stderr != "wrote pages/all.html\n" {
		t.Fatalf("%d %s", code, stderr)
	}
	for _, want := range []string{
		"4 runs in 2 groups\n",
		"│ a      │ 0.2         │ 3 │ finished │ 0.900 [0.652, 1.148] │          2.0 │     640 │      320 │\n",
		"│ b      │ 0.75        │ 1 │ finished │          0.500 (n=1) │          2.0 │     640 │      320 │\n",
		"│ pixels │ -           │ 3 │ -        │ 0.250 [0.250, 0.250] │            - │       - │        - │\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
	page, err := os.ReadFile("pages/all.html")
	if err != nil || strings.Count(string(page), "data:image/png;base64,") != 4 {
		t.Errorf("%v, %d pictures", err, strings.Count(string(page), "<img"))
	}
	// Arguments name runs as --runs does.
	if _, again, _ := clitest.Run("report", "runs/a-seed-0", "runs/a-seed-1", "runs/a-seed-2", "runs/b"); again != out {
		t.Errorf("by name\n%s\nby glob\n%s", again, out)
	}
	_, out, _ = clitest.Run("report", "runs", "--group-by", "loss", "--metric", "r@1", "--format", "csv")
	if lines := strings.Split(out, "\n"); len(lines) != 4 || !strings.HasPrefix(lines[1], "a-seed-0 and 3 more,triplet,4,finished,0.8,") {
		t.Errorf("by loss\n%s", out)
	}
}

func TestAsJSON(t *testing.T) {
	fakeStudy(t)
	code, out, stderr := clitest.Run("report", "--runs", "runs/a-*", "--json", "-q")
	if code != 0 || stderr != "" {
		t.Fatalf("%d %s", code, stderr)
	}
	var doc struct {
		Schema string
		Groups []struct {
			Run    string
			Seeds  []int
			Scores map[string]struct {
				Value      float64
				CI95       [2]float64
				N          int
				Definition string
			}
		}
		Runs []struct{ Run string }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != "tercet.report/1" || len(doc.Groups) != 1 || len(doc.Runs) != 3 || doc.Runs[2].Run != "runs/a-seed-2" {
		t.Fatalf("%+v", doc)
	}
	g := doc.Groups[0]
	s := g.Scores["recall@1"]
	if g.Run != "a" || fmt.Sprint(g.Seeds) != "[0 1 2]" || s.N != 3 || s.Definition != "recall@1(any)" || fmt.Sprintf("%.6f %.6f", s.Value, s.CI95) != "0.900000 [0.651586 1.148414]" {
		t.Errorf("%+v", g)
	}
}

func TestWritesAPageBesideTheRun(t *testing.T) {
	fakeStudy(t)
	if code, _, stderr := clitest.Run("report", "--runs", "runs/b", "--page", "runs/b/report.md"); code != 0 {
		t.Fatal(stderr)
	}
	page, err := os.ReadFile("runs/b/report.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# b\n", "| recall@1 | 0.5000 [0.4000, 0.6000] | 0.2500 [0.1500, 0.3500] |\n", "](<figures/retrieval.png>)\n", "tercet attack --run runs/b "} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	// A page in the folder does not keep the folder from being one of runs.
	if code, _, stderr := clitest.Run("report", "runs", "--no-pictures", "--page", "runs/report.md", "-q"); code != 0 || stderr != "" {
		t.Errorf("%d %s", code, stderr)
	}
	if page, err = os.ReadFile("runs/report.md"); err != nil || strings.Contains(string(page), "![") {
		t.Errorf("%v: pictures that were not wanted", err)
	}
}

func TestRefuses(t *testing.T) {
	fakeStudy(t)
	clitest.WriteFile(t, "runs/a-seed-1/eval.json", "{\n\"schema\": \"tercet.eval/1\",\n")
	clitest.WriteFile(t, "runs/a-seed-2/config.yaml", "nam: x\n")
	clitest.WriteFile(t, "runs/b/figures/retrieval.png", "GIF89a")
	if err := os.Mkdir("empty", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		line string
		code int
		want string
	}{
		{"report", 2, "name what to report on: --runs DIRECTORY"},
		{"report runs/b --format xml", 2, `unknown table format "xml"`},
		{"report runs/b --page x.pdf", 2, `--page is "x.pdf"; give a file that ends in .md or .html`},
		{"report runs/b --page x", 2, `--page is "x"`},
		{"report runs/b --metric recal@1", 2, `no run has the score "recal@1" (did you mean recall@1?)`},
		{"report runs/b --group-by los", 2, `no run has the config key "los" to group by`},
		{"report runs/[", 2, `pattern "runs/[": syntax error in pattern`},
		{"report nowhere", 3, "no usable run: nowhere does not exist"},
		{"report runs/c*", 3, "no usable run: no folder matches runs/c*"},
		{"report empty", 3, "no usable run: neither empty nor a folder in it has a manifest.json"},
		{"report runs/b/eval.json", 3, "runs/b/eval.json is a file; name the run's directory"},
		{"report runs/a-seed-1", 3, "runs/a-seed-1/eval.json:3: not valid JSON"},
		{"report runs/a-seed-*", 0, "warning: left out: no usable run: runs/a-seed-1/eval.json:3: not valid JSON"},
		{"report runs/a-seed-2", 3, "runs/a-seed-2/config.yaml:1: nam: unknown key"},
		{"report runs/b --page b.html", 3, "runs/b/figures/retrieval.png is not a PNG picture"},
	} {
		code, out, stderr := clitest.Run(strings.Fields(tc.line)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) || (out == "") != (code != 0) {
			t.Errorf("tercet %s\ngot  %d %s%s\nwant %d %s", tc.line, code, out, stderr, tc.code, tc.want)
		}
	}
	if _, err := os.Stat("b.html"); err == nil {
		t.Error("a page was written in spite of the error")
	}
}

// A manifest or a config of another run is refused, as eval and train do.
func TestRefusesASwappedConfig(t *testing.T) {
	fakeStudy(t)
	m, err := os.ReadFile("runs/b/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(m, &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc, "digest") // as after an edit by hand
	doc["config_hash"] = "0123456789ab"
	if err := record.Write("runs/b/manifest.json", doc); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := clitest.Run("report", "runs/b")
	if code != 3 || out != "" || !strings.Contains(stderr, "runs/b/config.yaml was changed since the run began (it was 0123456789ab, is ") {
		t.Errorf("%d %s%s", code, out, stderr)
	}
}
