package cli_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// drawnFolders makes folders of n images for each of so many classes.
func drawnFolders(t *testing.T, root string, classes, n int) {
	t.Helper()
	for c := range classes {
		dir := filepath.Join(root, fmt.Sprint("c", c))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			img := image.NewGray(image.Rect(0, 0, 16, 16))
			for k := range img.Pix {
				img.Pix[k] = uint8(k*(c+1) + 7*i)
			}
			img.SetGray(i%16, c%16, color.Gray{Y: 255})
			var b bytes.Buffer
			if err := png.Encode(&b, img); err != nil {
				t.Fatal(err)
			}
			clitest.WriteFile(t, filepath.Join(dir, fmt.Sprint(i, ".png")), b.String())
		}
	}
}

const folderConfig = `
name: shapes
data: {name: folder, root: shapes, split: {kind: fraction, train: 0.5}}
model: {name: cnn, width: 4, embedding: 8}
batch: {sampler: class-pairs, pairs: 4}
train: {steps: 2}
eval: {bootstrap: 100, kmeans: {n_init: 2}}
`

// TestDataOfARunAreFoundFromAnotherFolder: "cd runs; tercet eval --run shapes" read the
// run directory as if it were the images.
func TestDataOfARunAreFoundFromAnotherFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	drawnFolders(t, "shapes", 4, 6)
	clitest.WriteFile(t, "shapes.yaml", folderConfig)
	clitest.Must(t, 0, "train -q -c shapes.yaml -o runs")
	before := clitest.Must(t, 0, "eval --run runs/shapes --json")
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("runs")
	after := clitest.Must(t, 0, "eval --run shapes --json")
	if scores(before) == "" || scores(before) != scores(after) {
		t.Errorf("other scores from another folder:\n%s\n%s", before, after)
	}
	if err := os.RemoveAll(filepath.Join(home, "shapes")); err != nil {
		t.Fatal(err)
	}
	clitest.Refuse(t, base.ExitData, "eval --run shapes", "the run was trained in "+home+", and from there: ")
	t.Chdir(home)
	clitest.Refuse(t, base.ExitData, "eval --run runs/shapes", "the config of a run is fixed: move the data back to shapes, or put a link to them there")
}

// scores are the retrieval scores of an eval document.
func scores(doc string) string {
	_, doc, _ = strings.Cut(doc, `"retrieval"`)
	doc, _, _ = strings.Cut(doc, `"clustering"`)
	return doc
}

// TestOtherImagesAreCounted: gif and webp files among PNG files were passed over without
// a word.
func TestOtherImagesAreCounted(t *testing.T) {
	t.Chdir(t.TempDir())
	drawnFolders(t, "shapes", 4, 6)
	clitest.WriteFile(t, "shapes.yaml", folderConfig)
	for _, name := range []string{"c0/a.gif", "c1/a.webp", "c1/b.webp", "c2/.DS_Store", "c2/Thumbs.db"} {
		clitest.WriteFile(t, filepath.Join("shapes", name), "x")
	}
	const want = "3 files are neither PNG nor JPEG and were left out: .webp 2, .gif 1"
	for _, line := range []string{"train -c shapes.yaml -o runs", "data inspect -c shapes.yaml"} {
		if code, _, stderr := clitest.Run(clitest.ShellWords(line)...); code != 0 || !strings.Contains(stderr, want) {
			t.Errorf("tercet %s: exit %d\n%s", line, code, stderr)
		}
	}
}
