package fsx

import (
	"os"
	"path/filepath"
	"testing"
)

func TestKeep(t *testing.T) {
	dir := t.TempDir()
	last, previous := filepath.Join(dir, "last"), filepath.Join(dir, "previous")
	want := func(path, text string) {
		t.Helper()
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("%s holds %q (%v), want %q", path, b, err, text)
		}
	}
	if err := Keep(last, previous); err != nil {
		t.Errorf("nothing to keep: %v", err)
	}
	for i, text := range []string{"one", "two", "three"} {
		for range 2 { // the second time they are one file
			if err := Keep(last, previous); err != nil {
				t.Fatal(err)
			}
		}
		if i > 0 {
			want(previous, []string{"one", "two", "three"}[i-1])
		}
		if err := WriteFile(last, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want(last, "three")
	want(previous, "two")
	if err := Copy(last, previous); err != nil {
		t.Fatal(err)
	}
	want(previous, "three")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v (%v)", entries, err)
	}
}
