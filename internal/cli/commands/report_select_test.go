package commands_test

import (
	"os"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// Scores of other images and weights, of fewer scores and exports leave the table of test
// scores as it is, in each format.
func TestIsOfTestImages(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml --set data.split.validation=0.25")
	clitest.Must(t, 0, "eval --run runs/tiny --no-pictures")
	before := map[string]string{}
	for _, format := range []string{"text", "markdown", "latex", "csv", "json"} {
		before[format] = clitest.Must(t, 0, "report --runs runs/tiny --format "+format)
	}
	clitest.Must(t, 0, "eval --run runs/tiny --split train --no-kmeans --no-baselines --no-pictures")
	clitest.Must(t, 0, "eval --run runs/tiny --split validation --no-pictures")
	clitest.Must(t, 0, "eval --run runs/tiny --checkpoint best --no-pictures")
	clitest.Must(t, 0, "eval --run runs/tiny --save-embeddings train.npy --split train --no-kmeans --no-baselines")
	for format, want := range before {
		if got := clitest.Must(t, 0, "report --runs runs/tiny --format "+format); got != want {
			t.Errorf("%s: %s\nwas\n%s", format, got, want)
		}
		if got := clitest.Must(t, 0, "report --runs runs/tiny --split validation --format "+format); !strings.Contains(got, "validation") {
			t.Errorf("%s has no label: %s", format, got)
		}
	}
	for line, want := range map[string]string{
		"report runs/tiny --split all":                                    "--split is",
		"report runs/tiny --table pairs --split train":                    "--table is of test images and the last checkpoint",
		"report runs/tiny --select best":                                  "--by validation:recall@1",
		"report runs/tiny --by validation:recall@1":                       "give --select best as well",
		"report runs/tiny --select worst --by validation:recall@1":        "give best",
		"report runs/tiny --select best --by recall@1":                    "is not SPLIT:SCORE",
		"report runs/tiny --select best --by validation:recal@1":          "no run has the score \"recal@1\" (did you mean recall@1?)\n",
		"report runs/tiny --select best --by validation:cluster:clusters": "neither higher nor lower is better",
		"report runs/tiny --columns run,recal@1":                          "did you mean recall@1?",
	} {
		clitest.Refuse(t, base.ExitUsage, line, want)
	}
	if out := clitest.Must(t, 0, "report runs/tiny --columns run,recall@1 --format csv"); !strings.HasPrefix(out, "run,recall@1\ntiny,") {
		t.Error(out)
	}
}

// The best of a sweep on validation images is printed with its test scores by one command.
func TestSelects(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml --set data.split.validation=0.25 --set 'sweep={seed: [0, 1], loss.margin: [0.1, 0.4]}'")
	clitest.Refuse(t, base.ExitData, "report runs --select best --by validation:recall@1", "nothing to select by: no eval-validation.json in ")
	for _, run := range []string{"margin-0.1_seed-0", "margin-0.1_seed-1", "margin-0.4_seed-0", "margin-0.4_seed-1"} {
		found := ""
		for path := range clitest.Snapshot(t, "runs") {
			if dir, ok := strings.CutSuffix(path, "/manifest.json"); ok && strings.Contains(dir, strings.Split(run, "_")[0]) && strings.Contains(dir, strings.Split(run, "_")[1]) {
				found = dir
			}
		}
		clitest.Must(t, 0, "eval --no-pictures --no-baselines --no-kmeans --run "+found)
		clitest.Must(t, 0, "eval --no-pictures --no-baselines --no-kmeans --split validation --run "+found)
	}
	doc := clitest.Document(t, "report runs --select best --by validation:recall@1")
	list, _ := doc["candidates"].([]any)
	selected, _ := doc["selected"].(map[string]any)
	if doc["schema"] != "tercet.selection/1" || len(list) != 2 || selected["n"] != 2.0 || doc["scored_split"] != "test" {
		t.Errorf("%v", doc)
	}
	if out := clitest.Must(t, 0, "report runs --select best --by validation:recall@1"); !strings.Contains(out, "validation:recall@1") || !strings.Contains(out, "test:recall@1") || !strings.Contains(out, "test images were not used in this selection") {
		t.Error(out)
	}
	if out := clitest.Must(t, 0, "report runs --select best --by test:recall@1 --per-run --format csv"); !strings.Contains(out, "too good") {
		t.Error(out)
	}
	clitest.Must(t, 0, "report runs --select best --by validation:recall@1 --page sel.md --no-pictures")
	page, err := os.ReadFile("sel.md")
	if err != nil || strings.Count(string(page), "How it was measured") != 2 || !strings.Contains(string(page), "selected among 2 configurations by the mean") {
		t.Errorf("%v: %s", err, page)
	}
	clitest.Refuse(t, base.ExitUsage, "report runs --select best --by validation:recall@1 --columns run,recall@1", "did you mean test:recall@1?")
	for i, want := range []string{"no candidate, since its runs are not measured in the same way: ", ""} {
		run, _ := list[1].(map[string]any)["runs"].([]any)[i].(string)
		clitest.Must(t, 0, "eval --no-pictures --no-baselines --no-kmeans --split validation --limit 8 --force --run "+run)
		if want != "" {
			if out := clitest.Must(t, 0, "report runs --select best --by validation:recall@1"); !strings.Contains(out, want) {
				t.Error(out)
			}
		}
	}
	clitest.Refuse(t, base.ExitData, "report runs --select best --by validation:recall@1", "of the candidates is not measured in the same way: images ")
}
