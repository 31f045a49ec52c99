package commands_test

import (
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// Pairs of a run whose loss fixes a threshold, of one whose loss does not, and of
// embeddings of another tool.
func TestPairs(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	clitest.Must(t, 0, "train -c tiny.yaml --set name=own --set loss=triplet-threshold --set loss.alpha=0.9 --set loss.beta=0.1")
	const own, none = "eval --run runs/own --no-pictures", "eval --run runs/tiny --no-pictures"
	scores := []string{"accuracy", "balanced_accuracy", "precision", "recall", "f1", "auc", "eer"}
	for _, tc := range []struct {
		line   string
		scores []string
		from   string
	}{
		{own, scores, "loss"},
		{own + " --distance cosine", scores, "loss"},
		{own + " --threshold 0.3", scores, "option"},
		{none, nil, ""},
		{none + " --pairs", scores[5:], ""},
		{none + " --threshold 1.1", scores, "option"},
	} {
		doc := clitest.Document(t, tc.line+" --force")
		pairs, _ := doc["pairs"].(map[string]any)
		if len(pairs) != len(tc.scores) {
			t.Errorf("%s: %v", tc.line, pairs)
		}
		for _, key := range tc.scores {
			v, _ := pairs[key].(map[string]any)
			if x, ok := v["value"].(float64); !ok || x < 0 || x > 1 || !strings.HasPrefix(v["definition"].(string), key+"(pairs") {
				t.Errorf("%s: %s is %v", tc.line, key, v)
			}
		}
		counts, _ := doc["pair_counts"].(map[string]any)
		at, _ := counts["at_threshold"].(map[string]any)
		if from, _ := at["from"].(string); from != tc.from {
			t.Errorf("%s: threshold from %q", tc.line, from)
		}
	}
	if out := clitest.Must(t, 0, own+" --force"); !strings.Contains(out, "pairs.balanced_accuracy") || !strings.Contains(out, "the loss's threshold 0.7071") {
		t.Error(out)
	}
	if out := clitest.Must(t, 0, none+" --force"); strings.Contains(out, "pairs") {
		t.Error(out)
	}
	clitest.Must(t, 0, own+" --save-embeddings x.npy")
	doc := clitest.Document(t, "eval --embeddings x.npy --labels x.labels.npy --threshold 0.5")
	if pairs, _ := doc["pairs"].(map[string]any); len(pairs) != len(scores) {
		t.Errorf("pairs %v", pairs)
	}
	for _, bad := range []string{"0", "-1", "NaN", "Inf"} {
		clitest.Refuse(t, base.ExitUsage, own+" --threshold "+bad, "give a distance above 0")
	}
	clitest.Refuse(t, base.ExitUsage, none+" --fail-under auc=0.5", `"auc" will not be measured`)
	clitest.Refuse(t, base.ExitUsage, none+" --pairs --fail-under f1=0.5", `"f1" will not be measured`)
	clitest.Must(t, base.ExitGate, own+" --fail-under balanced_accuracy=1.01")
	clitest.Must(t, base.ExitGate, none+" --pairs --fail-under auc=1.01")
	clitest.Must(t, 0, own+" --fail-under f1=0 --fail-under r@1=0")
}
