package commands_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/vectors"
)

// inGallery moves the test to a folder with a gallery of 200 items in 30 classes, X.fbin
// with y.csv, and 40 queries, Q.npy with q.csv; small whole numbers give many ties.
func inGallery(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range []struct {
		vectors, labels string
		n               int
	}{{"X.fbin", "y.csv", 200}, {"Q.npy", "q.csv", 40}} {
		x := make([]float32, 3*f.n)
		for i := range x {
			x[i] = float32(1 + r.IntN(3))
		}
		var b bytes.Buffer
		if _, err := vectors.Write(&b, vectors.FormatOf(f.vectors), x, f.n, 3); err != nil {
			t.Fatal(err)
		}
		clitest.WriteFile(t, f.vectors, b.String())
		b.Reset()
		b.WriteString("label\n")
		for range f.n {
			fmt.Fprintf(&b, "class-%d\n", r.IntN(30))
		}
		clitest.WriteFile(t, f.labels, b.String())
	}
}

// withoutTime is a document with its time left out.
func withoutTime(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, line := range strings.Split(clitest.Unsealed(b), "\n") {
		if !strings.Contains(line, `"seconds"`) {
			out = append(out, strings.TrimSuffix(line, ",")) // the time may have been last
		}
	}
	return strings.Join(out, "\n")
}

// Tasks that are merged write the bytes of one process; these are, but for the time, those
// of an evaluation in memory, which knows nothing of parts.
func TestGalleryTasks(t *testing.T) {
	inGallery(t)
	const eval = "eval --embeddings X.fbin --labels y.csv --no-kmeans --bootstrap 100 --per-query --per-class --k 1,5"
	clitest.Must(t, 0, eval+" --out memory.json")
	clitest.Must(t, 0, eval+" --blocks --out blocks.json --class-scores blocks.csv")
	if got, want := withoutTime(t, "blocks.json"), withoutTime(t, "memory.json"); got != want {
		t.Errorf("in blocks:\n%s\nin memory:\n%s", got, want)
	}
	sameTasks(t, eval, "blocks.json", 3)
	if table, _ := os.ReadFile("blocks.csv"); !strings.HasPrefix(string(table), "class,images,queries,recall@1,recall@5,") {
		t.Errorf("scores of classes: %.80s", table)
	}
	const queries = eval + " --queries Q.npy --query-labels q.csv"
	out := clitest.Must(t, 0, queries+" --out queries.json")
	if !strings.Contains(out, "40 queries, 200 images in the gallery") {
		t.Error(out)
	}
	sameTasks(t, queries, "queries.json", 2)
	same, _ := clitest.Document(t, "eval --embeddings X.fbin --labels y.csv --no-kmeans --queries ./X.fbin --query-labels y.csv")["warnings"].([]any)
	if other, _ := clitest.Document(t, queries)["warnings"].([]any); len(same) != len(other)+1 || !strings.Contains(fmt.Sprint(same), "each finds itself first") {
		t.Errorf("of one file %v, of two %v", same, other)
	}
	clitest.Refuse(t, base.ExitUsage, queries+" --out memory.json", "the result of X.fbin with y.csv, whose content is another than that of X.fbin with y.csv, queries Q.npy with q.csv; --out FILE")
}

// sameTasks runs n tasks and merges them.
func sameTasks(t *testing.T, line, want string, n int) {
	t.Helper()
	line += " --out tasks-" + want
	next := 0.0
	for i := range n {
		doc := clitest.Document(t, fmt.Sprintf("%s --task %d/%d", line, i+1, n))
		if doc["counts"] != fmt.Sprintf("tasks-%s.part-%d-of-%d", want, i+1, n) || doc["first"] != next {
			t.Errorf("task %d: %v", i+1, doc)
		}
		next += doc["rows"].(float64)
	}
	if next != 200 {
		t.Errorf("%d tasks of %s: %v rows", n, line, next)
	}
	clitest.Must(t, 0, line+" --merge")
	one, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	if merged, err := os.ReadFile("tasks-" + want); err != nil || !bytes.Equal(merged, one) {
		t.Errorf("%d tasks of %s: other bytes, error %v", n, line, err)
	}
}

// What does not go together, and parts that are missing or of something else.
func TestGalleryRefuses(t *testing.T) {
	inGallery(t)
	const plain = "eval --embeddings X.fbin --labels y.csv --bootstrap 0"
	const eval = plain + " --no-kmeans"
	clitest.Must(t, 0, eval+" --out e.json --task 2/3")
	clitest.WriteFile(t, "short.npy", "\x93NUMPY")
	for _, line := range []string{" --class-scores y.csv", " --class-scores ./y.csv --blocks", " --force --out X.fbin", " --force --out q.csv --queries Q.npy --query-labels q.csv", " --force --out q.csv --queries Q.npy --query-labels q.csv --task 1/2"} {
		before := clitest.Snapshot(t, ".")
		clitest.Refuse(t, base.ExitUsage, eval+line, "is what the command reads")
		clitest.Unchanged(t, ".", before, nil)
	}
	for line, want := range map[string]string{
		plain + " --blocks":                                                    "--blocks: k-means takes all embeddings at once: add --no-kmeans",
		eval + " --blocks --fmr 0.1":                                           "leave out --fmr",
		eval + " --task 1/2":                                                   "name it by --out",
		eval + " --task 0/2 --out e.json":                                      `task "0/2" is neither i/n`,
		eval + " --task auto/2 --out e.json":                                   "auto/2",
		eval + " --task 1/600 --out e.json":                                    "at most 512",
		eval + " --task 1/2 --merge --out e.json":                              "cannot be combined",
		eval + " --task 1/2 --out e.json --fail-under r@1=.5":                  "for the merged result; add --merge",
		eval + " --queries Q.npy":                                              "--queries and --query-labels must be given together",
		eval + " --query-labels q.csv":                                         "--queries and --query-labels must be given together",
		"eval --run r --query-labels q.csv":                                    "cannot be combined",
		"eval --run r --blocks":                                                "cannot be combined",
		"eval --blocks --no-kmeans --embeddings X.fbin":                        "--embeddings needs --labels",
		eval + " --out e.json --task 2/3 --k 7":                                "holds work of another computation (k of recall@k: [1 2 4 8] there, [7] here)",
		eval + " --out e.json --task 2/3 --distance cosine":                    "(distance: euclidean there, cosine here)",
		eval + " --out e.json --task 2/3 --queries Q.npy --query-labels q.csv": "(data (SHA-256): ",
	} {
		clitest.Refuse(t, base.ExitUsage, line, want)
	}
	for line, want := range map[string]string{
		eval + " --out e.json --merge":                                                                "e.json lacks the parts of 2 tasks: run 1/3 and 3/3",
		eval + " --out none.json --merge":                                                             "none.json.part-1-of-N does not exist",
		eval + " --queries short.npy --query-labels q.csv":                                            "short.npy",
		eval + " --queries Q.npy --query-labels y.csv":                                                "y.csv has more than 40 labels, Q.npy has 40 rows",
		eval + " --blocks --label-column kind":                                                        "--label-column NAME",
		"eval --embeddings Q.npy --labels q.csv --no-kmeans --queries X.fbin --query-labels gone.csv": "gone.csv",
	} {
		clitest.Refuse(t, base.ExitData, line, want)
	}
}
