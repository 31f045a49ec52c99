package commands_test

import (
	"os"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

func TestStability(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml --set train.epochs=1")
	const stability = "stability --run runs/tiny --triplets 200"
	doc := clitest.Document(t, stability+" --images 3 --jobs 2")
	list, _ := doc["replaced"].([]any)
	if doc["schema"] != "tercet.stability/1" || len(list) != 2 || doc["gamma"] == 0.0 {
		t.Errorf("document %v", doc)
	}
	for _, file := range []string{"stability.json", "figures/stability.png", "figures/stability.svg"} {
		if _, err := os.Stat("runs/tiny/" + file); err != nil {
			t.Error(err)
		}
	}
	for format, want := range map[string]string{"text": "gamma is at least", "csv": "image,class", "markdown": "| image", "latex": `\begin{tabular}`} {
		if out := clitest.Must(t, 0, stability+" --images 3 --no-pictures --format "+format); !strings.Contains(out, want) {
			t.Errorf("%s:\n%s", format, out)
		}
	}
	for _, file := range []string{"stability.png", "stability.svg"} { // older than the numbers, which were measured without
		if _, err := os.Stat("runs/tiny/figures/" + file); err == nil {
			t.Errorf("%s is left", file)
		}
	}
	clitest.Refuse(t, base.ExitUsage, stability+" --images 4", "replacing runs/tiny/stability.json would lose: replaced images 3; --force replaces it")
	if out := clitest.Must(t, 0, "gap --run runs/tiny --triplets 200"); !strings.Contains(out, "at the gamma that was measured") {
		t.Error(out)
	}
	const influence = "influence --run runs/tiny --triplets 200 --replacements 2 --steps 2"
	doc = clitest.Document(t, influence+" --jobs 2 --checkpoint best")
	if list, _ := doc["images"].([]any); doc["schema"] != "tercet.influence/1" || len(list) != 2 {
		t.Errorf("document %v", doc)
	}
	for _, file := range []string{"influence-best.json", "figures-best/influence.png"} {
		if _, err := os.Stat("runs/tiny/" + file); err != nil {
			t.Error(err)
		}
	}
	clitest.Must(t, 0, influence+" --checkpoint best --no-pictures")
	if _, err := os.Stat("runs/tiny/figures-best/influence.png"); err == nil {
		t.Error("an old picture is left")
	}
	clitest.Refuse(t, base.ExitUsage, influence+" --checkpoint best --steps 3", "steps 2 instead of 3; --force")
	if out := clitest.Must(t, 0, influence+" --format markdown"); !strings.Contains(out, "most changed") {
		t.Error(out)
	}
	for flags, want := range map[string]string{
		"stability --replacements 0":                        "at least 1",
		"stability --jobs 0":                                "at least 1",
		"stability --images 1,1":                            "each image once",
		"stability --images -1":                             "from 0",
		"stability --images 1 --replacements 2":             "give one",
		"stability --replace farthest-class,farthest-class": "each once",
		"stability --replace near":                          "held-out, farthest-class, duplicate",
		"stability --checkpoint best":                       "unknown flag: --checkpoint",
		"stability --bootstrap 100":                         "unknown flag: --bootstrap",
		"stability --split train":                           "test or validation",
		"stability --no-kmeans":                             "unknown flag: --no-kmeans",
		"gap --samples 3":                                   "only for runs of model mahalanobis",
		"stability --steps 3":                               "unknown flag: --steps",
		"influence --steps 0":                               "at least 1",
		"influence --replace farthest-class,duplicate":      "in one way",
		"influence --split train":                           "test or validation",
	} {
		name, rest, _ := strings.Cut(flags, " ")
		clitest.Refuse(t, base.ExitUsage, name+" --run runs/tiny "+rest, want)
	}
	clitest.Refuse(t, base.ExitData, stability+" --images 5000", "training image 5000 does not exist")
	clitest.Refuse(t, base.ExitData, stability+" --replace held-out", "--replace duplicate")
	if err := os.MkdirAll("runs/none", 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.Refuse(t, base.ExitData, "stability --run runs/none", "runs/none has no config.yaml")
	clitest.Refuse(t, base.ExitUsage, "stability", "give --run")
}
