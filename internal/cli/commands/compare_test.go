package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/record"
	"tercet/internal/record/printed"
)

// four trains two configurations with two seeds each and evaluates them query by query.
func four(t *testing.T) {
	t.Helper()
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml --set 'sweep={loss.margin: [0.1, 0.4], seed: [0, 1]}'")
	entries, err := os.ReadDir("runs")
	if err != nil || len(entries) != 4 {
		t.Fatalf("%d runs, %v", len(entries), err)
	}
	for _, e := range entries {
		clitest.Must(t, 0, "eval --run runs/"+e.Name()+" --no-pictures --no-kmeans --no-baselines --bootstrap 0 --per-query")
	}
}

func compared(t *testing.T, line string) (d printed.ComparedRuns) {
	t.Helper()
	clitest.RunJSON(t, line+" --json", &d)
	return d
}

func TestCompareASweep(t *testing.T) {
	four(t)
	d := compared(t, "compare runs --metric recall@1,map@r")
	if len(d.Sides) != 2 || len(d.Sides[0].Seeds) != 2 || len(d.Differences) != 2 || d.Split != "test" || d.Checkpoint != "last" {
		t.Fatalf("%+v", d)
	}
	for _, p := range d.Differences {
		if p.Pairs != 2 || p.Mean == nil || p.Seeds == nil || p.Queries == nil || p.Queries.N < 2 {
			t.Errorf("%+v", p)
		}
	}
	apart := compared(t, "compare runs/*-0.1* runs/*-0.4* --metric recall@1,map@r")
	if len(apart.Sides) != 2 || *apart.Differences[1].Mean != *d.Differences[1].Mean || *apart.Differences[1].Queries != *d.Differences[1].Queries {
		t.Errorf("as two arguments: %+v", apart.Differences[1])
	}
	swapped := compared(t, "compare runs/*-0.4* runs/*-0.1* --metric map@r")
	if *swapped.Differences[0].Mean != -*d.Differences[1].Mean {
		t.Errorf("swapped: %+v", swapped.Differences[0])
	}
	clitest.Refuse(t, base.ExitUsage, "compare runs --group-by loss", "the same seed twice")
	clitest.Must(t, 0, "compare runs --metric recall@1 --save-queries q.csv")
	csv, err := os.ReadFile("q.csv")
	if err != nil || strings.Count(string(csv), "\n") != 1+4*d.Differences[0].Queries.N || !strings.HasPrefix(string(csv), "side,from,item,recall@1\n") {
		t.Errorf("%v\n%.200s", err, csv)
	}
	clitest.Refuse(t, base.ExitUsage, "compare runs --save-queries q.csv", "q.csv exists; --force replaces it")
}

// Embeddings of another tool are a side as well.
func TestCompareEmbeddings(t *testing.T) {
	four(t)
	for _, name := range []string{"x", "y"} {
		margin := map[string]string{"x": "0.1", "y": "0.4"}[name]
		entries, err := os.ReadDir("runs")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.Contains(e.Name(), margin) && strings.HasSuffix(e.Name(), "seed-0") {
				clitest.Must(t, 0, "eval --run runs/"+e.Name()+" --save-embeddings "+name+".npy")
			}
		}
		clitest.Must(t, 0, "eval --embeddings "+name+".npy --labels "+name+".labels.npy --no-kmeans --bootstrap 0 --per-query --out "+name+".json")
	}
	both := compared(t, "compare x.json y.json --metric map@r")
	of := both.Differences[0]
	if len(both.Notes) != 1 || !strings.Contains(both.Notes[0], "does not say of which items its rows are") {
		t.Errorf("%q", both.Notes)
	}
	if mixed := compared(t, "compare runs/*-0.1*seed-0 y.json --metric map@r").Differences[0]; mixed.Mean == nil || *mixed.Mean != *of.Mean {
		t.Errorf("a run and embeddings: %+v", mixed)
	}
	runs := compared(t, "compare runs/*-0.1*seed-0 runs/*-0.4*seed-0 --metric map@r").Differences[0]
	if of.Queries == nil || of.Seeds != nil || *of.Mean != *runs.Mean || *of.Queries != *runs.Queries {
		t.Errorf("embeddings %+v %+v\nruns %+v %+v", of, of.Queries, runs, runs.Queries)
	}
}

func TestCompareRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.FakeRun(t, "a", 0, 0.5)
	clitest.FakeRun(t, "again", 0, 0.6)
	clitest.FakeRun(t, "b", 0, 0.5, "loss=contrastive")
	clitest.Put(t, "bad.json", "{}")
	for _, dir := range []string{"runs/a", "runs/b"} {
		path := dir + "/eval.json"
		e, err := record.ReadIfThere[record.Eval](path)
		if err != nil {
			t.Fatal(err)
		}
		if e.Source.Run = dir; record.Write(path, *e) != nil {
			t.Fatal(path)
		}
	}
	if err := os.Symlink("runs/b/eval.json", "link.csv"); err != nil {
		t.Skip("no symbolic links here")
	}
	for line, want := range map[string]string{
		"compare runs/a":                                        "runs/a is one side, a; name another",
		"compare runs":                                          "the same seed twice",
		"compare runs/a runs/b --metric recal@1":                "did you mean recall@1?",
		"compare runs/a runs/b --resamples 3":                   "--resamples is 3",
		"compare runs/a runs/b --permutations 0":                "--permutations is 0",
		"compare runs/a runs/b --group-by los":                  "los",
		"compare runs/a runs/b --save-queries q.json":           "ends in .csv",
		"compare runs/a runs/b --split all":                     "all",
		"compare runs/a runs/b runs/a":                          "runs/a is named twice",
		"compare runs/a runs/b --save-queries link.csv --force": "--save-queries link.csv is what the command reads",
		"compare runs/a runs/b/eval.json --split train":         "runs/b/eval.json is of the test images, checkpoint last, not of the train images",
	} {
		clitest.Refuse(t, base.ExitUsage, line, want)
	}
	for line, want := range map[string]string{
		"compare runs/a runs/none":                           "runs/none does not exist",
		"compare runs/a bad.json":                            "bad.json",
		"compare runs/a runs/b --checkpoint best":            "compute them for each run first: tercet eval runs/a --per-query --checkpoint best",
		"compare runs/a runs/b --save-queries q.csv":         "no result stores the values of its queries",
		"compare runs/a runs/b --split train --metric map@r": "compute them for each run first: tercet eval runs/a --per-query --split train",
	} {
		clitest.Refuse(t, base.ExitData, line, want)
	}
	clitest.FakeRun(t, "bare", 1, 0.5)
	if err := os.Remove("runs/bare/eval.json"); err != nil {
		t.Fatal(err)
	}
	clitest.Refuse(t, base.ExitData, "compare runs/a runs/bare", "is on both sides of a comparison: runs/bare has no recall@1")
	out := clitest.Must(t, 0, "compare runs/a runs/b")
	if strings.Contains(out, "over seeds") || !strings.Contains(out, "inconclusive") {
		t.Errorf("one seed without queries decides nothing:\n%s", out)
	}
}

// What a side pools beside the keys of --group-by is said, and sides of one name are told
// apart by their directories.
func TestCompareNames(t *testing.T) {
	t.Chdir(t.TempDir())
	for to, from := range map[string]string{
		"one/a": clitest.FakeRun(t, "1", 0, 0.5, "loss.margin=0.1"),
		"one/b": clitest.FakeRun(t, "2", 1, 0.6, "loss.margin=0.2"),
		"two/a": clitest.FakeRun(t, "3", 0, 0.5, "loss=contrastive"),
		"two/b": clitest.FakeRun(t, "4", 1, 0.7, "loss=contrastive"),
	} {
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	out := clitest.Must(t, 0, "compare one two --group-by loss")
	if !strings.Contains(out, "pools runs that also differ in loss.margin") {
		t.Errorf("%s", out)
	}
	if d := compared(t, "compare one/a two/a"); d.Sides[0].Name != "one/a" || d.Differences[0].Side != "two/a" {
		t.Errorf("%+v", d.Sides)
	}
}
