package commands_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/run"
	"tercet/internal/rundir"
)

// three makes three finished runs, one that failed and one that was killed.
func three(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	clitest.FakeRun(t, "a-2", 2, 0.5)
	clitest.FakeRun(t, "a-10", 10, 0.7, "loss.margin=0.3")
	clitest.FakeRun(t, "b", 0, 0.6, "loss=contrastive")
	restate(t, clitest.FakeRun(t, "failed", 1, 0.9), func(m *record.Manifest) { m.Status, m.Message, m.Steps = record.Failed, "no space left", 5 })
	restate(t, clitest.FakeRun(t, "killed", 1, 0.1), func(m *record.Manifest) { m.Status, m.Steps = record.Running, 7 })
}

func restate(t *testing.T, dir string, change func(*record.Manifest)) {
	t.Helper()
	path := filepath.Join(dir, "manifest.json")
	m, err := record.ReadIfThere[record.Manifest](path)
	if err != nil {
		t.Fatal(err)
	}
	change(m)
	if err := record.Write(path, *m); err != nil {
		t.Fatal(err)
	}
}

// names are the runs that a list has, in its order.
func names(t *testing.T, line string) string {
	t.Helper()
	var doc printed.RunListing
	clitest.RunJSON(t, line+" --json", &doc)
	var out []string
	for _, r := range doc.Runs {
		out = append(out, filepath.Base(r.Dir))
	}
	return strings.Join(out, " ")
}

func TestListSortsAndFilters(t *testing.T) {
	three(t)
	restate(t, "runs/b", func(m *record.Manifest) { m.Started, m.Seconds = "2026-01-02T03:04:05Z", 50 })
	for flags, want := range map[string]string{
		"":                                    "a-2 a-10 b failed killed",
		" --reverse":                          "killed failed b a-10 a-2",
		" --sort score":                       "failed a-10 b a-2 killed",
		" --sort score --limit 2":             "failed a-10",
		" --sort time --limit 1":              "b",
		" --sort age --limit 1":               "b",
		" --sort progress":                    "a-2 a-10 b killed failed",
		" --status failed,dead":               "failed killed",
		" --status finished":                  "a-2 a-10 b",
		" --where loss=contrastive":           "b",
		" --where loss.margin=0.3":            "a-10",
		" --where seed=2,0 --sort name":       "a-2 b",
		" --where seed=1 --status dead":       "killed",
		" --where loss.margin=0.30 --limit 0": "a-10",
	} {
		if got := names(t, "runs list"+flags); got != want {
			t.Errorf("%s: %s, want %s", flags, got, want)
		}
	}
	table := clitest.Must(t, 0, "runs list")
	for _, want := range []string{"runs/a-2", "finished", "0.500 [0.400, 0.600]", "dead", "326 days"} {
		if !strings.Contains(strings.ReplaceAll(table, age(t), "326 days"), want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if !strings.Contains(table, "runs/failed: no space left") {
		t.Errorf("%s", table)
	}
	csv := clitest.Must(t, 0, "runs list runs/b --format csv")
	if !strings.Contains(csv, "2026-01-02T03:04:05Z,50,640,320,") {
		t.Errorf("%s", csv)
	}
}

// age is that of the run b, in days.
func age(t *testing.T) string {
	t.Helper()
	at, err := time.Parse(time.RFC3339, "2026-01-02T03:04:05Z")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%.0f days", time.Since(at).Hours()/24)
}

// A score of which lower values are better is sorted so; what lacks it comes last.
func TestListSortsByAnyScore(t *testing.T) {
	three(t)
	for i, name := range []string{"a-2", "b"} {
		path := filepath.Join("runs", name, "eval.json")
		e, err := record.ReadIfThere[record.Eval](path)
		if err != nil {
			t.Fatal(err)
		}
		e.Pairs = record.Scores{{Key: "eer", Value: record.Value{Value: 0.2 - 0.1*float64(i), Definition: "eer"}}}
		if err := record.Write(path, *e); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := names(t, "runs list --metric pairs.eer --sort score --status finished"), "b a-2 a-10"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := names(t, "runs list --metric pairs.eer --sort score --status finished --reverse"), "a-2 b a-10"; got != want {
		t.Errorf("reversed: %s, want %s", got, want)
	}
}

func TestListRefuses(t *testing.T) {
	three(t)
	for line, want := range map[string]string{
		"runs list --sort best":                `--sort is "best"; `,
		"runs list --status ended":             `--status has no "ended"; `,
		"runs list --where loss":               `--where is "loss"; give KEY=VALUE`,
		"runs list --where los.margin=1":       "unknown config key los.margin; did you mean loss.margin?",
		"runs list --metric recal@1":           "no run has the score recal@1; did you mean recall@1?",
		"runs list --limit -1":                 "--limit is -1",
		"runs list --format x":                 "x",
		"runs diff runs runs/b":                "runs has 5 runs; name one, such as runs/a-2",
		"runs prune":                           "say what to remove",
		"runs prune --checkpoints last":        `--checkpoints is "last"; give previous, best, kept or all`,
		"runs prune --status x":                `--status has no "x"`,
		"runs prune --status dead --older":     "--older",
		"runs prune --status dead --older 3":   `--older is "3"; give a time such as 30d`,
		"runs prune --status dead --older -3d": `--older is "-3d"`,
	} {
		clitest.Refuse(t, base.ExitUsage, line, want)
	}
	clitest.Refuse(t, base.ExitData, "runs list nothing", "nothing does not exist")
	clitest.Refuse(t, base.ExitData, "runs show nothing", "nothing does not exist")
}

// A broken run is a row of the list, and no reason to list nothing.
func TestListHasBrokenRuns(t *testing.T) {
	three(t)
	clitest.Put(t, "runs/broken/manifest.json", "{")
	clitest.Put(t, "runs/begun/config.yaml", "name: begun\n")
	clitest.Put(t, "runs/b/eval.json", "[]")
	var doc printed.RunListing
	clitest.RunJSON(t, "runs list --json", &doc)
	got := map[string]record.Status{}
	for _, r := range doc.Runs {
		got[filepath.Base(r.Dir)] = r.Status
	}
	want := map[string]record.Status{"a-2": "finished", "a-10": "finished", "b": "unreadable", "begun": "not begun", "broken": "unreadable", "failed": "failed", "killed": "dead"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	clitest.Refuse(t, base.ExitData, "runs show runs/begun", "runs/begun: not begun")
}

func TestListReadsArchives(t *testing.T) {
	three(t)
	if _, err := rundir.Archive("old.zip", []string{"runs/a-2", "runs/b"}, false); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, "runs list old.zip --sort score"), "b a-2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	clitest.Refuse(t, base.ExitUsage, "runs rm old.zip/a-2 --yes", "is in an archive")
	if out := clitest.Must(t, 0, "runs diff old.zip/a-2 runs/a-2"); !strings.Contains(out, "no config keys that differ") {
		t.Errorf("%s", out)
	}
}

func TestDiff(t *testing.T) {
	three(t)
	var doc printed.RunDifference
	clitest.RunJSON(t, "runs diff runs/a-2 runs/a-10 --json", &doc)
	got := ""
	for _, p := range doc.Config {
		got += fmt.Sprintf("%s: %s, %s\n", p.Key, *p.Values[0], *p.Values[1])
	}
	if d := cmp.Diff("name: a-2, a-10\nseed: 2, 10\nloss.margin: 0.2, 0.3\n", got); d != "" {
		t.Error(d)
	}
	if len(doc.Scores) != 1 || doc.Scores[0].Difference == nil || math.Abs(*doc.Scores[0].Difference-0.2) > 1e-9 {
		t.Errorf("%+v", doc.Scores)
	}
	clitest.RunJSON(t, "runs diff runs/a-2 runs/b --json", &doc)
	only := ""
	for _, p := range doc.Config {
		if p.Values[0] == nil || p.Values[1] == nil {
			only += p.Key + " "
		}
	}
	if !strings.Contains(only, "loss.") {
		t.Errorf("keys that one of two losses has: %q", only)
	}
}

// The interval of a difference that is the same for each query has no width; without values
// of queries, a note gives the reason.
func TestDiffOverQueries(t *testing.T) {
	three(t)
	const why = "they need the values of the same queries in both runs, which tercet eval --per-query stores"
	if out := clitest.Must(t, 0, "runs diff runs/a-2 runs/a-10"); !strings.Contains(out, why) {
		t.Errorf("no reason in\n%s", out)
	}
	for dir, values := range map[string][]float64{"runs/a-2": {0.25, 0.75}, "runs/a-10": {0.4375, 0.9375}} {
		e, err := record.Read[record.Eval](dir + "/eval.json")
		if err != nil {
			t.Fatal(err)
		}
		e.Source.Items = 2
		e.Items, e.Values = record.Pack([]float64{0, 1}), record.PackedScores{"recall@1": record.Pack(values)}
		if err := record.Write(dir+"/eval.json", *e); err != nil {
			t.Fatal(err)
		}
	}
	var doc printed.RunDifference
	clitest.RunJSON(t, "runs diff runs/a-2 runs/a-10 --json", &doc)
	if q := doc.Scores[0].Queries; q == nil || q.N != 2 || q.P != 0.5 || q.CI95 != [2]float64{0.1875, 0.1875} {
		t.Errorf("%+v", q)
	}
	out := clitest.Must(t, 0, "runs diff runs/a-2 runs/a-10")
	if !strings.Contains(out, "[0.187, 0.188]") && !strings.Contains(out, "[0.188, 0.188]") && !strings.Contains(out, "[0.187, 0.187]") || strings.Contains(out, why) {
		t.Errorf("%s", out)
	}
}

// The table has the scores that people ask for first and both runs have; --all-scores and
// csv have all.
func TestDiffOfManyScores(t *testing.T) {
	three(t)
	for i, dir := range []string{"runs/a-2", "runs/a-10"} {
		e, err := record.Read[record.Eval](dir + "/eval.json")
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"map@10", []string{"ari", "nmi"}[i]} {
			e.Retrieval = append(e.Retrieval, record.Score{Key: key, Value: record.Value{Value: 0.25, Definition: key}})
		}
		if err := record.Write(dir+"/eval.json", *e); err != nil {
			t.Fatal(err)
		}
	}
	out := clitest.Must(t, 0, "runs diff runs/a-2 runs/a-10")
	for want, has := range map[string]bool{"recall@1": true, "map@10": false, "nmi": false, "1 more score of both runs: --all-scores\n1 score of runs/a-2 alone: --all-scores\n1 score of runs/a-10 alone: --all-scores\n": true} {
		if strings.Contains(out, want) != has {
			t.Errorf("%q is in the table: %v\n%s", want, !has, out)
		}
	}
	for _, flags := range []string{" --all-scores", " --format csv"} {
		out := clitest.Must(t, 0, "runs diff runs/a-2 runs/a-10"+flags)
		for _, want := range []string{"recall@1", "map@10", "nmi", "ari"} {
			if !strings.Contains(out, want) || strings.Contains(out, "alone: --all-scores") {
				t.Errorf("%s: no %s in\n%s", flags, want, out)
			}
		}
	}
}

// What was measured otherwise has no difference.
func TestDiffOfUnlikeScores(t *testing.T) {
	three(t)
	e, err := record.ReadIfThere[record.Eval]("runs/b/eval.json")
	if err != nil {
		t.Fatal(err)
	}
	e.Options.Distance = "cosine"
	if err := record.Write("runs/b/eval.json", *e); err != nil {
		t.Fatal(err)
	}
	restate(t, "runs/b", func(m *record.Manifest) {
		m.Data.Test = record.Set{Items: 4, Fingerprint: "sha256:0123456789abcdef"}
		m.Kernel = "avx2"
	})
	out := clitest.Must(t, 0, "runs diff runs/a-2 runs/b")
	for _, want := range []string{"recall@1 was measured with different settings: distance euclidean (runs/a-2), cosine (runs/b)", "the test images are not the same: none, and 4 with fingerprint 0123456789ab", "kernel levels: none, and avx2"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestShow(t *testing.T) {
	three(t)
	out := clitest.Must(t, 0, "runs show runs/a-10")
	for _, want := range []string{"finished at step 10 of 10", "\n  loss.margin: 0.3\n", "recall@1", "0.700 [0.600, 0.800]", "eval.json"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	restate(t, "runs/b", func(m *record.Manifest) {
		m.Extended = []record.Extension{{Run: "short", Step: 4}, {Run: "longer", Step: 7, Schedule: "keep"}}
	})
	if out := clitest.Must(t, 0, "runs show runs/b"); !strings.Contains(out, "\ncontinues short from step 4\ncontinues longer from step 7, schedule keep\n") {
		t.Errorf("%s", out)
	}
	if out := clitest.Must(t, 0, "runs show runs/killed"); !strings.Contains(out, "tercet train --resume runs/killed") {
		t.Errorf("%s", out)
	}
}

func TestRemove(t *testing.T) {
	three(t)
	clitest.Put(t, "runs/a-2/stability/retrained/base/manifest.json", "{}") // as tercet stability leaves it
	before := clitest.Snapshot(t, ".")
	if out := clitest.Must(t, 0, "runs rm runs/a-2 runs/b"); !strings.Contains(out, "would remove") || !strings.Contains(out, "of 2 runs; --yes") {
		t.Errorf("%s", out)
	}
	clitest.Must(t, 0, "runs prune --status failed,dead")
	clitest.Unchanged(t, ".", before, nil)
	clitest.Must(t, 0, "runs rm runs/a-2 --yes")
	if got := names(t, "runs list"); got != "a-10 b failed killed" {
		t.Errorf("%s", got)
	}
	clitest.Must(t, 0, "runs prune --status failed,dead --yes")
	if got := names(t, "runs list"); got != "a-10 b" {
		t.Errorf("%s", got)
	}
	left, err := os.ReadDir("runs")
	if err != nil || len(left) != 2 {
		t.Errorf("%v %v", left, err)
	}
}

// A run that a command reads is not removed either, until the command ends.
func TestRemoveKeepsRunsThatAreRead(t *testing.T) {
	three(t)
	r := &run.Run{Dir: "runs/a-2"}
	r.Use()
	before := clitest.Snapshot(t, ".")
	for _, line := range []string{"runs rm runs/a-2 --yes", "runs prune --status finished --yes"} {
		clitest.Refuse(t, base.ExitUsage, line, "a process works on runs/a-2; stop it first")
	}
	clitest.Unchanged(t, ".", before, nil)
	r.Close()
	clitest.Must(t, 0, "runs rm runs/a-2 --yes")
}

// A name cannot write to the terminal.
func TestNamesWithControlCharacters(t *testing.T) {
	three(t)
	if err := os.Rename("runs/b", "runs/b\x1b[31mred\ny"); err != nil {
		t.Skip("no such names here")
	}
	for _, line := range []string{"runs rm runs/b*", "runs show runs/b*", "runs list", "runs list runs/b* --status finished", "runs diff runs/b* runs/a-2", "compare runs/b* runs/a-2"} {
		if out := clitest.Must(t, 0, line); strings.Contains(out, "\x1b") || !strings.Contains(out, `b\x1b[31mred\ny`) {
			t.Errorf("%s: %q", line, out)
		}
	}
}

// If one of the runs is in use, none is removed.
func TestRemoveKeepsRunsInUse(t *testing.T) {
	three(t)
	r := &run.Run{Dir: "runs/killed"}
	if err := r.Lock(); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := clitest.Snapshot(t, ".")
	for _, line := range []string{"runs rm runs/killed", "runs rm runs/killed runs/b --yes", "runs prune --status training,failed --yes"} {
		clitest.Refuse(t, base.ExitUsage, line, "a process works on runs/killed; stop it first, or leave the run out: nothing was removed")
	}
	clitest.Unchanged(t, ".", before, nil)
	if err := os.Symlink("a-2", "runs/link"); err != nil {
		t.Skip("no symbolic links here")
	}
	clitest.Refuse(t, base.ExitUsage, "runs rm runs/link --yes", "runs/link is a link")
}

// A sweep with a run whose weights were removed continues with its other runs.
func TestTrainingAfterPruning(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml --set sweep.seed=[0,1]")
	clitest.Must(t, 0, "runs prune runs/tiny-seed-0 --checkpoints best --yes")
	clitest.Refuse(t, base.ExitData, "eval runs/tiny-seed-0 --checkpoint best", "it has been there: `tercet train --resume runs/tiny-seed-0 --from start`")
	clitest.Must(t, 0, "runs prune --checkpoints all --yes")
	out := clitest.Must(t, 0, "train -c tiny.yaml --set sweep.seed=[0,1,2]")
	if _, err := os.Stat("runs/tiny-seed-2/checkpoints/last.safetensors"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	const again = "tercet train --resume runs/tiny-seed-1 --from start"
	clitest.Refuse(t, base.ExitData, "eval runs/tiny-seed-1", "the run's weights were removed (tercet runs prune): `"+again+"` trains it again")
	clitest.Refuse(t, base.ExitUsage, "runs extend runs/tiny-seed-1 --epochs 9", "the weights of runs/tiny-seed-1 were removed")
	if out := clitest.Must(t, 0, "runs show runs/tiny-seed-1"); !strings.Contains(out, again) {
		t.Errorf("next: %s", out)
	}
	clitest.Must(t, 0, strings.TrimPrefix(again, "tercet "))
	clitest.Must(t, 0, "eval runs/tiny-seed-1 --no-pictures --no-kmeans --no-baselines")
}

func TestPruneCheckpoints(t *testing.T) {
	three(t)
	for _, name := range []string{"a-2", "killed"} {
		for _, file := range []string{"last", "previous", "best"} {
			clitest.Put(t, filepath.Join("runs", name, "checkpoints", file+".safetensors"), strings.Repeat("x", 1000))
		}
	}
	before := clitest.Snapshot(t, ".")
	if out := clitest.Must(t, 0, "runs prune --checkpoints previous --older 1h --yes"); !strings.Contains(out, "nothing to remove") {
		t.Errorf("%s", out)
	}
	clitest.Unchanged(t, ".", before, nil)
	restate(t, "runs/a-2", func(m *record.Manifest) { m.Updated = "2026-01-02T03:04:05Z" })
	if out := clitest.Must(t, 0, "runs prune --checkpoints all --older 30d --yes"); !strings.Contains(out, "nothing to remove") {
		t.Errorf("its files are new: %s", out)
	}
	old := time.Now().AddDate(0, -2, 0)
	entries, err := os.ReadDir("runs/a-2")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Chtimes(filepath.Join("runs/a-2", e.Name()), old, old); err != nil {
			t.Fatal(err)
		}
	}
	before = clitest.Snapshot(t, ".")
	if out := clitest.Must(t, 0, "runs prune --checkpoints all --older 30d --yes"); !strings.Contains(out, "removed: 3000 bytes of 1 run") {
		t.Errorf("%s", out)
	}
	maps.DeleteFunc(before, func(path, _ string) bool { return strings.HasPrefix(path, "runs/a-2/checkpoints") })
	clitest.Unchanged(t, ".", before, func(path string) bool { return path == "runs/a-2/lock" || path == "runs/a-2/manifest.json" })
	if left, err := os.ReadDir("runs/a-2/checkpoints"); err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
}

// What is not surely a run, or has another one in it, is not removed, whatever its name.
func TestRemoveKeepsWhatIsNoRun(t *testing.T) {
	three(t)
	clitest.Put(t, "thesis.tex", "mine")
	clitest.Put(t, "config.yaml", "name: mine\n")
	clitest.Put(t, "project/config.yaml", "x: 1\n")
	clitest.Put(t, "project/thesis.tex", "mine")
	clitest.Put(t, "foreign/manifest.json", "{}")
	if err := os.Rename(clitest.FakeRun(t, "inner", 0, 0.5), "runs/b/inner"); err != nil {
		t.Fatal(err)
	}
	clitest.Put(t, "store/last.safetensors", "x")
	clitest.Put(t, "runs/failed/stability/lock", "")
	f, err := os.OpenFile("runs/failed/stability/lock", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := fsx.Lock(f); err != nil {
		t.Fatal(err)
	}
	before := clitest.Snapshot(t, ".")
	for line, want := range map[string]string{
		"runs rm . --yes": ". may not be a run: it has a config.yaml, no manifest.json, and",
		"runs prune project --status 'not begun' --yes": "project may not be a run",
		"runs rm foreign --yes":                         "foreign may not be a run: its manifest cannot be read",
		"runs rm runs/a-10 runs/b --yes":                "runs/b has another run in it, runs/b/inner",
		"runs rm runs/a-10 runs/failed --yes":           "a process works on runs/failed",
	} {
		clitest.Refuse(t, base.ExitUsage, line, want)
		clitest.Unchanged(t, ".", before, nil)
	}
	if err := os.Symlink("../../store", "runs/a-2/checkpoints"); err != nil {
		t.Skip("no symbolic links here")
	}
	clitest.Refuse(t, base.ExitUsage, "runs prune runs/a-2 --checkpoints all --yes", "checkpoints is a link")
	if _, err := os.Stat("store/last.safetensors"); err != nil {
		t.Error(err)
	}
}

// What a killed removal has left is no run, and the next removal finishes it.
func TestRemovalIsFinished(t *testing.T) {
	three(t)
	if err := os.Rename("runs/b", "runs/.removed-1-b"); err != nil {
		t.Fatal(err)
	}
	if got := names(t, "runs list"); got != "a-2 a-10 failed killed" {
		t.Errorf("%s", got)
	}
	clitest.Must(t, 0, "runs rm runs/failed --yes")
	left, err := os.ReadDir("runs")
	if err != nil || len(left) != 3 {
		t.Errorf("%v %v", left, err)
	}
}
