package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// The digests that sha256sum prints.
func TestSHA256(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"":    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	} {
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := SHA256(path); got != want || err != nil {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	if _, err := SHA256(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := SHA256(dir); !errors.Is(err, ErrNotRegular) {
		t.Errorf("%v", err)
	}
}
