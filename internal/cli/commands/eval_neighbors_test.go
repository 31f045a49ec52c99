package commands_test

import (
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// ivecs are lists of rows as an ivecs file holds them.
func ivecs(lists ...[]byte) string {
	var b strings.Builder
	for _, l := range lists {
		for _, n := range append([]byte{byte(len(l))}, l...) {
			b.Write([]byte{n, 0, 0, 0})
		}
	}
	return b.String()
}

// Five points on a line, of classes a a b b a, and lists of two of which some are wrong:
// scores by hand.
func TestNeighbors(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.WriteFile(t, "X.bvecs", "\x01\x00\x00\x00\x01"+"\x01\x00\x00\x00\x02"+"\x01\x00\x00\x00\x04"+"\x01\x00\x00\x00\x09"+"\x01\x00\x00\x00\x0a")
	clitest.WriteFile(t, "y.csv", "a\na\nb\nb\na\n")
	clitest.WriteFile(t, "I.ivecs", ivecs([]byte{1, 2}, []byte{0, 2}, []byte{0, 1}, []byte{4, 2}, []byte{0, 1}))
	const eval = "eval --embeddings X.bvecs --neighbors I.ivecs --k 1,2 --bootstrap 0"
	out := clitest.Must(t, 0, eval+" --labels y.csv --out lists.json")
	for _, row := range []string{ // by hand: nearest 1 2; 0 2; 1 0; 4 2; 3 2, distances 1 3; 1 2; 2 3; 1 5; 1 6
		"nn_recall@1 0.6000 -", "nn_recall@2 0.8000 -",
		"recall@1 0.6000 0.4000", "recall@2 0.8000 0.6000", "precision@1 0.6000 0.4000", "precision@2 0.5000 0.3000",
	} {
		if !clitest.HasRow(strings.NewReplacer("│", "").Replace(out), strings.Fields(row)...) {
			t.Errorf("no %q in\n%s", row, out)
		}
	}
	doc := clitest.Document(t, eval)
	if scores := doc["retrieval"].(map[string]any); len(scores) != 2 || doc["baselines"] != nil {
		t.Errorf("without labels: %v", doc)
	}
	clitest.Must(t, base.ExitGate, eval+" --fail-under nn_recall@1=0.7")
	clitest.Refuse(t, base.ExitUsage, eval+" --fail-under recall@1=0.7", "will not be measured")
	clitest.Must(t, 0, "eval --embeddings X.bvecs --labels y.csv --no-kmeans --bootstrap 0 --out ranking.json")
	clitest.Refuse(t, base.ExitUsage, eval+" --labels y.csv --out ranking.json", "another than that of X.bvecs with y.csv, lists I.ivecs")
	for flags, want := range map[string]string{
		" --k 3":                "recall@3 takes lists of 3 items, and I.ivecs has 2",
		" --per-query":          "not whole rankings: leave out --per-query",
		" --query-labels y.csv": "which is not given",
		" --queries X.bvecs --query-labels y.csv": "--labels and --query-labels must be given together",
		" --task 1/2 --out e.json":                "cannot be combined",
	} {
		clitest.Refuse(t, base.ExitUsage, eval+flags, want)
	}
	clitest.WriteFile(t, "bad.ivecs", ivecs([]byte{1, 5}))
	clitest.WriteFile(t, "short.ivecs", ivecs([]byte{1, 2}))
	for file, want := range map[string]string{
		"bad.ivecs":   "item 5 is not in a gallery of 5 items",
		"short.ivecs": "has 1 lists, and X.bvecs has 5 rows",
		"gone.ibin":   "gone.ibin",
		"X.bvecs":     "give a file that ends in one of npy, ibin, ivecs",
	} {
		clitest.Refuse(t, base.ExitData, "eval --embeddings X.bvecs --neighbors "+file, want)
	}
}
