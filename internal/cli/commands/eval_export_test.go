package commands_test

import (
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/data/npy"
)

// An export of embeddings is no evaluation: it leaves every result as it is.
func TestExportedEmbeddingsWriteNoResult(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	clitest.Must(t, 0, "eval --run runs/tiny")
	before := clitest.Snapshot(t, "runs")
	clitest.Must(t, 0, "eval --run runs/tiny --save-embeddings X.npy --split train --no-kmeans --no-baselines")
	doc := clitest.Document(t, "eval --run runs/tiny --save-embeddings Y --checkpoint best --limit 30")
	if doc["schema"] != "tercet.embeddings/1" || doc["items"] != "Y.items.csv" || doc["source"].(map[string]any)["checkpoint"] != "best" {
		t.Errorf("document %v", doc)
	}
	clitest.Unchanged(t, "runs", before, nil)
	for _, file := range []string{"X.npy", "X.labels.npy", "X.items.csv", "Y", "Y.labels.npy", "Y.items.csv"} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	for flags, want := range map[string]string{
		"--k 3":                      "leave out --k, and score by a command without",
		"--pairs --fail-under r@1=0": "leave out --pairs and --fail-under",
		"--out e.json":               "leave out --out",
	} {
		clitest.Refuse(t, base.ExitUsage, "eval --run runs/tiny --save-embeddings Z.npy "+flags, want)
	}
	clitest.Refuse(t, base.ExitUsage, "eval --embeddings X.npy --labels X.labels.npy --save-embeddings Z.npy", "give --run")
	if _, err := os.Stat("Z.npy"); err == nil {
		t.Error("a refused command has written Z.npy")
	}
}

// An export never takes the place of another without a word, nor that of a part of a run.
func TestExportsAreKept(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	const export = "eval --run runs/tiny --save-embeddings new/folder/X.npy"
	clitest.Must(t, 0, export)
	before := clitest.Snapshot(t, ".")
	for _, flags := range []string{" --split train", " --limit 10", " --checkpoint best"} {
		clitest.Refuse(t, base.ExitUsage, export+flags, "replacing new/folder/X.npy would lose: what is there, which is not of this run, these images and these weights; give another FILE, or --force to replace it")
	}
	clitest.Must(t, 0, export) // the same
	clitest.Unchanged(t, ".", before, nil)
	clitest.Refuse(t, base.ExitUsage, "eval --run runs/tiny --force --save-embeddings runs/tiny/manifest.json", "is part of the run runs/tiny")
	clitest.Must(t, 0, export+" --limit 10 --force")
	if n := len(itemsOf(t, "new/folder/X.items.csv")); n != 11 {
		t.Errorf("%d lines", n)
	}
}

// Each row can be traced to its image: by its place in the set, its file and its class.
func TestExportedRowsSayWhatTheyAre(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "data preview --set data.size=16 --set data.glyphs.classes=4 --out s.png") // an image to copy
	image, err := os.ReadFile("s.png")
	if err != nil {
		t.Fatal(err)
	}
	for _, class := range []string{"oak", "elm, wych", "ash", "fir"} {
		if err := os.MkdirAll("trees/"+class, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a.png", "b.png", "c.png", "d.png", "e.png", "f.png"} {
			clitest.Put(t, "trees/"+class+"/"+name, string(image))
		}
	}
	clitest.Must(t, 0, "train -c tiny.yaml --set name=trees --set 'data={name: folder, root: trees, size: 16, split: {kind: class, train: 0.5}}' --set batch.pairs=2 --set train.epochs=1")
	clitest.Must(t, 0, "eval --run runs/trees --save-embeddings X.npy")
	clitest.Must(t, 0, "eval --run runs/trees --save-embeddings L.npy --limit 10")
	all, few := itemsOf(t, "X.items.csv"), itemsOf(t, "L.items.csv")
	labels, _, err := npy.ReadLabels(npy.LabelFile{Path: "X.labels.npy"})
	if err != nil || len(labels) != 12 || len(all) != 13 || len(few) != 11 {
		t.Fatalf("%d labels, %d and %d lines, error %v", len(labels), len(all), len(few), err)
	}
	if got := strings.Join(all[0], " "); got != "row item file label class" {
		t.Errorf("head %q", got)
	}
	for i, line := range all[1:] {
		if class := line[4]; !strings.Contains(line[2], class+"/") || line[0] != line[1] {
			t.Errorf("line %d: %q", i, line)
		}
	}
	for i, line := range few[1:] { // the same image has the same place in the set
		if !strings.HasSuffix(line[2], all[1+atoi(t, line[1])][2]) || atoi(t, line[0]) != i {
			t.Errorf("line %d: %q", i, line)
		}
	}
}

func itemsOf(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
