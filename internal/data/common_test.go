package data

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// toy returns a dataset of 8-bit images with counts[k] items of class k, in
// random order.
func toy(t testing.TB, h, w, c int, counts ...int) *Memory {
	t.Helper()
	var labels []int32
	var classes []string
	for k, n := range counts {
		classes = append(classes, string(rune('a'+k)))
		for range n {
			labels = append(labels, int32(k))
		}
	}
	r := rng.New(1, "toy", uint64(len(labels)))
	r.Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	pixels := make([]uint8, len(labels)*h*w*c)
	for i := range pixels {
		pixels[i] = uint8(r.Uint32())
	}
	m, err := NewMemory(pixels, h, w, c, labels, classes)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// wantError checks an error's kind (nil: any) and the parts of its text.
func wantError(t *testing.T, err, kind error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	if kind != nil && !errors.Is(err, kind) {
		t.Errorf("error %q is not %q", err, kind)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
}

// realData returns the folder of real data beside the repository, and skips the
// test where it is absent.
func realData(t *testing.T, name string) string {
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

// write puts b into a file of a temporary folder and returns its path.
func write(t testing.TB, name string, b []byte) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

// gathered reads items one by one.
func gathered(ds Dataset, ids []int32) (*array.Array, error) {
	h, w, c := ds.Shape()
	x := array.New(len(ids), h, w, c)
	for p, id := range ids {
		if err := ds.Read(int(id), x.Row(p)); err != nil {
			return nil, err
		}
	}
	return x, nil
}
