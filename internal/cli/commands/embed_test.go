package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// The test images of a run and files of any size, by the run and by its weights alone.
func TestEmbed(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train tiny.yaml -q")
	clitest.ClassFolders(t, "photos", 3, 2)
	clitest.Must(t, 0, "embed --run runs/tiny --out a")
	clitest.Must(t, 0, "eval --run runs/tiny --save-embeddings x.npy")
	if a, x := read(t, "a/embeddings.npy"), read(t, "x.npy"); a != x {
		t.Error("a split's embeddings are not those of eval --save-embeddings")
	}
	d := clitest.Document(t, "embed --run runs/tiny photos --out b --part 4")
	if n := len(d["files"].([]any)); n != 2 || d["schema"] != "tercet.embed/1" {
		t.Errorf("%d files; %v", n, d)
	}
	clitest.Must(t, 0, "embed --weights runs/tiny/checkpoints/last.safetensors photos --out c")
	if b, c := read(t, "b/items.csv"), read(t, "c/items.csv"); b != c || !strings.Contains(b, "\n0,class-0/0.png,class-0,query+gallery,,,20,20\n") {
		t.Errorf("items:\n%s\n%s", b, c)
	}
	clitest.Put(t, "photos/class-0/torn.png", "\x89PNG")
	clitest.Put(t, "torn/0.png", "\x89PNG")
	_, _, stderr := clitest.Run("embed", "--run", "runs/tiny", "photos", "--out", "d")
	if !strings.Contains(stderr, "warning: no row for 1 image that cannot be read, listed in d/embed.json") || !strings.Contains(stderr, "torn.png") {
		t.Errorf("a broken image: %s", stderr)
	}
	for line, want := range map[string]string{
		"embed photos --out e":                               "name the network: --run DIRECTORY, --weights FILE.safetensors, or --config",
		"embed --run runs/tiny photos":                       "name the folder to write to",
		"embed --weights w.safetensors --out e":              "name the images",
		"embed --run runs/tiny photos --split train --out e": "--split is of the own images of the run or config",
		"embed --run runs/tiny --role query --out e":         "--role: only for IMAGES",
		"embed --run runs/tiny photos --role train --out e":  `--role is "train"`,
		"embed --run runs/tiny photos --labels csv --out e":  `--labels is "csv"`,
		"embed --run runs/tiny photos --dtype f16 --out e":   `--dtype is "f16"`,
		"embed --run runs/tiny photos --part -1 --out e":     "--part is -1",
		"embed --run runs/tiny photos --out a":               "a holds embeddings of other images, weights or options (runs/tiny): another embedding; give another --out, or --force",
	} {
		clitest.Refuse(t, base.ExitUsage, line, want)
	}
	clitest.Refuse(t, base.ExitData, "embed --run runs/tiny nowhere --out e", "no such images: nowhere")
	clitest.Refuse(t, base.ExitData, "embed --run runs/tiny torn --out e", "none of the 1 images could be read")
	clitest.Refuse(t, base.ExitData, "embed --weights photos/class-0/0.png photos --out e", "a run begins with other weights by model.weights")
	clitest.Must(t, 0, "embed --run runs/tiny photos --out a --force --dtype float16")
	if _, err := os.Stat(filepath.Join("a", "partial.rows")); err == nil {
		t.Error("an unfinished file is left")
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
