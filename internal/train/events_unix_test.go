//go:build unix

package train

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"tercet/internal/fsx"
)

// TestFilesOfARunMustBeFiles would wait for ever on a pipe, or read /dev/zero until
// the memory is full.
func TestFilesOfARunMustBeFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, zero := filepath.Join(dir, "pipe"), filepath.Join(dir, "zero")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", zero); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, zero} {
		if _, err := ReadCheckpoint(path); !errors.Is(err, ErrCheckpoint) || !errors.Is(err, fsx.ErrNotRegular) {
			t.Errorf("ReadCheckpoint: %v", err)
		}
		if _, err := ReadEvents(path); !errors.Is(err, fsx.ErrNotRegular) {
			t.Errorf("ReadEvents: %v", err)
		}
		if _, err := OpenLog(path, 3); !errors.Is(err, fsx.ErrNotRegular) {
			t.Errorf("OpenLog: %v", err)
		}
	}
}
