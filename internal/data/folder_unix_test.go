//go:build unix

package data

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe that is called an image is refused; nobody waits for its writer.
func TestFolderRefusesPipes(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "a", "x.png")
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	_, _, err := openFolder(t.Context(), root, "", "", ImageOptions{}, nil)
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), path+" is a pipe; give a regular file") {
		t.Errorf("error %v", err)
	}
}
