package testutil

import (
	"math"
	"path/filepath"
	"testing"
)

// record is a test that remembers whether it failed.
type record struct {
	testing.TB
	failed bool
}

func (r *record) Helper()               {}
func (r *record) Logf(string, ...any)   {}
func (r *record) Errorf(string, ...any) { r.failed = true }
func (r *record) Fatalf(string, ...any) { r.failed = true }

// Each comparison passes at its limit, and fails beyond it and for NaN.
func TestComparisonsFail(t *testing.T) {
	for _, c := range []struct {
		what string
		ok   bool
		test func(t testing.TB)
	}{
		{"absolute", true, func(t testing.TB) { Near(t, "", 100.5, 100, 0.5) }},
		{"absolute", false, func(t testing.TB) { Near(t, "", 100.5, 100, 0.4) }},
		{"absolute, NaN", false, func(t testing.TB) { Near(t, "", math.NaN(), 1, 9) }},
		{"relative", true, func(t testing.TB) { NearRelative(t, "", 101, 100, 0.01) }},
		{"relative", false, func(t testing.TB) { NearRelative(t, "", 0.1, 0, 0.5) }},
		{"slices", true, func(t testing.TB) { NearAll(t, "", []float32{100, 0.5}, []float64{100, 0}, 0.005) }},
		{"slices", false, func(t testing.TB) { NearAll(t, "", []float32{100, 0.6}, []float64{100, 0}, 0.005) }},
		{"slices, NaN", false, func(t testing.TB) { NearAll(t, "", []float32{float32(math.NaN())}, []float64{1}, 9) }},
		{"golden", false, func(t testing.TB) { Golden(t, filepath.Join(t.TempDir(), "none"), nil) }},
	} {
		r := &record{TB: t}
		if c.test(r); r.failed == c.ok && !Updating() {
			t.Errorf("%s: failed %v", c.what, r.failed)
		}
	}
	if !WithinMixed(0.1, 0, 0.1) || WithinMixed(0.11, 0, 0.1) || !WithinMixed(10.5, 10, 0.05) || WithinMixed(math.NaN(), 0, 1) {
		t.Error("WithinMixed")
	}
}

func TestGoldenAndSnapshot(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b.txt")
	t.Setenv("TERCET_UPDATE_GOLDEN", "1")
	Golden(t, path, []byte("one\ntwo\n"))
	t.Setenv("TERCET_UPDATE_GOLDEN", "")
	Golden(t, path, []byte("one\ntwo\n"))
	r := &record{TB: t}
	if Golden(r, path, []byte("one\n2\n")); !r.failed {
		t.Error("another text passes")
	}
	if d := Diff("one\ntwo\nthree", "one\n2\nthree"); d != "- two\n+ 2\n" {
		t.Errorf("difference %q", d)
	}
	if files := Snapshot(t, dir); len(files) != 1 || files["a/b.txt"] != "one\ntwo\n" {
		t.Errorf("files %q", files)
	}
}
