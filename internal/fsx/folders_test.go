package fsx_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/fsx"
)

func TestCheckFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, below := range []string{"x", "a/b/x"} {
		if err := fsx.CheckFolders(filepath.Join(dir, below)); err != nil {
			t.Errorf("%s: %v", below, err)
		}
		path := filepath.Join(file, below)
		if err := fsx.CheckFolders(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), file+" is not a folder") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := fsx.CheckFolders("x"); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v: a look leaves files", left, err)
	}
}

// A folder in which no file can be made is refused; /sys is one for everybody.
func TestCheckFoldersThatTakeNoFiles(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/sys/kernel"); err != nil {
		t.Skip("no /sys here")
	}
	for _, path := range []string{"/sys/kernel/x", "/sys/kernel/no/folder/x"} {
		if err := fsx.CheckFolders(path); err == nil || !strings.HasPrefix(err.Error(), path+" cannot be written: ") || strings.Contains(err.Error(), "tmp") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
