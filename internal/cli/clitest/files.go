package clitest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Checkpoints returns the bytes of a run's checkpoints.
func Checkpoints(t *testing.T, dir string) string {
	t.Helper()
	all := ""
	for _, name := range []string{"last", "best"} {
		b, err := os.ReadFile(filepath.Join(dir, "checkpoints", name+".safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		all += string(b)
	}
	return all
}

// Unsealed is a document without its digest, to be changed by a test.
func Unsealed(doc []byte) string {
	return regexp.MustCompile(`,\s*"digest": "[0-9a-f]{64}"`).ReplaceAllString(string(doc), "")
}

// Snapshot returns every file below dir with its content.
func Snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Unchanged fails unless dir is as before, but for what keep lets pass.
func Unchanged(t *testing.T, dir string, before map[string]string, keep func(path string) bool) {
	t.Helper()
	after := Snapshot(t, dir)
	for path := range after {
		if keep != nil && keep(path) {
			delete(after, path)
			delete(before, path)
		}
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Error(d)
	}
}

// WriteFile writes a file of the test.
func WriteFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
