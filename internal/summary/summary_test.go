package summary

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
	"tercet/internal/testutil"
)

func summarize(t *testing.T, runs []*rundir.Run, o Options) *Summary {
	t.Helper()
	s, err := Summarize(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// three seeds of one config, one run of another, whose attack is missing.
func study(t *testing.T) []*rundir.Run {
	t.Chdir(t.TempDir())
	margin := func(v string) []rundir.Label {
		return []rundir.Label{{Key: "loss.name", Value: "triplet"}, {Key: "loss.margin", Value: v}, {Key: "model.name", Value: "cnn"}}
	}
	var runs []*rundir.Run
	for i, recall := range []float64{0.8, 0.9, 1} {
		dir := []string{"x-margin-0.2_seed-0", "x-margin-0.2_seed-1", "x-margin-0.2_seed-2"}[i]
		runs = append(runs, rundirtest.Fake(t, dir, i, "finished", map[string]string{"eval.json": rundirtest.EvalFile(recall, 0.25*float64(i)), "attack.json": rundirtest.AttackFile}, margin("0.2")...))
	}
	return append(runs, rundirtest.Fake(t, "x-margin-0.5_seed-0", 0, "finished", map[string]string{"eval.json": rundirtest.EvalFile(0.5, 0)}, margin("0.5")...))
}

// Recall is 0.8, 0.9, 1: mean 0.9, deviation 0.1, half of the interval
// 4.302653 * 0.1 / sqrt(3) = 0.248414. The untrained network has 0, 0.25 and 0.5
// over the seeds, of which 0 is listed twice and counts once: 0.25 +- 0.621034.
const studyText = `4 runs in 2 groups
╭─────────────────────┬─────────────┬───┬──────────┬───────────────────────┬──────────────────────┬──────────────────────┬──────────────┬─────────┬──────────╮
│ run                 │ loss.margin │ n │ status   │              recall@1 │                  nmi │                 ES:R │ training (s) │ forward │ backward │
├─────────────────────┼─────────────┼───┼──────────┼───────────────────────┼──────────────────────┼──────────────────────┼──────────────┼─────────┼──────────┤
│ x-margin-0.2        │ 0.2         │ 3 │ finished │  0.900 [0.652, 1.148] │ 0.500 [0.500, 0.500] │ 0.125 [0.125, 0.125] │         12.5 │    6400 │     3200 │
│ x-margin-0.5_seed-0 │ 0.5         │ 1 │ finished │           0.500 (n=1) │          0.500 (n=1) │                    - │         12.5 │    6400 │     3200 │
│ untrained           │ -           │ 3 │ -        │ 0.250 [-0.371, 0.871] │                    - │                    - │            - │       - │        - │
│ pixels              │ -           │ 3 │ -        │  0.250 [0.250, 0.250] │                    - │                    - │            - │       - │        - │
╰─────────────────────┴─────────────┴───┴──────────┴───────────────────────┴──────────────────────┴──────────────────────┴──────────────┴─────────┴──────────╯
no attack.json in x-margin-0.5_seed-0; tercet attack --run x-margin-0.5_seed-0 makes it
[low, high]: 95 % interval of Student's t over the runs of a group; it reflects further seeds, not other data
an interval of recall@1 reaches beyond the possible values: Student's t takes the runs for normally distributed, and with so few runs its interval is wide
forward, backward: images through the network in training
`

func TestSummaryOverSeeds(t *testing.T) {
	s := summarize(t, study(t), Options{})
	if d := cmp.Diff(studyText, rendered(t, s.Table(), "text")); d != "" {
		t.Error(d)
	}
	e := s.Groups[0].Scores["recall@1"]
	testutil.Near(t, "mean", *e.Value, 0.9, 1e-6)
	testutil.Near(t, "low", e.CI95[0], 0.651586228824967, 1e-6)
	testutil.Near(t, "high", e.CI95[1], 1.148413771175033, 1e-6)
	if e.N != 3 || e.Definition != "recall@1(any)" {
		t.Errorf("%+v", e)
	}
	if alone := s.Groups[1].Scores["recall@1"]; alone.CI95 != nil || alone.N != 1 || *alone.Value != 0.5 {
		t.Errorf("one run: %+v", alone)
	}
	if d := cmp.Diff([]uint64{0, 1, 2}, s.Groups[0].Seeds); d != "" {
		t.Error(d)
	}
	testutil.Near(t, "untrained of the group", *s.Groups[0].Baselines["untrained"]["recall@1"].Value, 0.25, 1e-6)
	testutil.Near(t, "a run's own score", s.Runs[2].Scores["recall@1"].Value, 1, 1e-6)
}

// Where every group is one run, the column n says so and the cells do not.
func TestSummaryOfOneRun(t *testing.T) {
	t.Chdir(t.TempDir())
	r := rundirtest.Fake(t, "x", 7, "finished", map[string]string{"cluster.json": rundirtest.ClusterFile})
	s := summarize(t, []*rundir.Run{r}, Options{Metrics: []string{"CLUSTER:nmi", "cluster:clusters"}})
	want := `**1 run**

| run | n | status | cluster:nmi | cluster:clusters | training (s) | forward | backward |
|:--- | ---:|:--- | ---:| ---:| ---:| ---:| ---:|
| x | 1 | finished | 0.750 | 3.000 | 12.5 | 6400 | 3200 |

no eval.json in x; tercet eval --run x makes it

forward, backward: images through the network in training
`
	if d := cmp.Diff(want, rendered(t, s.Table(), "markdown")); d != "" {
		t.Error(d)
	}
}

func TestRunsWithoutResults(t *testing.T) {
	t.Chdir(t.TempDir())
	runs := []*rundir.Run{rundirtest.Fake(t, "it's", 0, "collapsed", nil), rundirtest.Fake(t, "b", 1, "interrupted", nil), rundirtest.Fake(t, "c", 2, "running", nil), rundirtest.Fake(t, "d", 3, "diverged", nil), rundirtest.Fake(t, "e", 4, "odd", nil)}
	s := summarize(t, runs, Options{})
	got := rendered(t, s.Table(), "text")
	for _, want := range []string{
		"│ 1 running, 1 interrupted, 1 diverged, 1 *collapse*, 1 odd │",
		"no eval.json in b, c, e; tercet eval --run b makes it\n",
		"it's: collapsed at step 40 of 100: stopped\n",
		"b: interrupted at step 40 of 100: stopped; tercet train --resume b continues it\n",
		"c: running, or killed: stopped; tercet train --resume c continues it\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing %q in\n%s", want, got)
		}
	}
	if len(s.Metrics) != 0 || s.Groups[0].Name != "it's and 4 more" {
		t.Errorf("metrics %v, name %q", s.Metrics, s.Groups[0].Name)
	}
	if one := summarize(t, runs[:1], Options{}); one.Groups[0].status() != "*collapse*" {
		t.Errorf("status %q", one.Groups[0].status())
	}
}

// Each trap of comparing runs is told.
func TestRemarks(t *testing.T) {
	t.Chdir(t.TempDir())
	other := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	rundirtest.Put(t, "late", "manifest.json", other(rundirtest.Manifest(1, "finished", 100), `"avx2"`, `"generic"`, `"v1"`, `"v2"`))
	runs := []*rundir.Run{
		rundirtest.Fake(t, "a", 0, "finished", map[string]string{"eval.json": rundirtest.EvalFile(0.5, 0), "attack.json": rundirtest.AttackFile}),
		rundirtest.Fake(t, "b", 0, "interrupted", map[string]string{"eval.json": other(rundirtest.EvalFile(0.5, 0), `"items": 200`, `"items": 199`, "sha256:bb", "sha256:cc", "recall@1(any)", "recall@1(other)")}),
		rundirtest.Fake(t, "c", 1, "finished", map[string]string{
			"eval.json":   other(rundirtest.EvalFile(0.5, 0), `"checkpoint": "last"`, `"checkpoint": "best"`, `"set": "test"`, `"set": "train"`),
			"attack.json": other(rundirtest.AttackFile, `"eps": 0.25`, `"eps": 0.5`)}),
		rundirtest.Fake(t, "d", 2, "finished", map[string]string{"eval.json": other(rundirtest.EvalFile(0.5, 0), `"recall@1"`, `"recall@2"`)}),
	}
	runs[2].Manifest.Version, runs[2].Manifest.Kernel = "v2", "generic"
	notes := strings.Join(summarize(t, runs, Options{}).Notes, "\n") + "\n"
	for _, want := range []string{
		"no attack.json in b, d; tercet attack --run b makes it\n",
		"c/eval.json is of the train images, checkpoint best, not of the test images, checkpoint last: left out\n",
		"no recall@1 in d; means of recall@1 are over the other runs\n",
		"b: interrupted at step 40 of 100: stopped; tercet train --resume b continues it; its scores count as they are\n",
		"b/eval.json is of step 100, the run is at step 40; tercet eval --run b recomputes it\n",
		"runs differ in the definition of recall@1: recall@1(any) (a), recall@1(other) (b)\n",
		"attacks have different budgets: linf eps 0.25, 32 steps of 0.0625 (fixed), 1 clean start, last iterate, 200 queries (a), linf eps 127.5/255,",
		"a and 3 more: no mean of nmi, since its runs are not measured in the same way: images 200 with fingerprint bb (a), 199 with fingerprint cc (b)\n",
		"a and 3 more: made by different versions: v1 (a), v2 (c)\n",
		"a and 3 more: made at different kernel levels: avx2 (a), generic (c)\n",
		"a and 3 more: the same seed twice, so the interval is too narrow: a and b (0)\n",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("missing %q in\n%s", want, notes)
		}
	}
	// None of this is said of runs that give no reason.
	if notes := summarize(t, runs[:1], Options{}).Notes; len(notes) != 0 {
		t.Errorf("one good run: %q", notes)
	}
}

// Keys of both variants and of the ceiling, what attackers differ in, and a
// warning where ERS means nothing.
func TestReportOfSuites(t *testing.T) {
	t.Chdir(t.TempDir())
	suite := func(budget string) string {
		return `{"schema": "tercet.attack/2", "source": {"checkpoint": "last", "step": 100, "set": "test", "items": 200, "dim": 16},
 "options": {"attacks": ["ES"], "norm": "linf", "eps": 0.25, "step": 0.0625, "iterations": 32, "rule": "fixed", "direction": "sign", "start": "clean", "restarts": 1, "keep": "last"` + budget + `}, "queries": 200,
 "scores": {"fixed": {"CA+": {"value": 0.25}, "ERS": {"value": 0.5}}, "published": {"ERS": {"value": 0.375}}},
 "clean": {"fixed": {"ERS": {"value": 0.875}}, "published": {"ERS": {"value": 0.75}}},
 "warnings": ["embeddings have collapsed: ERS rewards it", "3 images were not attacked"], "cost": {"seconds": 3}}`
	}
	runs := []*rundir.Run{
		rundirtest.Fake(t, "a", 0, "collapsed", map[string]string{"eval.json": rundirtest.EvalFile(0.5, 0), "attack.json": suite(`, "draws": 1, "w": 1, "m": 1`)}),
		rundirtest.Fake(t, "b", 1, "finished", map[string]string{"eval.json": rundirtest.EvalFile(0.5, 0), "attack.json": suite(`, "draws": 3, "w": 5, "m": 2, "near": true, "pure": true, "xi_scale": 2e4`)}),
	}
	s := summarize(t, runs, Options{PerRun: true, Metrics: []string{"ers", "ERS(published)", "clean:ERS", "clean:ers(published)", "ca+"}})
	for key, want := range map[string]float64{"ERS": 0.5, "ERS(published)": 0.375, "clean:ERS": 0.875, "clean:ERS(published)": 0.75, "CA+": 0.25} {
		testutil.Near(t, key, *s.Groups[0].Scores[key].Value, want, 1e-6)
	}
	if got := summarize(t, runs, Options{}).Groups[0].status(); got != "1 finished, 1 *collapse*" {
		t.Errorf("status %q", got)
	}
	notes := strings.Join(s.Notes, "\n") + "\n"
	for _, want := range []string{
		"a: embeddings have collapsed: ERS rewards it\nb: embeddings have",
		"attacks have different budgets: linf eps 0.25, 32 steps of 0.0625 (fixed), 1 clean start, last iterate, 200 queries (a), ",
		"last iterate, w = 5, m = 2, near targets, pure distances, xi scale 20000, 3 draws, 200 queries (b)",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("missing %q in\n%s", want, notes)
		}
	}
	if strings.Contains(notes, "3 images were not") {
		t.Error("a warning that is not about ERS")
	}
	rundirtest.Put(t, "old", "manifest.json", rundirtest.Manifest(1, "finished", 100))
	rundirtest.Put(t, "old", "attack.json", `{"schema": "tercet.attack/1"}`)
	if _, err := rundir.Read("old"); err == nil || !strings.Contains(err.Error(), `"tercet.attack/1"; this version reads tercet.attack/2; `+"`tercet attack`"+` makes the file again`) {
		t.Error(err)
	}
	if _, err := Summarize(runs[:1], Options{Metrics: []string{"LTM"}}); err == nil || !strings.Contains(err.Error(), "; tercet attack --suite ers measures it") {
		t.Error(err)
	}
}

func TestGroupBy(t *testing.T) {
	runs := study(t)
	s := summarize(t, runs, Options{GroupBy: []string{"model"}, Metrics: []string{"r@1"}})
	if len(s.Groups) != 1 || s.GroupBy[0] != "model.name" || s.Groups[0].Labels["model.name"] != "cnn" || s.Groups[0].N != 4 {
		t.Errorf("%+v", s.Groups[0])
	}
	testutil.Near(t, "mean", *s.Groups[0].Scores["recall@1"].Value, 0.8, 1e-6)
	if n := s.Notes[0]; n != "x-margin-0.* pools runs that also differ in loss.margin; its interval is over those, too" {
		t.Errorf("note %q", n)
	}
	for _, tc := range []struct {
		o    Options
		want string
	}{
		{Options{GroupBy: []string{"los"}}, `no run has the config key "los"`},
		{Options{Metrics: []string{"recal@1"}}, `no run has the score "recal@1" (did you mean recall@1?)`},
		{Options{Metrics: []string{"ERS"}}, `no run has the score "ERS"; there are: recall@1, nmi, ES:R and 4 more, which the result documents list; no attack.json in x-margin-0.5_seed-0; tercet attack --run x-margin-0.5_seed-0 makes it; no cluster.json in`},
	} {
		if _, err := Summarize(runs, tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want %s", tc.o, err, tc.want)
		}
	}
}

func TestGroupsThatDifferInManyKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	var a, b []rundir.Label
	for _, k := range []string{"a", "b", "c", "d", "e"} {
		a, b = append(a, rundir.Label{Key: k, Value: "1"}), append(b, rundir.Label{Key: k, Value: "2"})
	}
	runs := []*rundir.Run{rundirtest.Fake(t, "p/x", 0, "finished", nil, a...), rundirtest.Fake(t, "q/x", 0, "finished", nil, b...), rundirtest.Fake(t, "q/y", 1, "finished", nil, b...)}
	s := summarize(t, runs, Options{})
	if s.Notes[0] != "the groups differ in 5 config keys that are not shown: a, b, c, d, e; --group-by chooses" || len(s.Table().Columns) != 6 {
		t.Errorf("%q, %d columns", s.Notes[0], len(s.Table().Columns))
	}
	if s.Groups[0].Name != "x" || s.Groups[1].Name != "x and 1 more" {
		t.Errorf("names %q %q", s.Groups[0].Name, s.Groups[1].Name)
	}
	if s = summarize(t, runs[:2], Options{}); s.Groups[0].Name != "p/x" || s.Groups[1].Name != "q/x" {
		t.Errorf("names %q %q", s.Groups[0].Name, s.Groups[1].Name)
	}
}

// The golden page was checked by eye, its numbers against the files above.
func TestRunPageGolden(t *testing.T) {
	golden, err := filepath.Abs("testdata/runpage.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	r := rundirtest.Fake(t, "x", 3, "finished", map[string]string{"eval.json": rundirtest.EvalFile(0.9, 0.4), "attack.json": rundirtest.AttackFile})
	if err := os.MkdirAll("x/figures", 0o755); err != nil {
		t.Fatal(err)
	}
	rundirtest.Picture(t, "x/figures/attack.png")
	r2, err := rundir.Read("x")
	if err != nil {
		t.Fatal(err)
	}
	r.Figures = r2.Figures
	s := summarize(t, []*rundir.Run{r}, Options{})
	if err := RunPage(s, []*rundir.Run{r}, true).WriteMarkdown("x/report.md"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("x/report.md")
	if err != nil {
		t.Fatal(err)
	}
	testutil.Golden(t, golden, got)
	// Several runs: a heading each, and no pictures where none are wanted.
	unfinished := rundirtest.Fake(t, "y", 4, "interrupted", nil)
	runs := []*rundir.Run{r, unfinished}
	if err := RunPage(summarize(t, runs, Options{}), runs, false).WriteHTML("both.html"); err != nil {
		t.Fatal(err)
	}
	if got, err = os.ReadFile("both.html"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h2>x</h2>", "<h3>Under attack</h3>", "<h2>y</h2>", "seed 4, y: interrupted at step 40 of 100: stopped; tercet train --resume y continues it."} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(string(got), "<img") {
		t.Error("pictures that were not wanted")
	}
}
