package commands_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/config"
	"tercet/internal/data"
)

// Each starter passes config check and trains as it is, with what fits its data.
func TestInitWritesWhatTrains(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.ClassFolders(t, "photos", 12, 5)
	clitest.ClassFolders(t, "few classes", 2, 10)
	clitest.ClassFolders(t, "parted/train", 3, 4)
	clitest.ClassFolders(t, "parted/val", 3, 4)
	clitest.ClassFolders(t, "half/train", 4, 4)
	writeSet(t, "digits", "train-images-idx3-ubyte", "train-labels-idx1-ubyte", 80)
	writeSet(t, "digits", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", 20)
	for i, tc := range []struct {
		args []string
		want []string // in the config
	}{
		{[]string{"folder", "photos"}, []string{"kind: class", "size: 32", "crop: 32", "fit: short", "classes: 4", "validation: 0.26 "}},
		{[]string{"folder", "few classes"}, []string{`root: "few classes"`, "kind: fraction", "classes: 2", "name: few-classes"}},
		{[]string{"folder", "parted"}, []string{"kind: file", "test: val", "classes: 3", "per_class: 4"}},
		{[]string{"folder", "half"}, []string{"root: half/train", "kind: class", "classes: 2"}},
		{[]string{"mnist", "digits"}, []string{"kind: file", "root: digits"}},
		{[]string{"idx", "digits"}, []string{"train: {images: train-images-idx3-ubyte, labels: train-labels-idx1-ubyte}", "test: {images: t10k-images-idx3-ubyte"}},
		{[]string{"glyphs"}, []string{"name: glyphs", "kind: file"}},
		{[]string{"npy", "x.npy"}, []string{"train: {vectors: x.npy, labels: x.labels.npy}", "name: mlp", "kind: fraction"}},
		{[]string{"npy", "."}, []string{`root: "."`, "train: {vectors: x.npy"}},
	} {
		if tc.args[0] == "npy" { // of the run before
			clitest.Must(t, 0, "eval --run runs/run-4 --no-pictures --no-baselines --save-embeddings x.npy")
		}
		line := append([]string{"config", "init", "--out", "my.yaml", "--force"}, tc.args...)
		if code, out, stderr := clitest.Run(line...); code != 0 || out != "my.yaml\n" {
			t.Fatalf("%q: code %d, %s%s", line, code, out, stderr)
		}
		text, err := os.ReadFile("my.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range tc.want {
			if !strings.Contains(string(text), w) {
				t.Errorf("%q: %q is not in\n%s", tc.args, w, text)
			}
		}
		clitest.Must(t, 0, "config check my.yaml")
		if code, _, stderr := clitest.Run("train", "my.yaml", "--set", fmt.Sprintf("name=run-%d", i), "--set", "train.steps=2", "--set", "train.epochs=0"); code != 0 {
			t.Errorf("%q: training gives %d, %s\n%s", tc.args, code, stderr, text)
		}
	}
}

// writeSet writes n gray images of 14x14 pixels and their labels as IDX files.
func writeSet(t *testing.T, dir, images, labels string, n int) {
	t.Helper()
	clitest.Put(t, filepath.Join(dir, images), clitest.Idx(clitest.Ramp(n*14*14), n, 14, 14))
	clitest.Put(t, filepath.Join(dir, labels), clitest.Idx(clitest.Digits(n), n))
}

func TestInitMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.ClassFolders(t, "photos", 2, 2)
	clitest.ClassFolders(t, "single", 3, 1)
	clitest.Put(t, "there.yaml", "mine")
	clitest.Put(t, "empty/readme.txt", "nothing")
	for _, tc := range []struct {
		line string
		code int
		want string
	}{
		{"config init photos", base.ExitUsage, `"photos" is a folder; write tercet config init folder photos for one folder of images per class`},
		{"config init foldr photos", base.ExitUsage, `unknown source "foldr"; did you mean folder? valid: cars, cifar10, `},
		{"config init folder", base.ExitUsage, "folder needs a folder: tercet config init folder FOLDER"},
		{"config init glyphs photos", base.ExitUsage, "leave out photos"},
		{"config init folder photos --out there.yaml", base.ExitUsage, "there.yaml already exists"},
		{"config init folder photos --out my.txt", base.ExitUsage, "ends in .yaml"},
		{"config init folder gone", base.ExitData, "gone does not exist; give the folder with the data"},
		{"config init folder empty", base.ExitData, "empty has no folders"},
		{"config init folder single", base.ExitData, "data folder: "},
		{"config init npy empty", base.ExitData, "empty has no files whose names say what they are: NAME.npy with NAME.labels.npy"},
		{"config init mnist photos", base.ExitData, "photos lacks train-images-idx3-ubyte"},
	} {
		clitest.Refuse(t, tc.code, tc.line, tc.want)
	}
	if text, _ := os.ReadFile("there.yaml"); string(text) != "mine" {
		t.Error("there.yaml was replaced")
	}
}

// The root is quoted where YAML would read it otherwise.
func TestInitQuotesNames(t *testing.T) {
	t.Chdir(t.TempDir())
	const root = "my: photos, #1"
	clitest.ClassFolders(t, root, 4, 4)
	code, out, stderr := clitest.Run("config", "init", "folder", root)
	if code != 0 {
		t.Fatal(stderr)
	}
	c, err := config.LoadBytes([]byte(out), "x.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if o := c.Data.Options.(data.FolderOptions); o.Root != root {
		t.Errorf("root %q", o.Root)
	}
}
