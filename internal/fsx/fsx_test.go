package fsx

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// only fails if dir holds anything but the named files.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range es {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Fatalf("folder holds %q, want %q", got, names)
	}
}

func TestWriteFileCreatesAndReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	for _, want := range []string{"one", "", strings.Repeat("long", 100000)} {
		if err := WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		if read(t, path) != want {
			t.Fatalf("content is not the %d bytes written", len(want))
		}
	}
	only(t, dir, "a.json")
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st.Mode().Perm()&0o600 != 0o600 || st.Mode().Perm()&^0o644 != 0 {
		t.Fatalf("mode %v", st.Mode())
	}
}

// full is a disk that takes n bytes.
type full struct {
	w io.Writer
	n int
}

func (d *full) Write(p []byte) (int, error) {
	if len(p) > d.n {
		n, _ := d.w.Write(p[:d.n])
		return n, syscall.ENOSPC
	}
	d.n -= len(p)
	return d.w.Write(p)
}

func TestFullDiskKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	if err := WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := Write(path, 0o644, func(w io.Writer) error {
		_, err := (&full{w, 200000}).Write(make([]byte, 300000))
		return err
	})
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), path) {
		t.Fatalf("error %v", err)
	}
	if read(t, path) != "old" {
		t.Fatal("old file changed")
	}
	only(t, dir, "a.json")
}

// Here the disk fills only when Commit flushes the buffer.
func TestFlushErrorKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	if err := WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Create(path, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	f.buf.Reset(&full{f.tmp, 2})
	if _, err := f.Write([]byte("new content")); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("error %v", err)
	}
	if read(t, path) != "old" {
		t.Fatal("old file changed")
	}
	only(t, dir, "a.json")
	if err := f.Commit(); err == nil {
		t.Fatal("second Commit did not fail")
	}
}

func TestPanicInFillRemovesTheTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	func() {
		defer func() { recover() }()
		Write(filepath.Join(dir, "a"), 0o644, func(io.Writer) error { panic("boom") })
	}()
	only(t, dir)
}

func TestStaleTemporaryFileIsNoObstacle(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	f, err := Create(path, 0o644) // a killed process leaves its file like this
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if err := WriteFile(path, []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	if read(t, path) != "new" {
		t.Fatal("not written")
	}
}

func TestSymbolicLinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := WriteFile(link, []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Fatal("the link was replaced")
	}
	if read(t, target) != "new" {
		t.Fatal("the target was not written")
	}
}

func TestBadDestinations(t *testing.T) {
	dir := t.TempDir()
	if err := WriteFile(filepath.Join(dir, "none", "a"), nil, 0o644); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("missing folder: %v", err)
	}
	if err := WriteFile(dir, nil, 0o644); err == nil {
		t.Fatal("a folder was accepted")
	}
	only(t, dir)
}
