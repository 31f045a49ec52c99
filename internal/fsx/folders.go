package fsx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckFolders verifies that path can lie where it says: the nearest thing above it that
// is there is a folder in which files can be made. The error names what is none, and wraps
// what the system says where there can be no file, or where that cannot be found out.
func CheckFolders(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s cannot be written: %s is not a folder", path, dir)
		case err == nil:
			return makes(path, dir)
		case dir == filepath.Dir(dir):
			return err
		case os.IsPermission(err):
			return fmt.Errorf("%s cannot be written: %w", path, err)
		}
	}
}

// makes returns the error with which no file for path can be made in dir. It removes what a
// process left that was killed while it found that out: path may lie in a folder below dir.
func makes(path, dir string) error {
	dest := filepath.Join(dir, filepath.Base(path))
	defer removeStale(dest)
	f, err := openTemp(dest, 0o600)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) { // of a temporary file, which nobody has named
			err = at.Err
		}
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	f.Close()
	return os.Remove(f.Name())
}
