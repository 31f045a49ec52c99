package rundir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Size is the size in bytes of all files below a run's directory; 0 for a run in an
// archive. Files that vanish meanwhile count nothing.
func Size(dir string) (int64, error) {
	if _, err := os.Lstat(dir); err != nil {
		return 0, nil // in an archive
	}
	var n int64
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = e.Info(); err == nil {
				n += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return n, err
}
