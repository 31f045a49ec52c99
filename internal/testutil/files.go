package testutil

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Tiny is the config of a run of 18 steps on 72 images of 16x16 pixels.
const Tiny = `
name: tiny
data: {name: glyphs, size: 16, glyphs: {classes: 12, per_class: 6, test_classes: 6}}
model: {name: cnn, width: 4, embedding: 8}
batch: {sampler: class-pairs, pairs: 8}
miner: softhard
train: {epochs: 2, log_every: 3, checkpoint_every: 4 steps}
eval: {bootstrap: 100, kmeans: {n_init: 2}}
`

// Snapshot returns every regular file below dir with its content, by its path with
// slashes below dir.
func Snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			files[filepath.ToSlash(name)] = Read(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Read returns the content of a file.
func Read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Write makes or replaces a file.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// File puts b into a file of a temporary folder and returns its path.
func File(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Tree writes files, by their path, into a temporary folder.
func Tree(t testing.TB, files map[string][]byte) string {
	t.Helper()
	root := t.TempDir()
	for name, b := range files {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// RealData returns the folder of real data beside the repository, and skips the
// test where it is absent.
func RealData(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
	path := filepath.Join(dir, "..", "shared", "data", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("real data absent: ../shared/data/%s", name)
	}
	return path
}
