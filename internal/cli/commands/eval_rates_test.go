package commands_test

import (
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// False match rates and intervals over classes by the command line: of a run and of
// embeddings, in text, in the document, in a report, and what is refused.
func TestFalseMatchRates(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	const eval = "eval --run runs/tiny --no-pictures --no-kmeans --no-baselines"
	clitest.Must(t, 0, eval)
	clitest.Refuse(t, base.ExitUsage, eval+" --intervals classes", "would lose: intervals over queries instead of classes; --out")
	out := clitest.Must(t, 0, eval+" --fmr 0.1,0.01 --intervals classes --force --bootstrap 200")
	for _, want := range []string{"pairs.fnmr@fmr=0.1", "pairs.tar@far=0.01", "false match rate 0.01: distance", "bootstrap over classes at these distances", "intervals of retrieval scores: 95 %, bootstrap over classes"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	clitest.Refuse(t, base.ExitUsage, eval+" --intervals classes --bootstrap 200", "would lose: fnmr@fmr=0.1, fnmr@fmr=0.01; the scores of pairs; --out")
	if out := clitest.Must(t, 0, "report runs/tiny --metric pairs.tar@far=0.1"); !strings.Contains(out, "pairs.tar@far=0.1") {
		t.Error(out)
	}
	clitest.Must(t, 0, "train -c tiny.yaml --set name=bare --set eval.bootstrap=0")
	bare := strings.ReplaceAll(eval, "tiny", "bare")
	for flags, intervals := range map[string]bool{"": false, " --intervals classes": true, " --intervals queries": true} {
		doc := clitest.Document(t, bare+flags+" --force")
		scores, _ := doc["retrieval"].(map[string]any)
		recall, _ := scores["recall@1"].(map[string]any)
		if ci, _ := recall["ci95"].([]any); (len(ci) == 2) != intervals || recall["value"] == nil {
			t.Errorf("eval.bootstrap 0%s: %v", flags, recall)
		}
	}
	clitest.Must(t, 0, eval+" --save-embeddings x.npy")
	doc := clitest.Document(t, "eval --embeddings x.npy --labels x.labels.npy --fmr 0.1 --no-kmeans --fail-under tar@far=0.1=0")
	counts, _ := doc["pair_counts"].(map[string]any)
	points, _ := counts["at_fmr"].([]any)
	if pairs, _ := doc["pairs"].(map[string]any); len(pairs) != 4 || len(points) != 1 {
		t.Errorf("%v at %v", pairs, points)
	}
	clitest.Must(t, base.ExitGate, eval+" --fmr 0.1 --out b.json --fail-under tar@far=0.1=1.01")
	clitest.Refuse(t, base.ExitUsage, eval+" --fmr 0.1 --fail-under tar@far=0.2=0.5", `"tar@far=0.2" will not be measured`)
	for flags, want := range map[string]string{
		"--fmr 0":                           "give each rate once, above 0 and below 1",
		"--fmr 1":                           "give each rate once, above 0 and below 1",
		"--fmr 0.1,0.1":                     "give each rate once, above 0 and below 1",
		"--intervals items":                 `--intervals is "items"; give queries or classes`,
		"--intervals classes --bootstrap 0": "--bootstrap 0 gives no intervals",
	} {
		clitest.Refuse(t, base.ExitUsage, eval+" "+flags, want)
	}
}
