package commands_test

import (
	"os"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

func TestOnAverageStability(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml --set train.epochs=1 --set 'data.split={kind: fraction, train: 0.5}'")
	const stability = "stability --run runs/tiny --replace triplet"
	doc := clitest.Document(t, stability+" --replacements 2 --jobs 2")
	list, _ := doc["replaced"].([]any)
	if doc["schema"] != "tercet.onaverage/1" || len(list) != 2 || doc["n"] != 2.0 || doc["gap"] != nil {
		t.Errorf("document %v", doc)
	}
	if _, err := os.Stat("runs/tiny/on-average.json"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("runs/tiny/stability.json"); err == nil {
		t.Error("stability.json, of the other kinds, is written")
	}
	clitest.Must(t, 0, "gap --run runs/tiny --triplets 200")
	for format, want := range map[string]string{"text": "gap.json, the same weights", "csv": `"i, j, k",classes`, "markdown": "| i, j, k", "latex": `\begin{tabular}`} {
		if out := clitest.Must(t, 0, stability+" --replacements 2 --format "+format); !strings.Contains(out, want) {
			t.Errorf("%s:\n%s", format, out)
		}
	}
	for flags, want := range map[string]string{
		stability + ",farthest-class":                  "by itself",
		stability + ",triplet":                         "by itself",
		stability + " --images 1,2":                    "three for each triplet",
		stability + " --images 1,2,-3":                 "from 0",
		stability + " --images 1,2,3 --replacements 2": "give one",
		stability + " --triplets 200":                  "leave out --triplets",
		stability + " --limit 20":                      "leave out --limit",
		stability + " --limit 20 --triplets 5":         "leave out --triplets and --limit",
		stability + " --replacements 1":                "1 of its 2 replaced triplets; --force replaces it",
		stability + " --split train":                   "test or validation",
		stability + " --bootstrap 100":                 "unknown flag: --bootstrap",
		"influence --run runs/tiny --replace triplet":  "is for tercet stability",
		"stability --run runs/tiny --replace near":     "or triplet alone",
	} {
		clitest.Refuse(t, base.ExitUsage, flags, want)
	}
	clitest.Refuse(t, base.ExitData, stability+" --images 1,1,2", "the same image")
	clitest.Refuse(t, base.ExitData, stability+" --images 0,1,9999", "training image 9999 does not exist")
	clitest.Refuse(t, base.ExitData, stability+" --split validation", "no validation set")
}
