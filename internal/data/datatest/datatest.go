// Package datatest checks what every source of data must do, whatever its files are.
package datatest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tercet/internal/data"
	"tercet/internal/testutil"
)

// Check tests a source on the files in dir, "" for a source that needs none: shapes and
// labels are in range; two opens give the same items, and these fingerprints of
// training and test set ("" for no test set); without a root it says so; files that are
// cut by a byte or empty are refused; files that end elsewhere or are gone are refused or
// leave items that can be read.
func Check(t *testing.T, dir string, source func(root string) data.Source, train, test string) {
	t.Helper()
	t.Run("sets", func(t *testing.T) { checkSets(t, source(dir), train, test) })
	if dir == "" {
		return
	}
	t.Run("no root", func(t *testing.T) {
		if _, _, err := data.Open(t.Context(), data.Options{Source: source("")}); err == nil {
			t.Error("opened without a folder")
		}
	})
	t.Run("nowhere", func(t *testing.T) {
		refused(t, source(filepath.Join(t.TempDir(), "nowhere")))
	})
	damage(t, dir, source)
}

func checkSets(t *testing.T, source data.Source, train, test string) {
	first, second := open(t, source), open(t, source)
	for k, want := range []string{train, test} {
		a, b := first[k], second[k]
		if a == nil || b == nil {
			if a != nil || b != nil || want != "" {
				t.Errorf("set %d: %v and %v, fingerprint %q", k, a, b, want)
			}
			continue
		}
		if got, then := testutil.Fingerprint(t, a), testutil.Fingerprint(t, b); got != want || then != want {
			t.Errorf("set %d: fingerprint %s, then %s, want %s", k, got, then, want)
		}
		if h, w, c := a.Shape(); a.Len() < 1 || h < 1 || w < 1 || c < 1 || len(a.Labels()) != a.Len() {
			t.Fatalf("set %d: %d items of %dx%dx%d, %d labels", k, a.Len(), h, w, c, len(a.Labels()))
		}
		if !slices.Equal(a.Labels(), b.Labels()) || !slices.Equal(a.Classes(), b.Classes()) {
			t.Errorf("set %d: two opens differ in labels or classes", k)
		}
		checkItems(t, source, a, b)
	}
	if first[0] != nil && first[1] != nil {
		if !slices.Equal(first[0].Classes(), first[1].Classes()) && !source.Traits().Drawn {
			t.Error("train and test have other classes: labels mean different things")
		}
	}
}

// checkItems reads all items of a set and of the same set opened again.
func checkItems(t *testing.T, source data.Source, a, b data.Dataset) {
	t.Helper()
	h, w, c := a.Shape()
	x, y := make([]float32, h*w*c), make([]float32, h*w*c)
	for i, label := range a.Labels() {
		if label < 0 || int(label) >= len(a.Classes()) {
			t.Fatalf("item %d has label %d of %d classes", i, label, len(a.Classes()))
		}
		if err := errors.Join(a.Read(i, x), b.Read(i, y)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(x, y) {
			t.Fatalf("item %d differs between two opens", i)
		}
		for _, v := range x {
			if !source.Traits().Vectors && !(v >= 0 && v <= 1) {
				t.Fatalf("item %d has a pixel of %v", i, v)
			}
		}
	}
	if a.Read(a.Len(), x) == nil || a.Read(-1, x) == nil || a.Read(0, x[1:]) == nil {
		t.Error("reads items that there are not, or into too little room")
	}
}

func open(t *testing.T, source data.Source) [2]data.Dataset {
	t.Helper()
	a, b, err := data.Open(t.Context(), data.Options{Source: source})
	if err != nil {
		t.Fatal(err)
	}
	return [2]data.Dataset{a, b}
}

// refused asks for an error about files.
func refused(t *testing.T, source data.Source) {
	t.Helper()
	if err := readAll(t, source); !errors.Is(err, data.ErrMissing) && !errors.Is(err, data.ErrFormat) && !errors.Is(err, data.ErrUnfit) {
		t.Errorf("%v is no error about files", err)
	}
}

// readAll opens a source and reads all items.
func readAll(t *testing.T, source data.Source) error {
	a, b, err := data.Open(t.Context(), data.Options{Source: source})
	if err != nil {
		return err
	}
	for _, ds := range []data.Dataset{a, b} {
		if ds == nil {
			continue
		}
		h, w, c := ds.Shape()
		x := make([]float32, h*w*c)
		for i := range ds.Len() {
			if err := ds.Read(i, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// damage copies dir once for each file and each kind of damage to it.
func damage(t *testing.T, dir string, source func(root string) data.Source) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s (%v)", dir, err)
	}
	for _, path := range files {
		name, _ := filepath.Rel(dir, path)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for kind, content := range map[string][]byte{
			"cut": whole[:len(whole)-1], "half": whole[:len(whole)/2], "empty": {}, "longer": append(bytes.Clone(whole), 0),
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				root := t.TempDir()
				if err := os.CopyFS(root, os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, name), content, 0o644); err != nil {
					t.Fatal(err)
				}
				if err := readAll(t, source(root)); err == nil && (kind == "half" || kind == "longer") {
					return // records that are whole, or a format that says where it ends
				}
				refused(t, source(root))
			})
		}
		t.Run("no "+name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.CopyFS(root, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(root, name)); err != nil {
				t.Fatal(err)
			}
			if err := readAll(t, source(root)); err != nil {
				refused(t, source(root))
			}
		})
	}
}
