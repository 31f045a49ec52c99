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

// A file that cannot be decoded is an error that names it, and nothing is written. With
// data.skip_broken the manifest, the evaluation and the embeddings say what is left out.
func TestBrokenImageOfARun(t *testing.T) {
	t.Chdir(t.TempDir())
	drawnFolders(t, "shapes", 4, 6)
	clitest.WriteFile(t, "shapes.yaml", folderConfig)
	clitest.WriteFile(t, "shapes/c3/torn.png", "\x89PNG")
	clitest.Refuse(t, base.ExitData, "train -c shapes.yaml -o runs", "shapes/c3/torn.png: unreadable image")
	if _, err := os.Stat("runs"); err == nil {
		t.Error("a refused run has written something")
	}
	const left = "1 of the images cannot be read and were left out: shapes/c3/torn.png"
	code, _, stderr := clitest.Run("train", "-c", "shapes.yaml", "-o", "runs", "--skip-broken")
	if code != 0 || !strings.Contains(stderr, left) {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	dirs, err := filepath.Glob("runs/*")
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	b, err := os.ReadFile(filepath.Join(dirs[0], "manifest.json"))
	if err != nil || !strings.Contains(string(b), `"broken"`) || !strings.Contains(string(b), "torn.png") {
		t.Errorf("%s %v", b, err)
	}
	for _, line := range []string{"eval", "attack --attack ES --queries 2", "attack --suite worst --eps 0 --queries 2"} {
		if _, _, stderr = clitest.Run(append(strings.Fields(line), "--run", dirs[0], "--no-pictures")...); !strings.Contains(stderr, "images of the data that cannot be read and were left out: 1; manifest.json lists them") {
			t.Error(line, stderr)
		}
	}
	clitest.Must(t, 0, "embed --run "+dirs[0]+" --out vectors")
	if b, err = os.ReadFile("vectors/embed.json"); err != nil || !strings.Contains(string(b), "torn.png") {
		t.Errorf("%s %v", b, err)
	}
	clitest.Refuse(t, base.ExitUsage, "train -c shapes.yaml -o runs2 --set 'data={name: glyphs}' --set data.skip_broken=true", "no image files that could be broken")
}
