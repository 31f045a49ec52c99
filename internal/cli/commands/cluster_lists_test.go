package commands_test

import (
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// The graph of another program's lists is clustered, and what --save-graph writes is the
// same problem to --graph.
func TestGraphOfLists(t *testing.T) {
	t.Chdir(t.TempDir())
	ring(t, "x.npy", "y.csv", 40, 4)
	var lists strings.Builder
	for i := range 40 { // itself, and the next two of its group
		for _, n := range []int{3, i, (i + 4) % 40, (i + 8) % 40} {
			lists.Write([]byte{byte(n), 0, 0, 0})
		}
	}
	clitest.Put(t, "l.ivecs", lists.String())
	const points = "cluster --embeddings x.npy --labels y.csv --threshold 0.5 --map none --graph-random 2"
	doc := clitest.Document(t, points+" --graph-lists l.ivecs --save-graph out/g.txt")
	if doc["clusters"] != 4.0 || what(doc, "clustering.ari.value") != 1.0 || what(doc, "multicut.graph.kind") != "sparse" || what(doc, "options.multicut.graph_lists") != "l.ivecs" {
		t.Errorf("%v clusters, options %v, graph %v", doc["clusters"], what(doc, "options.multicut"), what(doc, "multicut.graph"))
	}
	file := clitest.Document(t, "cluster --graph out/g.txt --labels y.csv")
	for _, key := range []string{"objective", "lower_bound", "clusters", "multicut.graph.edges", "multicut.comparison.ground_truth.objective"} {
		if a, b := what(doc, key), what(file, key); a != b || a == nil {
			t.Errorf("%s: %v of the points, %v of the file", key, a, b)
		}
	}
	clitest.Put(t, "short.ivecs", lists.String()[:39*16])
	for flags, want := range map[string]string{
		" --graph-lists l.ivecs --graph-neighbors 3":    "give one of them",
		" --graph-lists l.ivecs --solver factored":      "leave out --graph-lists and --graph-random",
		" --graph-lists l.ivecs --save-graph /dev/null": "not a file that can be replaced",
		" --graph-lists l.ivecs -k 3 --method kmeans":   "not for kmeans",
		"": "--graph-random needs --graph-neighbors or --graph-lists",
	} {
		clitest.Refuse(t, base.ExitUsage, points+flags, want)
	}
	for _, input := range []string{"x.npy", "./l.ivecs"} {
		before := clitest.Snapshot(t, ".")
		clitest.Refuse(t, base.ExitUsage, points+" --graph-lists l.ivecs --save-graph "+input, "--save-graph "+input+" is what the command reads")
		clitest.Unchanged(t, ".", before, nil)
	}
	clitest.Refuse(t, base.ExitUsage, "cluster --embeddings x.npy --threshold 0.5 --save-graph g.txt", "give --graph-neighbors or --graph-lists")
	clitest.Refuse(t, base.ExitData, points+" --graph-lists short.ivecs", "short.ivecs has lists of 39 items, and there are 40")
	clitest.Refuse(t, base.ExitData, points+" --graph-lists x.npy", "want integers")
}
