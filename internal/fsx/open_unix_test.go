//go:build unix

package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpenRegularRefusesWhatIsNoFile would wait for ever on the pipe, and read
// without end from the device, if they were opened as files are.
func TestOpenRegularRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Fatal(err)
	}
	for path, what := range map[string]string{dir: "a folder", pipe: "a pipe", "/dev/zero": "a device", link: "a device"} {
		_, _, err := OpenRegular(path)
		if !errors.Is(err, ErrNotRegular) || !strings.Contains(err.Error(), path+" is "+what) {
			t.Errorf("OpenRegular(%s): %v", path, err)
		}
		if _, err := ReadFile(path, 10); !errors.Is(err, ErrNotRegular) {
			t.Errorf("ReadFile(%s): %v", path, err)
		}
	}
	if _, _, err := OpenRegular(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

func TestReadFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("0123456789"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadFile(path, 10); err != nil || string(b) != "0123456789" {
		t.Fatalf("%q, %v", b, err)
	}
	if _, err := ReadFile(path, 9); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), path) {
		t.Fatalf("limit 9: %v", err)
	}
	// A sparse file of a terabyte takes no memory: its size alone refuses it.
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	if _, err := ReadFile(path, 1<<20); !errors.Is(err, ErrTooLarge) {
		t.Fatalf("sparse: %v", err)
	}
}

// TestReadFileWithoutSize reads a file whose size is given as 0, as those of /proc.
func TestReadFileWithoutSize(t *testing.T) {
	const path = "/proc/self/status"
	want, err := os.ReadFile(path)
	if err != nil {
		t.Skip("no /proc")
	}
	got, err := ReadFile(path, 1<<20)
	if err != nil || len(got) < len(want)/2 {
		t.Fatalf("%d bytes of about %d, %v", len(got), len(want), err)
	}
	if _, err := ReadFile(path, 16); !errors.Is(err, ErrTooLarge) {
		t.Fatalf("limit 16: %v", err)
	}
}
