package cli_test

import (
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sumsOf are the lines of a list of SHA-256 sums, by name.
func sumsOf(t *testing.T, text string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(text) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || out[name] != "" {
			t.Fatalf("the line %q is no sum, or the second of its file", line)
		}
		out[name] = sum
	}
	return out
}

func sumOf(t *testing.T, r io.Reader) string {
	t.Helper()
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// results/SHA256SUMS has every archive and table, and each archive its own files.
func TestResultsHaveTheirSums(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "results")
	b, err := os.ReadFile(filepath.Join(root, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	listed := sumsOf(t, string(b))
	archives, err := filepath.Glob(filepath.Join(root, "*.zip"))
	if err != nil || len(archives) < 4 {
		t.Fatalf("archives %v, %v", archives, err)
	}
	tables, err := filepath.Glob(filepath.Join(root, "tables", "*"))
	if err != nil || len(tables)+len(archives) != len(listed) {
		t.Errorf("%d tables, %d archives, %d sums; make results-sums writes them (%v)", len(tables), len(archives), len(listed), err)
	}
	for _, path := range append(archives, tables...) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(root, path)
		if got := sumOf(t, f); listed[filepath.ToSlash(name)] != got {
			t.Errorf("%s has the sum %s, listed is %q; make results-sums writes it", name, got, listed[filepath.ToSlash(name)])
		}
		f.Close()
	}
	for _, path := range archives {
		checkInside(t, path)
	}
}

// checkInside compares the files of an archive with its own list.
func checkInside(t *testing.T, path string) {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	got, listed := map[string]string{}, map[string]string{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if f.Name == "SHA256SUMS" {
			b, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			listed = sumsOf(t, string(b))
		} else {
			got[f.Name] = sumOf(t, in)
		}
		in.Close()
	}
	if len(got) != len(listed) || len(got) == 0 {
		t.Errorf("%s: %d files, %d sums", path, len(got), len(listed))
	}
	for name, sum := range got {
		if listed[name] != sum {
			t.Errorf("%s: %s has the sum %s, listed is %q", path, name, sum, listed[name])
		}
	}
}
