package commands_test

import (
	"os"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

func TestGap(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	const gap = "gap --run runs/tiny --triplets 500"
	doc := clitest.Document(t, gap+" --bootstrap 100")
	loss, _ := doc["loss"].(map[string]any)
	if doc["schema"] != "tercet.gap/1" || loss["name"] != "triplet" || loss["train"] == nil || loss["gap"] == nil {
		t.Errorf("document %v", doc)
	}
	bound, _ := doc["bound"].(map[string]any)
	if least, _ := bound["without_gamma"].(map[string]any); least["vacuous"] != true {
		t.Errorf("bound %v", bound)
	}
	if _, err := os.Stat("runs/tiny/gap.json"); err != nil {
		t.Error(err)
	}
	for format, want := range map[string]string{"text": "vacuous", "csv": "score,train", "markdown": "| score", "latex": `\begin{tabular}`} {
		if out := clitest.Must(t, 0, gap+" --format "+format); !strings.Contains(out, want) {
			t.Errorf("%s:\n%s", format, out)
		}
	}
	const eval = "eval --run runs/tiny --no-kmeans --no-baselines --bootstrap 0"
	if out := clitest.Must(t, 0, eval); !strings.Contains(out, "generalization gap on random triplets: loss") || !strings.Contains(out, "Theorem 1") {
		t.Error(out)
	}
	for _, flag := range []string{" --split train", " --checkpoint best"} {
		if out := clitest.Must(t, 0, eval+flag); strings.Contains(out, "generalization gap") {
			t.Errorf("%s shows the gap of other weights or images:\n%s", flag, out)
		}
	}
	for flags, want := range map[string]string{
		"eval --gap --influence":   "unknown flag: --influence (flags: tercet gap --help)",
		"eval --k 1 --gap":         "unknown flag: --k",
		"gap --k 3":                "unknown flag: --k",
		"gap --triplets 99":        "at least 100",
		"gap --bootstrap 99":       "at least 100",
		"gap --split train":        "test or validation",
		"gap --format pdf":         "pdf",
		"gap --reference=":         "--reference is empty",
		"gap --fail-under r@1=0.5": "unknown flag: --fail-under",
		"gap --if-needed":          "unknown flag: --if-needed",
	} {
		name, rest, _ := strings.Cut(flags, " ")
		clitest.Refuse(t, base.ExitUsage, name+" --run runs/tiny "+rest, want)
	}
	for flags, want := range map[string]string{
		"gap --delta 0.5":                        "(0, 1/e)",
		"gap --delta 0.1 --positive x --sizes 3": "--sizes and --positive: only for runs",
		"stability --delta 0.1":                  "--delta: only for runs of model mahalanobis",
		"gap --k 3 --pairs":                      "flags: tercet gap --help)",
		"gap --triplets 200":                     "replacing runs/tiny/gap.json would lose: 500 triplets of each set instead of 200; --force replaces it",
		"gap --triplets 500 --seed 4":            "seed 0 instead of 4",
	} {
		name, rest, _ := strings.Cut(flags, " ")
		clitest.Refuse(t, base.ExitUsage, name+" --run runs/tiny "+rest, want)
	}
	clitest.Refuse(t, base.ExitUsage, "gap", "give --run")
	code, _, stderr := clitest.Run(strings.Fields("eval --run runs/tiny --gap --triplets 500 --bootstrap 100 --no-pictures")...)
	if code != 0 || strings.TrimSpace(stderr) != "--gap is now a command: tercet gap --run RUN" {
		t.Errorf("the old spelling: %d, %q", code, stderr)
	}
	doc = clitest.Document(t, gap+" --delta 0.2")
	if bound, _ = doc["bound"].(map[string]any); bound["delta"] != 0.2 {
		t.Errorf("bound %v", bound)
	}
	clitest.Must(t, 0, "gap --run runs/tiny --triplets 200 --force")
	clitest.Refuse(t, base.ExitData, "gap --run runs/tiny --split validation", "no validation set")
	clitest.Refuse(t, base.ExitData, "gap --run runs/none", "runs/none does not exist")
	clitest.Refuse(t, base.ExitData, gap+" --reference runs/none", "--reference: ")
	clitest.Refuse(t, base.ExitData, gap+" --reference runs/tiny", "training images")
	clitest.Must(t, 0, "train -c tiny.yaml --set name=other --set data.glyphs.seed=7")
	doc = clitest.Document(t, gap+" --bootstrap 100 --reference runs/other")
	of, _ := doc["reference"].(map[string]any)
	loss, _ = doc["loss"].(map[string]any)
	if of["run"] != "runs/other" || loss["control"] == nil || loss["controlled"] == nil || loss["gap"] == nil {
		t.Errorf("document %v", doc)
	}
	if out := clitest.Must(t, 0, gap+" --bootstrap 100 --reference runs/other"); !strings.Contains(strings.ToLower(out), "controlled gap") {
		t.Error(out)
	}
	clitest.Refuse(t, base.ExitUsage, gap, "the reference runs/other")
	if out := clitest.Must(t, 0, eval); !strings.Contains(out, "controlled by runs/other: gap of the loss") {
		t.Error(out)
	}
}
