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
