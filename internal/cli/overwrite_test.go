package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// copyTo copies a file of a test.
func copyTo(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	clitest.Put(t, to, string(b))
}

// Weights that are older than the result, or cannot be read, are not those of a run that
// has gone on: they replace nothing.
func TestGoingOnIsALaterStep(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	const eval = "eval --run runs/tiny --no-pictures --limit 10"
	clitest.Must(t, 0, "eval --run runs/tiny --no-pictures")
	clitest.Must(t, 0, "cluster --run runs/tiny --map none")
	last, best := "runs/tiny/checkpoints/last.safetensors", "runs/tiny/checkpoints/best.safetensors"
	copyTo(t, last, "kept")
	copyTo(t, best, last) // an older one
	before := clitest.Snapshot(t, ".")
	const lost = "would lose: the result of the test images, checkpoint last of step "
	clitest.Refuse(t, base.ExitUsage, eval, lost)
	clitest.Refuse(t, base.ExitUsage, "cluster --run runs/tiny --map none --limit 10", lost)
	clitest.Unchanged(t, ".", before, nil)
	for name, spoil := range map[string]func(){
		"missing": func() { os.Remove(last) },
		"damaged": func() { clitest.Put(t, last, "no checkpoint") },
	} {
		spoil()
		before := clitest.Snapshot(t, ".")
		clitest.Refuse(t, base.ExitUsage, eval+" --checkpoint best --out runs/tiny/eval.json", lost)
		clitest.Unchanged(t, ".", before, nil)
		t.Log(name)
	}
	copyTo(t, "kept", last)
}

// Results of files follow the same rule, by what is in the files.
func TestResultsOfFilesAreKept(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	clitest.Must(t, 0, "eval --run runs/tiny --save-embeddings X.npy")
	clitest.Must(t, 0, "eval --run runs/tiny --save-embeddings Z.npy --limit 10")
	const eval, cluster = "eval --embeddings X.npy --labels X.labels.npy --n-init 2 --bootstrap 100 --out e.json", "cluster --embeddings X.npy -k 3 --map none --out c"
	clitest.Put(t, "g.txt", "MULTICUT\n0 1 1.5\n1 2 -2\n2 3 1\n")
	clitest.Put(t, "g.csv", "label\n0\n0\n1\n1\n")
	const graph = "cluster --graph g.txt --labels g.csv --no-pictures --out-dir g"
	for _, line := range []string{eval, eval, eval + " --k 1,2,4,8,16", cluster, cluster, graph, graph} {
		clitest.Must(t, 0, line)
	}
	clitest.Must(t, 0, "cluster --run runs/tiny --map none --out-dir D")
	copyTo(t, "X.labels.npy", "own/labels.npy")
	copyTo(t, "X.labels.npy", "own/assigned.npy")
	before := clitest.Snapshot(t, ".")
	for line, want := range map[string]string{
		strings.Replace(eval, " --n-init 2", "", 1) + " --no-kmeans":          "replacing e.json would lose: recall@16; the clustering scores; --out FILE writes elsewhere, --force replaces it",
		strings.Replace(eval, "X.", "Z.", 2) + " --k 1,2,4,8,16":              "the result of X.npy with X.labels.npy, whose content is another than that of Z.npy with Z.labels.npy; --out",
		cluster + " --labels X.labels.npy":                                    "the result of X.npy without labels, whose content is another",
		cluster + " --spherical":                                              "kmeans.spherical none instead of true; --out-dir FOLDER",
		"cluster --embeddings X.npy -k 3 --out-dir D":                         "replacing D/cluster.json would lose: the result of runs/tiny; --out-dir FOLDER",
		"cluster --embeddings X.npy -k 3 --out-dir runs/tiny/../../D":         "the result of runs/tiny",
		"cluster --run runs/tiny --out-dir c":                                 "the result of X.npy; --out-dir",
		"cluster --graph g.txt --no-pictures --out-dir g":                     "labels g.csv instead of none; --out-dir",
		"cluster --graph g.txt --no-pictures --out-dir c":                     "the result of X.npy; --out-dir",
		"cluster --embeddings X.npy --labels X.labels.npy -k 3 --out-dir own": "own/labels.npy would lose: a file that is not of a clustering (there is no cluster.json in its folder); --out-dir",
	} {
		clitest.Refuse(t, base.ExitUsage, line, want)
	}
	for line, want := range map[string]string{
		"cluster --embeddings X.npy --labels own/labels.npy -k 3 --map none --out-dir own --force": "--out-dir own/labels.npy is what the command reads",
		"cluster assign --clusters c --embeddings X.npy --labels own/assigned.npy --out-dir own":   "--out-dir own/assigned.npy is what the command reads",
	} {
		before := clitest.Snapshot(t, ".")
		clitest.Refuse(t, base.ExitUsage, line, want)
		clitest.Unchanged(t, ".", before, nil)
	}
	copyTo(t, "Z.npy", "X.npy")
	copyTo(t, "Z.labels.npy", "X.labels.npy")
	clitest.Refuse(t, base.ExitUsage, eval+" --k 1,2,4,8,16", "the result of X.npy as it was: the files have changed since; --out")
	clitest.Unchanged(t, ".", before, func(path string) bool { return strings.HasPrefix(path, "X.") })
	clitest.Must(t, 0, eval+" --force")
	clitest.Must(t, 0, cluster+" --force")
}

// What a run consists of is never replaced, what is no result only by --force.
func TestNoResultReplacesTheRun(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	clitest.Must(t, 0, "cluster --run runs/tiny --map none")
	clitest.Put(t, "notes.txt", "mine")
	if err := os.Symlink(filepath.Join("runs", "tiny", "manifest.json"), "link.json"); err != nil {
		t.Skip("no symbolic links here")
	}
	const eval = "eval --run runs/tiny --no-pictures --no-kmeans --out "
	before := clitest.Snapshot(t, ".")
	for _, path := range []string{"manifest.json", "config.yaml", "events.jsonl", "lock", "checkpoints/last.safetensors", "checkpoints/e.json", "../../link.json"} {
		for _, force := range []string{"", " --force"} {
			clitest.Refuse(t, base.ExitUsage, eval+"runs/tiny/"+path+force, ", which no result replaces; give another file")
		}
	}
	clitest.Refuse(t, base.ExitUsage, eval+"runs/tiny/cluster.json", `would lose: a document of schema "tercet.cluster/`)
	clitest.Refuse(t, base.ExitUsage, eval+"notes.txt", "would lose: a file that cannot be read")
	clitest.Refuse(t, base.ExitUsage, eval+"runs/tiny/labels.npy", "would lose: a file that cannot be read")
	clitest.Unchanged(t, ".", before, nil)
	clitest.Must(t, 0, eval+"notes.txt --force")
	clitest.Must(t, 0, eval+"runs/tiny/eval-train.json")
	clitest.Refuse(t, base.ExitUsage, "eval --run runs/tiny --split train --no-pictures --out runs/tiny/eval-train.json", "checkpoint last of step 18 (its name is that of another result; rename it to eval.json to keep it)")
	clitest.Must(t, 0, eval+"runs/tiny/eval-train.json")
	clitest.Must(t, 0, "eval --run runs/tiny --split train --no-pictures --no-kmeans --out quick.json")
	_, _, stderr := clitest.Run(clitest.ShellWords(eval + "quick.json")...)
	if !strings.Contains(stderr, "the result of the train images") || strings.Contains(stderr, "rename it") {
		t.Errorf("%s", stderr)
	}
}
