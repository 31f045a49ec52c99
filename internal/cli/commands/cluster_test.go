package commands_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/cli/cluster"
)

// ring writes an npy file of n points in k tight groups on a circle of radius 1, and
// their labels.
func ring(t *testing.T, x, y string, n, k int) {
	t.Helper()
	var points []float32
	var labels strings.Builder
	for i := range n {
		c := i % k
		at := 2*math.Pi*float64(c)/float64(k) + 0.002*float64(i)
		points = append(points, float32(math.Cos(at)), float32(math.Sin(at)))
		labels.WriteString(string(rune('a'+c)) + "\n")
	}
	clitest.Vectors(t, x, n, 2, points...)
	clitest.Put(t, y, labels.String())
}

// what looks up a path of keys in a document.
func what(doc map[string]any, path string) any {
	var at any = doc
	for _, key := range strings.Split(path, ".") {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[key]
	}
	return at
}

// Every method finds four groups that cannot be missed, and says how.
func TestMethodsOnTheCommandLine(t *testing.T) {
	t.Chdir(t.TempDir())
	ring(t, "x.npy", "y.csv", 40, 4)
	for _, tc := range []struct {
		flags  string
		method string
		has    []string
	}{
		{"-k 4", "kmeans", []string{"objective", "kmeans.k", "kmeans.converged"}},
		{"-k 2..6", "kmeans", []string{"kmeans.choice"}},
		{"-k auto --silhouette-sample 30", "kmeans", []string{"kmeans.choice"}},
		{"--spherical", "kmeans", nil},
		{"--mini-batch 20", "kmeans", nil},
		{"--threshold 0.5", "multicut", []string{"objective", "lower_bound", "gap", "threshold", "threshold_from.from", "multicut.solver.name", "multicut.comparison.ground_truth.objective", "multicut.comparison.kmeans.clustering.nmi", "multicut.comparison.verdict"}},
		{"--threshold 0.5 --solver exact", "multicut", []string{"multicut.bound.method"}},
		{"--threshold 0.5 --solver gaec", "multicut", nil},
		{"--threshold 0.5 --solver balanced", "multicut", nil},
		{"--threshold 0.5 --solver fixation", "multicut", nil},
		{"--threshold 0.5 --solver mutex", "multicut", nil},
		{"--threshold 0.5 --solver kl --bound trivial --restarts 2", "multicut", nil},
		{"--threshold 0.5 --link distance --clip 0.001 --bias 0.45", "multicut", []string{"multicut.link.why", "multicut.graph.matrix_bytes"}},
		{"--threshold 0.5 --graph-neighbors 5 --graph-random 3", "multicut", []string{"multicut.objective_complete"}},
		{"--threshold 0.5 --starts one,kmeans,klj --min-cluster-size 2 --rounds 20 --restarts 2", "multicut", nil},
		{"--method multicut --fit-embeddings x.npy --fit-labels y.csv", "multicut", []string{"threshold_from.fit.auc"}},
		{"--link fitted --fit-embeddings x.npy --fit-labels y.csv --fit-prior pairs", "multicut", []string{"threshold_from.fit.slope"}},
		{"--linkage average --threshold 0.5", "agglomerative", []string{"threshold", "agglomerative.heights"}},
		{"--method agglomerative --linkage complete -k 4", "agglomerative", []string{"agglomerative.heights"}},
		{"--linkage ward", "agglomerative", nil},
		{"--method hdbscan --min-cluster-size 4", "hdbscan", []string{"hdbscan.min_samples"}},
		{"--selection leaf", "hdbscan", nil},
	} {
		doc := clitest.Document(t, "cluster --embeddings x.npy --labels y.csv --map none "+tc.flags)
		if doc["schema"] != "tercet.cluster/2" || what(doc, "options.method") != tc.method || doc["clusters"] != 4.0 || what(doc, "clustering.ari.value") != 1.0 {
			t.Errorf("%s: %v, method %v, %v clusters, ARI %v", tc.flags, doc["schema"], what(doc, "options.method"), doc["clusters"], what(doc, "clustering.ari.value"))
		}
		for _, key := range tc.has {
			if what(doc, key) == nil {
				t.Errorf("%s: no %s", tc.flags, key)
			}
		}
		if strings.Contains(tc.flags, "exact") && (what(doc, "multicut.solver.proven") != true || what(doc, "gap") != 0.0) {
			t.Errorf("%s: proven %v, gap %v", tc.flags, what(doc, "multicut.solver.proven"), what(doc, "gap"))
		}
	}
}

// graphFile writes a graph in text form.
func graphFile(t *testing.T, path string, edges ...string) {
	t.Helper()
	clitest.Put(t, path, "MULTICUT\n"+strings.Join(edges, "\n")+"\n")
}

func TestGraphsOnTheCommandLine(t *testing.T) {
	t.Chdir(t.TempDir())
	// Two triangles that attract, joined by one edge that repels.
	graphFile(t, "two.txt", "0 1 1", "1 2 1", "0 2 1", "3 4 1", "4 5 1", "3 5 1", "2 3 -1.5")
	clitest.Put(t, "y.csv", "0\n0\n0\n1\n1\n1\n")
	for _, solver := range []string{"auto", "gaec", "balanced", "fixation", "mutex", "kl", "exact"} {
		doc := clitest.Document(t, "cluster --graph two.txt --labels y.csv --solver "+solver)
		if doc["clusters"] != 2.0 || doc["objective"] != -1.5 || doc["lower_bound"] != -1.5 || what(doc, "clustering.ari.value") != 1.0 || what(doc, "multicut.comparison.ground_truth.objective") != -1.5 {
			t.Errorf("%s: %v clusters, objective %v, bound %v", solver, doc["clusters"], doc["objective"], doc["lower_bound"])
		}
		if what(doc, "multicut.graph.absent") != 8.0 || what(doc, "source.graph") != "two.txt" {
			t.Errorf("%s: %v", solver, what(doc, "multicut.graph"))
		}
	}
	// What a file holds beside edges to solve is said.
	graphFile(t, "odd.txt", "0 1 1", "1 0 1", "# a comment", "2 3 0", "4 5 -2", "4 6 3")
	code, _, stderr := clitest.Run("cluster", "--graph", "odd.txt", "--out-dir", "out")
	for _, w := range []string{"1 edge was added to another", "1 pair costs 0 in all", "2 nodes have no edge", "17 pairs have no edge and cost 0", "components without an edge between them"} {
		if code != 0 || !strings.Contains(stderr, w) {
			t.Errorf("exit %d, no word of %q: %s", code, w, stderr)
		}
	}
	for _, name := range []string{"cluster.json", "labels.npy", "figures/cluster-sizes.svg"} {
		if info, err := os.Stat(filepath.Join("out", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	graphFile(t, "zero.txt", "0 1 0", "1 2 0")
	if doc := clitest.Document(t, "cluster --graph zero.txt"); doc["objective"] != 0.0 || doc["gap"] != 0.0 {
		t.Errorf("all costs 0: objective %v, gap %v", doc["objective"], doc["gap"])
	}
	before := clitest.Snapshot(t, ".")
	graphFile(t, "self.txt", "0 1 1", "1 1 1")
	graphFile(t, "gap.txt", "0 1 1", "1 3 1")
	graphFile(t, "nan.txt", "0 1 nan")
	graphFile(t, "empty.txt")
	clitest.Put(t, "head.txt", "0 1 1\n")
	for name := range clitest.Snapshot(t, ".") {
		before[name] = clitest.Snapshot(t, ".")[name]
	}
	for _, tc := range []struct {
		line string
		code int
		want string
	}{
		{"--graph self.txt", 3, "self.txt:3: "},
		{"--graph gap.txt", 3, "number the nodes from 0 without gaps"},
		{"--graph nan.txt", 3, "nan.txt:2: "},
		{"--graph empty.txt", 3, "has no edge"},
		{"--graph head.txt", 3, "want MULTICUT"},
		{"--graph gone.txt", 3, "gone.txt"},
		{"--graph .", 3, ". is a folder; give a regular file in the MULTICUT text format"},
		{"--graph two.txt --labels head.txt", 3, "1 labels"},
		{"--graph two.txt --solver factored", 2, "is for points"},
		{"--graph two.txt --threshold 1", 2, "--graph gives only costs"},
		{"--graph two.txt -k 2", 2, "multicut finds their number itself"},
		{"--graph two.txt --method kmeans", 2, "--graph"},
		{"--graph two.txt --bound triangle", 2, "use --bound cycle"},
		{"--graph two.txt --run runs/x", 2, "--run"},
		{"--graph two.txt --limit 3", 2, "need --run"},
	} {
		clitest.Refuse(t, tc.code, "cluster "+tc.line, tc.want)
	}
	clitest.Unchanged(t, ".", before, nil)
}

func TestBadClusterings(t *testing.T) {
	t.Chdir(t.TempDir())
	ring(t, "x.npy", "y.csv", 20, 4)
	clitest.Vectors(t, "nan.npy", 4, 2, 1, float32(math.NaN()))
	clitest.Vectors(t, "zero.npy", 4, 2, 0, 0)
	clitest.Vectors(t, "flat.npy", 6, 3)
	ring(t, "many.npy", "many.csv", 120, 4)
	clitest.Put(t, "one.csv", strings.Repeat("a\n", 20))
	clitest.Put(t, "alone.csv", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\nq\nr\ns\nt\n")
	before := clitest.Snapshot(t, ".")
	const x = "--embeddings x.npy "
	for _, tc := range []struct {
		line string
		code int
		want string
	}{
		{"", 2, "--run DIRECTORY, --embeddings FILE.npy, or --graph FILE"},
		{x, 2, "-k 10"},
		{x + "--method multicut", 2, "--threshold VALUE"},
		{x + "--method agglomerative", 2, "-k 10"},
		{x + "--method spectral", 2, "kmeans"},
		{x + "--method multicut --threshold 0", 2, "above 0"},
		{x + "--method multicut --threshold -1", 2, "above 0"},
		{x + "--method multicut --threshold nan", 2, "above 0"},
		{x + "--method multicut --threshold inf", 2, "above 0"},
		{x + "--method multicut --threshold 1e16", 2, "from 1e-15 to 1e+15"},
		{x + "--method multicut --threshold near", 2, "auto, margins or fit"},
		{x + "--method multicut --threshold margins", 2, "needs --run"},
		{x + "--threshold 1 --link fitted", 2, "takes its threshold from the fit"},
		{x + "--threshold 1 --solver simplex", 2, "factored"},
		{x + "--threshold 1 --solver factored --link distance", 2, "do not factorize"},
		{x + "--threshold 1 --solver factored --clip 0.01", 2, "do not factorize"},
		{x + "--threshold 1 --solver factored --graph-neighbors 3", 2, "takes all pairs"},
		{x + "--threshold 1 --graph-random 3", 2, "needs --graph-neighbors"},
		{x + "--threshold 1 --solver kl --starts one", 2, "are for --solver factored"},
		{x + "--threshold 1 --solver kl --matrix-limit 0.000001", 2, "over --matrix-limit"},
		{x + "--threshold 1 --solver mutex --rounds 3", 2, "not mutex"},
		{x + "--threshold 1 --restarts -2", 2, "--restarts"},
		{x + "--threshold 1 --map pca --theta 0.2 --perplexity 5", 2, "--perplexity and --theta: only for t-SNE"},
		{x + "--threshold 1 --fit-prior pairs", 2, "--fit-prior is for --threshold fit, not 1"},
		{x + "--threshold 1 --starts here", 2, "singletons"},
		{x + "--threshold 1 --bias 1", 2, "between 0 and 1"},
		{x + "--threshold 1 --clip 0.5", 2, "--clip"},
		{x + "--threshold 1 --bias 0.999999", 2, "every item would be a single-item cluster"},
		{x + "--threshold 1 -k 3", 2, "--threshold is for multicut or agglomerative, not for kmeans"},
		{x + "--method multicut --threshold 1 -k 3", 2, "multicut finds their number itself"},
		{x + "--method kmeans -k 3 --solver kl", 2, "--solver is for multicut, not for kmeans"},
		{x + "-k 3..1", 2, "2..20"},
		{x + "-k 1..3", 2, "2..20"},
		{x + "-k 2,x", 2, "2..20"},
		{x + "-k 2 --silhouette-sample 5", 2, "several -k"},
		{x + "-k 30,40", 2, "2 to 19"},
		{x + "-k 21", 2, "21 clusters of 20 items"},
		{x + "-k 21 --mini-batch 5", 2, "21 clusters of 20 items"},
		{x + "--method agglomerative -k 21", 2, "21 clusters of 20 items"},
		{x + "--method hdbscan --min-samples 21", 2, "--min-samples 21 of 20 items"},
		{x + "--threshold 1 --graph-neighbors 19", 2, "--graph-neighbors 19 and --graph-random 0 of 19 other items: the graph would not be sparse"},
		{"--embeddings many.npy --threshold 1 --graph-neighbors 40 --graph-random 30", 2, "at most half of them together"},
		{x + "-k 2 --out-dir y.csv", 2, "--out-dir y.csv is a file; give a folder"},
		{"assign --clusters c " + x + "--out-dir y.csv", 2, "--out-dir y.csv is a file; give a folder"},
		{x + "--method hdbscan --min-cluster-size 1", 2, "at least 2"},
		{x + "--method hdbscan --selection best", 2, "eom or leaf"},
		{x + "--linkage single -k 2", 2, "average, complete or ward"},
		{x + "--method agglomerative --threshold 1 -k 2", 2, "give one of -k and --threshold"},
		{x + "--linkage ward --threshold fit --fit-embeddings x.npy --fit-labels y.csv", 2, "ward"},
		{x + "-k 2 --map umap", 2, "tsne"},
		{x + "-k 2 --perplexity 0", 2, "--perplexity"},
		{x + "--method multicut --fit-embeddings x.npy", 2, "fit-labels"},
		{x + "--method multicut --fit-embeddings x.npy --fit-labels one.csv", 3, "same label"},
		{x + "--method multicut --fit-embeddings x.npy --fit-labels alone.csv", 3, "same label"},
		{x + "--method multicut --fit-embeddings flat.npy --fit-labels y.csv", 3, "more than 6 labels, flat.npy has 6 rows"},
		{"--embeddings nan.npy --method multicut --threshold 1", 3, "row 0"},
		{"--embeddings zero.npy -k 2 --spherical", 3, "row 0"},
	} {
		clitest.Refuse(t, tc.code, "cluster "+tc.line, tc.want)
	}
	clitest.Unchanged(t, ".", before, nil)
}

// Duplicates, points that are all equal, one point, thresholds beyond every distance:
// each has an answer.
func TestClusteringsOfOddPoints(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.Vectors(t, "same.npy", 5, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	clitest.Vectors(t, "one.npy", 1, 2, 1, 2)
	clitest.Vectors(t, "pairs.npy", 6, 2, 0, 0, 0, 0, 3, 0, 3, 0, 0, 4, 0, 4)
	for _, tc := range []struct {
		line     string
		clusters float64
		labels   []any
	}{
		{"--embeddings same.npy --threshold 1", 1, []any{0., 0., 0., 0., 0.}},
		{"--embeddings same.npy --threshold 1 --solver exact", 1, []any{0., 0., 0., 0., 0.}},
		{"--embeddings same.npy -k 2", 1, []any{0., 0., 0., 0., 0.}},
		{"--embeddings same.npy --linkage average --threshold 0.1", 1, []any{0., 0., 0., 0., 0.}},
		{"--embeddings same.npy --method hdbscan", 0, []any{-1., -1., -1., -1., -1.}},
		{"--embeddings one.npy --threshold 1", 1, []any{0.}},
		{"--embeddings one.npy --threshold 1 --solver kl", 1, []any{0.}},
		{"--embeddings one.npy --threshold 1 --graph-neighbors 1", 1, []any{0.}},
		{"--embeddings one.npy -k 1", 1, []any{0.}},
		{"--embeddings one.npy --method agglomerative -k 1", 1, []any{0.}},
		{"--embeddings one.npy --method hdbscan --min-cluster-size 2", 0, []any{-1.}},
		{"--embeddings pairs.npy --threshold 1", 3, []any{0., 0., 1., 1., 2., 2.}},
		{"--embeddings pairs.npy --threshold 1e15 --solver kl", 1, []any{0., 0., 0., 0., 0., 0.}},
		{"--embeddings pairs.npy --threshold 1e-15 --solver kl", 3, []any{0., 0., 1., 1., 2., 2.}},
		{"--embeddings pairs.npy --threshold 1e-15", 3, []any{0., 0., 1., 1., 2., 2.}},
		{"--embeddings pairs.npy --threshold 100", 1, []any{0., 0., 0., 0., 0., 0.}},
		{"--embeddings pairs.npy --linkage complete --threshold 1", 3, []any{0., 0., 1., 1., 2., 2.}},
		{"--embeddings pairs.npy -k 3", 3, []any{0., 0., 1., 1., 2., 2.}},
	} {
		doc := clitest.Document(t, "cluster "+tc.line)
		if d := cmp.Diff(tc.labels, doc["labels"]); doc["clusters"] != tc.clusters || d != "" {
			t.Errorf("%s: %v clusters %s", tc.line, doc["clusters"], d)
		}
	}
	_, _, stderr := clitest.Run("cluster", "--embeddings", "pairs.npy", "--threshold", "100")
	if !strings.Contains(stderr, "all items are in one cluster: the threshold is 100, and of the pairs' distances") {
		t.Errorf("no word of the threshold: %s", stderr)
	}
	// Maps that the points do not allow are left out, not the clusters.
	code, _, stderr := clitest.Run("cluster", "--embeddings", "same.npy", "-k", "2", "--map", "pca", "--out-dir", "c")
	if code != 0 || !strings.Contains(stderr, "no map by pca: ") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// What makes a result less than it seems, or other than was asked for, is said.
func TestClusteringsSayWhatTheyAre(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.Vectors(t, "same.npy", 5, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	clitest.Vectors(t, "pairs.npy", 6, 2, 0, 0, 0, 0, 3, 0, 3, 0, 0, 4, 0, 4)
	graphFile(t, "one.txt", "0 1 -1")
	const none = "--map none "
	for _, tc := range []struct{ line, want string }{
		{"--embeddings same.npy --method agglomerative -k 2 " + none, "all 5 items are equal"},
		{"--embeddings same.npy --method agglomerative -k 2 " + none, "fewer than 2 distinct items: this many clusters separate equal items"},
		{"--embeddings same.npy --method hdbscan " + none, "all 5 items are equal"},
		{"--embeddings same.npy --threshold 1 " + none, "all 5 items are equal"},
		{"--embeddings same.npy -k 2 " + none, "only 1 distinct row: 1 of the 2 clusters is empty"},
		{"--embeddings pairs.npy --method agglomerative -k 4 " + none, "fewer than 4 distinct items"},
		{"--embeddings pairs.npy -k 2 --mini-batch 7 " + none, "--mini-batch 7 of 6 items: each step takes all of them"},
		{"--embeddings pairs.npy -k 2..9 " + none, "k: 4 of the 8 requested values, 2 to 5; the silhouette of 6 items is defined for 2 to 5 clusters"},
		{"--embeddings pairs.npy --threshold 1 --bound none " + none, "no lower bound: none was requested"},
		{"--embeddings pairs.npy --threshold 1 --labels y.csv " + none, "excess over multicut (%)"},
		{"--embeddings pairs.npy --threshold 1 --labels y.csv " + none, "gap (%)"},
		{"--graph one.txt", "2 nodes, 1 edge, multicut"},
		{"--graph one.txt", "on a graph of 1 edge"},
		{"--graph one.txt", "solver kl, proven to be the best"},
	} {
		clitest.Put(t, "y.csv", "a\na\nb\nb\nc\nb\n")
		code, out, stderr := clitest.Run(append([]string{"cluster"}, clitest.ShellWords(tc.line)...)...)
		if code != 0 || !strings.Contains(out+stderr, tc.want) {
			t.Errorf("%s: exit %d, no %q in\n%s%s", tc.line, code, tc.want, out, stderr)
		}
	}
	for line, not := range map[string]string{
		"--embeddings pairs.npy --method agglomerative -k 3 ": "distinct",
		"--embeddings pairs.npy -k 2..5 ":                     "asked for",
		"--embeddings pairs.npy -k 2 --mini-batch 6 ":         "--mini-batch",
		"--embeddings pairs.npy -k 2 ":                        "equal",
	} {
		if code, out, stderr := clitest.Run(append([]string{"cluster"}, clitest.ShellWords(line+none)...)...); code != 0 || strings.Contains(out+stderr, not) {
			t.Errorf("%s: exit %d, %q in\n%s%s", line, code, not, out, stderr)
		}
	}
}

// Where the bound is the objective, the answer of any solver is proven.
func TestProvenByTheBound(t *testing.T) {
	t.Chdir(t.TempDir())
	ring(t, "x.npy", "y.csv", 40, 4)
	for _, tc := range []struct {
		flags  string
		proven bool
	}{
		{"--threshold 0.5", true}, // groups stand apart: the negative costs are the optimum
		{"--threshold 0.5 --solver kl", true},
		{"--threshold 0.5 --solver gaec --bound trivial", true},
		{"--threshold 0.5 --bound none", false},
		{"--threshold 1.5 --solver kl --bound trivial", false},
		{"--threshold 1.5 --bound trivial", false},
	} {
		doc := clitest.Document(t, "cluster --map none --embeddings x.npy "+tc.flags)
		gap, bounded := doc["gap"].(float64)
		if proven := what(doc, "multicut.solver.proven"); proven != tc.proven || bounded && (gap < 1e-12) != tc.proven {
			t.Errorf("%s: proven %v, gap %v", tc.flags, proven, doc["gap"])
		}
	}
}

// An interruption before there are clusters is told in plain words, and nothing is
// written.
func TestClusterInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	ring(t, "x.npy", "y.csv", 40, 4)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(fmt.Errorf("%w by test", base.ErrInterrupted))
	for _, flags := range []string{"-k 4", "--threshold 1.3", "--threshold 1.3 --solver kl", "--linkage average -k 3", "--method hdbscan"} {
		var out, stderr bytes.Buffer
		cmd := cluster.New(base.NewStreams(nil, &out, &stderr))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(append([]string{"--embeddings", "x.npy", "--map", "none", "--out", "c"}, clitest.ShellWords(flags)...))
		err := cmd.ExecuteContext(ctx)
		if err == nil || base.ExitCode(err) != base.ExitInterrupted || !strings.HasPrefix(err.Error(), "interrupted by test") || strings.Contains(err.Error(), "context") {
			t.Errorf("%s: %v", flags, err)
		}
		if _, err := os.Stat("c"); err == nil && out.Len() == 0 {
			t.Errorf("%s: something is written", flags)
		}
	}
}

// A run whose loss fixes a threshold is clustered by it.
func TestByTheMargins(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml --set 'loss={name: triplet-threshold, alpha: 1.0, beta: 0.5}' --set data.split.validation=0.25 --set train.epochs=8")
	doc := clitest.Document(t, "cluster --run runs/tiny")
	if what(doc, "options.method") != "multicut" || math.Abs(what(doc, "threshold").(float64)-math.Sqrt(.75)) > 1e-12 || what(doc, "threshold_from.from") != "margins" || what(doc, "threshold_from.alpha") != 1.0 {
		t.Errorf("method %v, threshold %v from %v", what(doc, "options.method"), doc["threshold"], doc["threshold_from"])
	}
	for _, name := range []string{"clusters.safetensors", "tsne.npy", "pca.npy", "figures/tsne.png", "figures/tsne.svg", "figures/pca.png", "figures/clusters.png", "figures/contingency.svg", "figures/cluster-sizes.png"} {
		if info, err := os.Stat(filepath.Join("runs/tiny", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if m := doc["maps"].([]any)[0].(map[string]any); m["kind"] != "tsne" || m["kl"] == nil || m["trustworthiness"] == nil || m["learning_rate_convention"] == nil {
		t.Errorf("map %v", m)
	}
	doc = clitest.Document(t, "cluster --run runs/tiny --threshold fit --out-dir fitted")
	if what(doc, "threshold_from.fit.set") != "validation" || what(doc, "threshold_from.fit.items") != 18.0 || what(doc, "cost.forward") != 54.0 {
		t.Errorf("fit %v, cost %v", what(doc, "threshold_from.fit"), doc["cost"])
	}
	if doc = clitest.Document(t, "cluster --run runs/tiny -k 3 --out-dir k"); what(doc, "options.method") != "kmeans" || doc["clusters"] != 3.0 {
		t.Errorf("-k 3: %v, %v clusters", what(doc, "options.method"), doc["clusters"])
	}
	// Items that were clustered go to their own clusters, where those are optimal for
	// each.
	same := clitest.Document(t, "cluster assign --clusters runs/tiny --run runs/tiny --out-dir assigned")
	if same["schema"] != "tercet.assign/1" || what(same, "source.items") != 36.0 || what(same, "clusters.method") != "multicut" || what(same, "clustering.nmi") == nil {
		t.Errorf("assigned: %v", same)
	}
	for _, name := range []string{"assign.json", "assigned.npy"} {
		if _, err := os.Stat(filepath.Join("assigned", name)); err != nil {
			t.Error(err)
		}
	}
	page := clitest.Must(t, 0, "report --runs runs/tiny")
	if !strings.Contains(page, "tiny") {
		t.Errorf("report:\n%s", page)
	}
	clitest.Must(t, 0, "report --runs runs/tiny --page report.html")
	html, err := os.ReadFile("report.html")
	if err != nil || !strings.Contains(string(html), "t-SNE map") || !strings.Contains(string(html), "lower bound") {
		t.Errorf("report.html: %v", err)
	}
	// A loss without margins.
	clitest.Must(t, 0, "train -c tiny.yaml --set name=plain")
	clitest.Refuse(t, 2, "cluster --run runs/plain --threshold margins", "the loss fixes no threshold")
	doc = clitest.Document(t, "cluster --run runs/plain --method multicut")
	if what(doc, "threshold_from.fit.set") != "train" || !strings.Contains(strings.Join(words(doc["warnings"]), " "), "fitted to training images") {
		t.Errorf("fit %v, warnings %v", what(doc, "threshold_from.fit"), doc["warnings"])
	}
	if doc = clitest.Document(t, "cluster --run runs/plain --force"); what(doc, "options.method") != "kmeans" {
		t.Errorf("method %v", what(doc, "options.method"))
	}
	for _, tc := range []struct {
		line string
		code int
		want string
	}{
		{"--run runs/tiny", 2, "name the clusters"},
		{"--clusters runs/tiny", 2, "name what to work on"},
		{"--clusters gone --run runs/tiny", 3, "gone"},
		{"--clusters report.html --run runs/tiny", 3, "report.html"},
		{"--clusters runs/tiny --embeddings runs/tiny/tsne.npy", 3, "have 2 dimensions"},
		{"--clusters runs/tiny --embeddings runs/tiny/tsne.npy --fail-under nmi=0.5", 2, "--labels"},
	} {
		clitest.Refuse(t, tc.code, "cluster assign "+tc.line, tc.want)
	}
	clitest.Must(t, base.ExitGate, "cluster assign --clusters runs/tiny --run runs/tiny --fail-under acc=1.01")
}

func words(list any) []string {
	var out []string
	l, _ := list.([]any)
	for _, v := range l {
		out = append(out, v.(string))
	}
	return out
}
