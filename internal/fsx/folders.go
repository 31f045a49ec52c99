package fsx

import (
	"fmt"
	"os"
	"path/filepath"
)

// CheckFolders verifies that path can lie where it says: the nearest thing above it that
// is there is a folder. The error names what is none, and wraps what the system says
// where that cannot be found out.
func CheckFolders(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s cannot be written: %s is not a folder", path, dir)
		case err == nil || dir == filepath.Dir(dir):
			return err
		case os.IsPermission(err):
			return fmt.Errorf("%s cannot be written: %w", path, err)
		}
	}
}
